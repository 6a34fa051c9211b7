//! A figure on a terminal.

use super::canvas::Canvas;
use super::wrap::{clean, cut, hanging, pad, width};
use super::{TextStyle, Tone};
use crate::figure::projection::Projection;
use crate::{Figure, Look, Reference, Series};

const ROWS: usize = 14;

impl Figure {
    /// The figure in characters: finding, plot, names, how to read it. Ends with a line end.
    pub fn to_text(&self, style: &TextStyle) -> String {
        style.finish(&render(self, style))
    }
}

pub(super) fn render(figure: &Figure, style: &TextStyle) -> String {
    let columns = style.columns();
    let x = Projection::new(&figure.x, &figure.xs(), columns / 14);
    let y = Projection::new(&figure.y, &figure.ys(), 5);
    let margin = (y.ticks.iter().map(|t| width(&t.label)).max().unwrap_or(0) + 3).min(columns / 3);
    let across = (columns - margin - 4).min(100);

    let mut canvas = Canvas::new(across, ROWS, style.unicode);
    let at = |px: f64, py: f64| Some((x.at(px)?, y.at(py)?));
    references(figure, &mut canvas, &x, &y);
    for (index, series) in figure.all_series().enumerate() {
        curve(series, &mut canvas, &at);
        if series.look != Look::Step {
            marks(series, &mut canvas, &at, sign(style, series, index >= figure.series.len()));
        }
    }

    let mut out = String::new();
    for line in hanging("", &clean(&figure.finding), columns).lines() {
        out.push_str(&format!("{}\n", style.paint(Tone::Strong, line)));
    }
    out.push_str(&format!("  {}\n", style.paint(Tone::Soft, &cut(&clean(&y.title), columns - 2))));
    frame(&mut out, &canvas, &y, margin, style);
    below(&mut out, &x, margin, across, style);
    names(&mut out, figure, style);
    for line in hanging("  ", &clean(&figure.how_to_read), columns).lines() {
        out.push_str(&format!("{}\n", style.paint(Tone::Soft, line)));
    }
    out
}

/// The lines to judge by, each with its label inside the plot.
fn references(figure: &Figure, canvas: &mut Canvas, x: &Projection, y: &Projection) {
    for reference in &figure.references {
        match reference {
            Reference::Horizontal { y: value, label } => {
                let Some(at) = y.at(*value) else { continue };
                canvas.line((0.0, at), (1.0, at), None);
                let row = ((1.0 - at) * (ROWS as f64 - 1.0)).round() as usize;
                canvas.write(2, row.saturating_sub(1), &clean(label));
            }
            Reference::Vertical { x: value, label } => {
                let Some(at) = x.at(*value) else { continue };
                canvas.line((at, 0.0), (at, 1.0), None);
                canvas.write_beside(at, &clean(label));
            }
            Reference::Proportional { slope, .. } => {
                let xs = figure.xs();
                let (low, high) = xs.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), &x| (l.min(x), h.max(x)));
                let place = |i: u32| low + (high - low) * f64::from(i) / 40.0;
                let points: Vec<_> =
                    (0..=40).filter_map(|i| Some((x.at(place(i))?, y.at(place(i) * slope)?))).collect();
                for (i, point) in points.iter().enumerate().filter(|(i, _)| i % 2 == 0) {
                    let next = points.get(i + 1).unwrap_or(point);
                    canvas.line(*point, *next, None);
                }
            }
        }
    }
}

fn curve(series: &Series, canvas: &mut Canvas, at: &impl Fn(f64, f64) -> Option<(f64, f64)>) {
    if matches!(series.look, Look::Points | Look::Box) {
        return;
    }
    let mut pen: Option<(f64, f64)> = None;
    for point in &series.points {
        let next = point.y.and_then(|r| at(point.x, r.point));
        if let (Some(from), Some(to)) = (pen, next) {
            if series.look == Look::Step {
                canvas.line(from, (to.0, from.1), Some(series.slot));
                canvas.line((to.0, from.1), to, Some(series.slot));
            } else {
                canvas.line(from, to, Some(series.slot));
            }
        } else if let (None, Some(to), Look::Step) = (pen, next, series.look) {
            canvas.line((to.0, 0.0), to, Some(series.slot));
        }
        pen = next;
    }
}

