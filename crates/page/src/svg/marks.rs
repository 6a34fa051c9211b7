//! The data: rounds as faint dots, whiskers, lines, markers; ours filled, others' hollow.

use std::fmt::Write as _;

use super::{N, Plot};
use crate::figure::{Dot, Look, Point, Series};
use crate::xml::{Escaped, slug};

pub(super) fn draw(svg: &mut String, plot: &Plot<'_>) {
    for (index, series) in plot.figure.all_series().enumerate() {
        for point in &series.points {
            dots(svg, plot, series, point, plot.dodge(index));
        }
    }
    for (index, series) in plot.figure.all_series().enumerate() {
        let _ = write!(svg, r#"<g class="{}">"#, plot.class(index, series));
        line(svg, plot, series, plot.dodge(index));
        for point in &series.points {
            match series.look {
                Look::Box => five(svg, plot, series, point, plot.dodge(index)),
                Look::Line | Look::Points => estimate(svg, plot, series, point, plot.dodge(index)),
                Look::Step => {}
            }
        }
        svg.push_str("</g>");
    }
}

/// Each round, spread sideways a little so that equal values show; a link to its record, its value on hovering.
fn dots(svg: &mut String, plot: &Plot<'_>, series: &Series, point: &Point, dodge: f64) {
    let middle = (point.rounds.len() as f64 - 1.0) / 2.0;
    let step = (10.0 / point.rounds.len().max(1) as f64).min(3.0);
    let Some(x) = plot.px(point.x) else { return };
    for (i, dot) in point.rounds.iter().enumerate() {
        let Some(y) = plot.py(dot.y) else { continue };
        let (x, y) = (N(x + dodge + (i as f64 - middle) * step), N(y));
        let class = format!("dot s{}", series.slot % crate::palette::SLOTS);
        let shape = if dot.counts {
            format!(r#"<circle class="{class}" cx="{x}" cy="{y}" r="2.2">"#)
        } else {
            format!(r#"<path class="{class} not" d="M{x} {y}m-2.5 -2.5l5 5m0 -5l-5 5">"#)
        };
        let end = if dot.counts { "</circle>" } else { "</path>" };
        let shape = format!("{shape}<title>{}</title>{end}", Escaped(&hover(plot, series, dot)));
        match &dot.record {
            Some(record) => {
                let _ = write!(svg, r##"<a href="#{}" tabindex="-1">{shape}</a>"##, slug(record));
            }
            None => svg.push_str(&shape),
        }
    }
}

fn hover(plot: &Plot<'_>, series: &Series, dot: &Dot) -> String {
    let value = plot.figure.y.unit.show(dot.y, 4);
    let excluded = if dot.counts { "" } else { ", does not count" };
    format!("{}: {value}{excluded}", series.name)
}

/// Through the estimates; a break where one is missing.
fn line(svg: &mut String, plot: &Plot<'_>, series: &Series, dodge: f64) {
    if matches!(series.look, Look::Points | Look::Box) {
        return;
    }
    let mut path = String::new();
    let mut pen: Option<f64> = None;
    for point in &series.points {
        let place = point.y.and_then(|r| Some((plot.px(point.x)? + dodge, plot.py(r.point)?)));
        let Some((x, y)) = place else {
            pen = None;
            continue;
        };
        let _ = match (pen, series.look) {
            (None, Look::Step) => write!(path, "M{} {}V{}", N(x), N(plot.bottom), N(y)),
            (None, _) => write!(path, "M{} {}", N(x), N(y)),
            (Some(_), Look::Step) => write!(path, "H{}V{}", N(x), N(y)),
            (Some(_), _) => write!(path, "L{} {}", N(x), N(y)),
        };
        pen = Some(y);
    }
    if !path.is_empty() {
        let _ = write!(svg, r#"<path class="line" d="{path}"/>"#);
    }
}

/// Whisker and marker; the numbers on hovering.
fn estimate(svg: &mut String, plot: &Plot<'_>, series: &Series, point: &Point, dodge: f64) {
    let Some(reading) = point.y else { return };
    let (Some(x), Some(y)) = (plot.px(point.x), plot.py(reading.point)) else { return };
    let x = x + dodge;
    if let Some(interval) = reading.interval {
        let floor = |v: f64| plot.py(v).unwrap_or(if v < reading.point { plot.bottom } else { plot.top });
        let (low, high) = (floor(interval.low), floor(interval.high));
        if low - high > 1.0 {
            let (x, cap) = (N(x), 3.5);
            let _ = write!(
                svg,
                r#"<path class="whisker" d="M{x} {0}V{1}M{x} {0}m-{cap} 0h{2}M{x} {1}m-{cap} 0h{2}"/>"#,
                N(low),
                N(high),
                cap * 2.0
            );
        }
    }
    let x_value = plot.figure.x.unit.show(point.x, 4);
    let title = format!("{}, {x_value}: {}", series.name, plot.figure.y.unit.show_reading(&reading));
    let _ = write!(
        svg,
        r#"<path class="mark" d="{}"><title>{}</title></path>"#,
        marker(series.slot, x, y),
        Escaped(&title)
    );
}

/// A box plot of the rounds that count; whiskers go to the ends, so that nothing is hidden as an outlier.
fn five(svg: &mut String, plot: &Plot<'_>, series: &Series, point: &Point, dodge: f64) {
    let rounds: Vec<f64> = point.rounds.iter().filter(|dot| dot.counts).map(|dot| dot.y).collect();
    let Some(five) = takt_stats::five_numbers(&rounds) else { return };
    let places = [five.min, five.q1, five.median, five.q3, five.max].map(|value| plot.py(value));
    let (Some(x), [Some(min), Some(q1), Some(median), Some(q3), Some(max)]) = (plot.px(point.x), places) else {
        return;
    };
    let (x, left, width) = (N(x + dodge), N(x + dodge - BOX / 2.0), N(BOX));
    let show = |value| plot.figure.y.unit.show(value, 3);
    let title = format!(
        "{}: {} to {}, half from {} to {}, median {}",
        series.name,
        show(five.min),
        show(five.max),
        show(five.q1),
        show(five.q3),
        show(five.median)
    );
    let _ = write!(
        svg,
        r#"<path class="whisker" d="M{x} {0}V{1}M{x} {2}V{3}"/><path class="box" d="M{left} {1}h{width}V{2}h-{width}zM{left} {4}h{width}"><title>{5}</title></path>"#,
        N(min),
        N(q1),
        N(q3),
        N(max),
        N(median),
        Escaped(&title)
    );
}

/// Width of a box, px.
const BOX: f64 = 7.0;
/// From one box to its neighbour: none hides another.
pub(super) const BOX_STEP: f64 = BOX + 1.5;

/// Disc, triangle, square, diamond, triangle down, cross: one for each colour, of about equal weight.
pub(super) fn marker(slot: usize, x: f64, y: f64) -> String {
    let (x, y) = (N(x), N(y));
    match slot % crate::palette::SLOTS {
        0 => format!("M{x} {y}m-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z"),
        1 => format!("M{x} {y}m0 -5l4.6 8.4h-9.2z"),
        2 => format!("M{x} {y}m-3.7 -3.7h7.4v7.4h-7.4z"),
        3 => format!("M{x} {y}m0 -5.2l4.6 5.2l-4.6 5.2l-4.6 -5.2z"),
        4 => format!("M{x} {y}m0 5l4.6 -8.4h-9.2z"),
        _ => format!("M{x} {y}m-1.6 -4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z"),
    }
}
