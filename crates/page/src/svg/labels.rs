//! Names of series: at the ends of their lines where lines have ends apart, else in a row above the plot.

use std::fmt::Write as _;

use super::marks::marker;
use super::{N, Plot, text_width};
use crate::figure::{Figure, Look, Point, Series};
use crate::xml::Escaped;

const ROW: f64 = 17.0;

pub(super) fn draw(svg: &mut String, plot: &Plot<'_>) {
    if plot.figure.all_series().count() < 2 {
        return;
    }
    if plot.names_at_ends { at_ends(svg, plot) } else { in_a_row(svg, plot) }
}

/// A name level with its line's last point, moved only as far as its neighbours need room; a thin line shows whose.
fn at_ends(svg: &mut String, plot: &Plot<'_>) {
    let mut ends: Vec<End<'_>> = Vec::new();
    for (index, series) in plot.figure.all_series().enumerate() {
        // where no round counts, the last round that was run shows where the name belongs
        let value = |p: &Point| p.y.map(|r| r.point).or(p.rounds.last().map(|dot| dot.y));
        let last = series.points.iter().rev().find_map(|p| Some((plot.px(p.x)?, plot.py(value(p)?)?)));
        if let Some((x, y)) = last {
            ends.push(End { series, class: plot.class(index, series), x: x + plot.dodge(index), y });
        }
    }
    ends.sort_by(|a, b| a.y.total_cmp(&b.y));
    let rows = spread(&ends.iter().map(|e| e.y).collect::<Vec<_>>(), plot.top + 2.0, plot.bottom);
    for (end, row) in ends.iter().zip(rows) {
        let x = plot.right + 16.0;
        let name = text_width::cut(&end.series.name, plot.canvas.width - x - 2.0);
        let _ = write!(svg, r#"<g class="{}">"#, end.class);
        let _ = write!(
            svg,
            r#"<path class="leader" d="M{} {}L{} {}H{}"/>"#,
            N(end.x + 7.0),
            N(end.y),
            N(plot.right + 7.0),
            N(row),
            N(x - 4.0)
        );
        let _ = write!(svg, r#"<text class="name" x="{}" y="{}">{}</text></g>"#, N(x), N(row + 4.2), Escaped(&name));
    }
}

struct End<'a> {
    series: &'a Series,
    class: String,
    x: f64,
    y: f64,
}

/// Places for names that want to be at `wanted` (ascending): at least a row apart, inside `top..bottom` if they fit.
fn spread(wanted: &[f64], top: f64, bottom: f64) -> Vec<f64> {
    let mut rows: Vec<f64> = wanted.to_vec();
    for _ in 0..200 {
        let mut moved = false;
        for i in 1..rows.len() {
            let overlap = ROW - (rows[i] - rows[i - 1]);
            if overlap > 0.05 {
                rows[i - 1] -= overlap / 2.0;
                rows[i] += overlap / 2.0;
                moved = true;
            }
        }
        for row in &mut rows {
            *row = row.clamp(top, bottom);
        }
        if !moved {
            break;
        }
    }
    rows
}

/// A legend above the plot, each name with a piece of its line, in as many rows as it takes.
fn in_a_row(svg: &mut String, plot: &Plot<'_>) {
    for (index, (series, place)) in plot.figure.all_series().zip(legend(plot.figure, plot.left, plot.right)).enumerate()
    {
        let (x, y) = (place.0, plot.top - 20.0 - ROW * place.1);
        let name = text_width::cut(&series.name, plot.right - plot.left - SAMPLE);
        let _ = write!(svg, r#"<g class="{}">"#, plot.class(index, series));
        let _ = write!(svg, r#"<path class="line" d="M{} {}h20"/>"#, N(x), N(y));
        if series.look != Look::Step {
            let _ = write!(svg, r#"<path class="mark" d="{}"/>"#, marker(series.slot, x + 10.0, y));
        }
        let _ =
            write!(svg, r#"<text class="name" x="{}" y="{}">{}</text></g>"#, N(x + SAMPLE), N(y + 4.2), Escaped(&name));
    }
}

/// Room for the piece of line before a name.
const SAMPLE: f64 = 26.0;

/// Place of each name: x, and its row counted upwards from the plot.
fn legend(figure: &Figure, left: f64, right: f64) -> Vec<(f64, f64)> {
    let mut rows: Vec<Vec<f64>> = vec![Vec::new()];
    let mut x = left;
    for series in figure.all_series() {
        let width = SAMPLE + text_width::of(&series.name);
        let row = rows.last().map_or(0, Vec::len);
        if x + width > right && row > 0 {
            rows.push(Vec::new());
            x = left;
        }
        rows.last_mut().into_iter().for_each(|row| row.push(x));
        x += width + 20.0;
    }
    let last = rows.len() - 1;
    rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |x| (*x, (last - i) as f64))).collect()
}

pub(super) fn legend_height(figure: &Figure, left: f64, right: f64) -> f64 {
    legend(figure, left, right).iter().map(|(_, row)| (row + 1.0) * ROW).fold(0.0, f64::max) + 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_a_row_apart_and_stay_inside() {
        let rows = spread(&[100.0, 100.0, 101.0, 300.0, 310.0], 30.0, 312.0);
        assert!(rows.windows(2).all(|w| w[1] - w[0] > ROW - 0.2), "{rows:?}");
        assert!(rows.iter().all(|r| (30.0..=312.0).contains(r)), "{rows:?}");
        assert_eq!(spread(&[50.0, 200.0], 30.0, 312.0), [50.0, 200.0], "what has room stays where it is");
    }
}