/// Interval, then the marker over it. Rounds are left to the page: a character is too coarse for them.
fn marks(series: &Series, canvas: &mut Canvas, at: &impl Fn(f64, f64) -> Option<(f64, f64)>, sign: char) {
    for point in &series.points {
        let Some(reading) = point.y else { continue };
        if let Some(interval) = reading.interval
            && let (Some(low), Some(high)) = (at(point.x, interval.low), at(point.x, interval.high))
        {
            canvas.line(low, high, Some(series.slot));
        }
        if let Some(place) = at(point.x, reading.point) {
            canvas.sign(place, sign, Some(series.slot));
        }
    }
}

fn sign(style: &TextStyle, series: &Series, hollow: bool) -> char {
    let signs = match (style.unicode, hollow) {
        (true, false) => ['●', '▲', '■', '◆', '▼', '✚'],
        (true, true) => ['○', '△', '□', '◇', '▽', '┼'],
        (false, false) => ['o', 'x', '#', '*', 'v', '+'],
        (false, true) => ['O', 'X', '=', '%', 'V', '~'],
    };
    signs[series.slot % signs.len()]
}

/// Tick labels to the left of the plot's rows.
fn frame(out: &mut String, canvas: &Canvas, y: &Projection, margin: usize, style: &TextStyle) {
    let row_of = |at: f64| ((1.0 - at) * (ROWS as f64 - 1.0)).round() as usize;
    for (row, line) in canvas.lines().into_iter().enumerate() {
        let tick = y.ticks.iter().find(|t| row_of(t.at) == row);
        let (bar, broken) = if style.unicode { (['│', '┤'], '≈') } else { (['|', '+'], '~') };
        let is_break = y.has_break() && row + 2 == ROWS && tick.is_none();
        let edge = if is_break { broken } else { bar[usize::from(tick.is_some())] };
        let label = pad(&cut(tick.map_or("", |t| &t.label), margin - 1), margin - 1, true);
        out.push_str(&style.paint(Tone::Soft, &format!("{label} {edge}")));
        for (text, slot) in line {
            out.push_str(&slot.map_or_else(|| text.clone(), |slot| style.paint(Tone::Series(slot), &text)));
        }
        out.push('\n');
    }
}

/// The x axis, its labels where they have room (ends first), its title.
fn below(out: &mut String, x: &Projection, margin: usize, across: usize, style: &TextStyle) {
    let place = |at: f64| (at * (across as f64 - 1.0)).round() as usize;
    let (corner, bar, tick) = if style.unicode { ('└', '─', '┴') } else { ('+', '-', '+') };
    let mut axis = vec![bar; across];
    let mut labels = vec![' '; style.columns()];
    let mut taken: Vec<(usize, usize)> = Vec::new();
    for t in x.ticks_ends_first() {
        if let Some(cell) = axis.get_mut(place(t.at)) {
            *cell = tick;
        }
        let half = width(&t.label) / 2;
        let from = (margin + 1 + place(t.at)).saturating_sub(half).min(labels.len().saturating_sub(width(&t.label)));
        let to = from + width(&t.label);
        if taken.iter().all(|(a, b)| to + 1 < *a || from > *b + 1) {
            taken.push((from, to));
            labels.iter_mut().skip(from).zip(t.label.chars()).for_each(|(cell, c)| *cell = c);
        }
    }
    let axis: String = axis.into_iter().collect();
    let labels: String = labels.into_iter().collect();
    out.push_str(&style.paint(Tone::Soft, &format!("{}{corner}{axis}", " ".repeat(margin))));
    out.push_str(&format!("\n{}\n", style.paint(Tone::Soft, labels.trim_end())));
    let title = pad(&cut(&clean(&x.title), across + margin + 1), across + margin + 1, true);
    out.push_str(&format!("{}\n", style.paint(Tone::Soft, &title)));
}

fn names(out: &mut String, figure: &Figure, style: &TextStyle) {
    if figure.all_series().count() < 2 {
        return;
    }
    let mut line = String::from("  ");
    let mut used = 2;
    for (index, series) in figure.all_series().enumerate() {
        let mark = match series.look {
            Look::Step => if style.unicode { "⣀⣀" } else { ".." }.to_owned(),
            _ => sign(style, series, index >= figure.series.len()).to_string(),
        };
        let name = cut(&clean(&series.name), style.columns() - 10);
        let room = width(&mark) + 1 + width(&name) + 3;
        if used + room > style.columns() && used > 2 {
            line.push_str("\n  ");
            used = 2;
        }
        used += room;
        line.push_str(&format!("{} {name}   ", style.paint(Tone::Series(series.slot), &mark)));
    }
    out.push_str(&format!("{line}\n"));
}
