//! A figure as SVG: inline in a page, or a file of its own.
//!
//! Colours are CSS custom properties (`--ink`, `--c0` ...), so the page's light, dark and print rules hold for figures
//! too. Meaning never hangs on colour alone: each series has its marker, and its name stands at its end.

mod frame;
mod labels;
mod marks;
#[cfg(feature = "png")]
mod png;
#[cfg(not(feature = "png"))]
#[path = "png_missing.rs"]
mod png;
mod print;
pub(crate) mod text_width;

use std::fmt::Write as _;

use crate::figure::projection::Projection;
use crate::xml::{Escaped, slug};
use crate::{Figure, Look, Series};

/// Drawing size, user units. The page scales it.
#[derive(Clone, Copy)]
struct Canvas {
    width: f64,
    height: f64,
}

impl Canvas {
    const PAGE: Canvas = Canvas { width: 600.0, height: 360.0 };
}

/// Colours and type, the same for pages and for files of their own.
pub(crate) const STYLE: &str = include_str!("figure.css");

impl Figure {
    /// The figure as an SVG file of its own, light or dark as the viewer prefers.
    pub fn to_svg(&self) -> String {
        let (style, namespace) = own_file();
        draw(&Plot::new(self, self, Canvas::PAGE), &style, namespace)
    }

    /// The figure as an element of a page that has [`STYLE`].
    pub(crate) fn to_inline_svg(&self) -> String {
        self.to_inline_svg_beside(self)
    }

    /// The same, with axes that hold the other figure's values as well: so that eyes can compare the two.
    pub(crate) fn to_inline_svg_beside(&self, other: &Figure) -> String {
        draw(&Plot::new(self, other, Canvas::PAGE), "", "")
    }
}

