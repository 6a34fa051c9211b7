//! Axes, grid, reference lines: what stands behind the data.

use std::fmt::Write as _;

use super::{N, Plot, text, text_width, turned_text};
use crate::Reference;
use crate::figure::projection::{Tick, ZERO_BAND};
use crate::xml::Escaped;

pub(super) fn draw(svg: &mut String, plot: &Plot<'_>) {
    grid(svg, plot);
    x_ticks(svg, plot);
    titles(svg, plot);
    for reference in &plot.figure.references {
        draw_reference(svg, plot, reference);
    }
}

fn grid(svg: &mut String, plot: &Plot<'_>) {
    let (left, right) = (N(plot.left), N(plot.right));
    for Tick { at, label } in &plot.y.ticks {
        let y = plot.bottom - at * (plot.bottom - plot.top);
        let class = if *at == 0.0 { "axis" } else { "grid" };
        let _ = write!(svg, r#"<path class="{class}" d="M{left} {0}H{right}"/>"#, N(y));
        text(svg, "tick", (plot.left - 8.0, y + 4.2), "end", label);
    }
    if !plot.y.ticks.iter().any(|t| t.at == 0.0) {
        let _ = write!(svg, r#"<path class="axis" d="M{left} {}H{right}"/>"#, N(plot.bottom));
    }
    if plot.y.has_break() {
        let y = plot.bottom - ZERO_BAND / 2.0 * (plot.bottom - plot.top);
        let x = plot.left;
        let _ = write!(svg, r#"<path class="break" d="M{0} {1}l5 -3.5l5 7l5 -7l5 3.5"/>"#, N(x - 10.0), N(y));
    }
}

/// Tick labels in order of importance (ends first), each only where it does not run into one already there.
fn x_ticks(svg: &mut String, plot: &Plot<'_>) {
    let mut taken: Vec<(f64, f64)> = Vec::new();
    for tick in plot.x.ticks_ends_first() {
        let (x, half) = (plot.across(tick.at), text_width::of(&tick.label) / 2.0);
        let _ = write!(svg, r#"<path class="axis" d="M{} {}v5"/>"#, N(x), N(plot.bottom));
        if taken.iter().all(|(from, to)| x + half + 6.0 < *from || x - half - 6.0 > *to) {
            taken.push((x - half, x + half));
            text(svg, "tick", (x, plot.bottom + 18.0), "middle", &tick.label);
        }
    }
}

/// The y title stands above its axis, level, so that nobody has to turn his head.
fn titles(svg: &mut String, plot: &Plot<'_>) {
    let y_title = text_width::cut(&plot.y.title, plot.canvas.width - 10.0);
    let _ = write!(svg, r#"<text class="title" x="0" y="13">{}</text>"#, Escaped(&y_title));
    text(svg, "title", (plot.right, plot.bottom + 38.0), "end", &plot.x.title);
}

fn draw_reference(svg: &mut String, plot: &Plot<'_>, reference: &Reference) {
    let line = |svg: &mut String, d: String| {
        let _ = write!(svg, r#"<path class="reference" d="{d}"/>"#);
    };
    match reference {
        Reference::Horizontal { y, label } => {
            let Some(y) = plot.py(*y) else { return };
            line(svg, format!("M{} {}H{}", N(plot.left), N(y), N(plot.right)));
            text(svg, "note", (plot.left + 6.0, y - 5.0), "start", label);
        }
        Reference::Vertical { x, label } => {
            let Some(x) = plot.px(*x) else { return };
            line(svg, format!("M{} {}V{}", N(x), N(plot.bottom), N(plot.top)));
            let fits = x + text_width::of(label) + 8.0 < plot.right;
            let (x, anchor) = if fits { (x + 6.0, "start") } else { (x - 6.0, "end") };
            text(svg, "note", (x, plot.bottom - 8.0), anchor, label);
        }
        Reference::Proportional { slope, label } => proportional(svg, plot, *slope, label, line),
    }
}

/// Drawn as a polyline, since on unlike scales it is a curve.
fn proportional(svg: &mut String, plot: &Plot<'_>, slope: f64, label: &str, line: impl Fn(&mut String, String)) {
    let xs = plot.figure.xs();
    let (low, high) = xs.iter().fold((f64::INFINITY, 0.0_f64), |(l, h), &x| (l.min(x), h.max(x)));
    let low = if plot.px(0.0).is_some() { 0.0 } else { low };
    let at = |i: f64| low + (high - low) * i / 64.0;
    let points: Vec<(f64, f64)> =
        (0..=64).filter_map(|i| Some((plot.px(at(f64::from(i)))?, plot.py(at(f64::from(i)) * slope)?))).collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{} {}", N(*x), N(*y))).collect();
    if path.len() < 2 {
        return;
    }
    line(svg, format!("M{}", path.join("L")));
    let middle = points.len() / 2;
    if let (Some(a), Some(b)) = (points.get(middle.saturating_sub(4)), points.get(middle)) {
        let angle = (b.1 - a.1).atan2(b.0 - a.0).to_degrees();
        turned_text(svg, "note", (a.0 - 4.0, a.1 - 6.0), "middle", angle, label);
    }
}