/// `attributes`: further ones of the element, with a space before each.
fn draw(plot: &Plot<'_>, style: &str, attributes: &str) -> String {
    let figure = plot.figure;
    let Canvas { width, height } = plot.canvas;
    let id = slug(&figure.id);
    let mut svg = String::new();
    let _ = write!(
        svg,
        r#"<svg class="figure"{attributes} viewBox="0 0 {} {}" role="img" aria-labelledby="{id}-t {id}-d">"#,
        N(width),
        N(height)
    );
    let _ = write!(svg, r#"<title id="{id}-t">{}</title>"#, Escaped(&figure.finding));
    let _ = write!(svg, r#"<desc id="{id}-d">{}</desc>{style}"#, Escaped(&description(figure)));
    frame::draw(&mut svg, plot);
    marks::draw(&mut svg, plot);
    labels::draw(&mut svg, plot);
    svg.push_str("</svg>\n");
    svg
}

/// For a screen reader: what is plotted, and each series in a sentence.
fn description(figure: &Figure) -> String {
    let mut text = format!("{} {} against {}.", figure.how_to_read, figure.y.label, figure.x.label);
    for series in figure.all_series() {
        let ends = || series.points.iter().filter_map(|p| Some((p.x, p.y?.point)));
        if let (Some(first), Some(last)) = (ends().next(), ends().next_back()) {
            let [x0, x1] = [first.0, last.0].map(|x| figure.x.unit.show(x, 4));
            let [y0, y1] = [first.1, last.1].map(|y| figure.y.unit.show(y, 3));
            let _ = write!(text, " {}: {y0} at {x0}, {y1} at {x1}.", series.name);
        }
    }
    text
}

/// A figure with its geometry: everything the parts need to place ink.
struct Plot<'a> {
    figure: &'a Figure,
    canvas: Canvas,
    x: Projection,
    y: Projection,
    left: f64,
    /// Right end of the grid; the last value stands a little before, so that its whisker and marker have room.
    right: f64,
    end: f64,
    /// Room at both ends of the x axis for boxes that stand side by side.
    inset: f64,
    top: f64,
    bottom: f64,
    /// Names at the ends of lines; otherwise in a row above.
    names_at_ends: bool,
}

impl<'a> Plot<'a> {
    /// `alike`: the axes hold its values as well.
    fn new(figure: &'a Figure, alike: &Figure, canvas: Canvas) -> Self {
        let both = |of: fn(&Figure) -> Vec<f64>| [of(figure), of(alike)].concat();
        let x = Projection::new(&figure.x, &both(Figure::xs), if canvas.width < 500.0 { 5 } else { 7 });
        let y = Projection::new(&figure.y, &both(Figure::ys), 6);
        let names_at_ends = figure.all_series().all(|s| s.look != Look::Step) && figure.all_series().count() > 1;
        let widest = y.ticks.iter().map(|t| text_width::of(&t.label)).fold(0.0, f64::max);
        let names = figure.all_series().map(|s| text_width::of(&s.name)).fold(0.0, f64::max);
        let left = (widest + 12.0).clamp(30.0, 140.0);
        let right = canvas.width - if names_at_ends { names.min(150.0) + 30.0 } else { 18.0 };
        let has_legend = !names_at_ends && figure.all_series().count() > 1;
        let top = 34.0 + if has_legend { labels::legend_height(figure, left, right) } else { 0.0 };
        let boxes = figure.all_series().filter(|s| s.look == Look::Box).count();
        let inset = boxes as f64 * marks::BOX_STEP / 2.0;
        let bottom = canvas.height - 46.0;
        Self { figure, canvas, x, y, left, right, end: right - 8.0, inset, top, bottom, names_at_ends }
    }

    fn px(&self, x: f64) -> Option<f64> {
        Some(self.across(self.x.at(x)?))
    }

    /// Coordinate of a place on the x axis, 0 to 1.
    fn across(&self, at: f64) -> f64 {
        self.left + self.inset + at * (self.end - self.left - 2.0 * self.inset)
    }

    fn py(&self, y: f64) -> Option<f64> {
        Some(self.bottom - self.y.at(y)? * (self.bottom - self.top))
    }

    /// Class of a series: its colour, and hollow if it is others'.
    fn class(&self, index: usize, series: &Series) -> String {
        let hollow = if index < self.figure.series.len() { "" } else { " hollow" };
        format!("s{}{hollow}", series.slot % crate::palette::SLOTS)
    }

    /// Sideways shift that keeps series with equal values apart; more where many are likely to be equal: at zero.
    fn dodge(&self, index: usize) -> f64 {
        let lines = self.figure.all_series().filter(|s| s.look != Look::Step).count();
        let step = match self.inset > 0.0 {
            true => marks::BOX_STEP,
            false if self.y.has_break() => 5.0,
            false => 2.5,
        };
        if lines < 2 { 0.0 } else { (index as f64 - (lines as f64 - 1.0) / 2.0) * step }
    }
}

/// A text; `anchor` is which part of it is at the place: start, middle or end.
pub(crate) fn text(svg: &mut String, class: &str, at: (f64, f64), anchor: &str, words: &str) {
    turned_text(svg, class, at, anchor, 0.0, words);
}

fn turned_text(svg: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, degrees: f64, words: &str) {
    let (x, y, words) = (N(x), N(y), Escaped(words));
    let turn = if degrees == 0.0 { String::new() } else { format!(r#" transform="rotate({} {x} {y})""#, N(degrees)) };
    let _ = write!(svg, r#"<text class="{class}" x="{x}" y="{y}" text-anchor="{anchor}"{turn}>{words}</text>"#);
}

/// Further parts of a drawing in a file of its own: its colours and type, and its vocabulary.
pub(crate) fn own_file() -> (String, &'static str) {
    (format!("<style>{}\n{STYLE}</style>", crate::palette::css()), r#" xmlns="http://www.w3.org/2000/svg""#)
}

/// Coordinates to a tenth of a unit, needless zeros dropped.
pub(crate) struct N(pub(crate) f64);

impl std::fmt::Display for N {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tenths = (self.0 * 10.0).round() as i64;
        if tenths % 10 == 0 { write!(f, "{}", tenths / 10) } else { write!(f, "{}", tenths as f64 / 10.0) }
    }
}
