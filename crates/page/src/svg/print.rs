//! A figure for print: as wide as a column, on white, with colours that need no style sheet of a page.
//!
//! Programs that convert SVG, such as Inkscape and rsvg-convert, know no custom properties. So each colour is written out, once for
//! each series. Text has 8 points, whatever the width.

use std::fmt::Write as _;

use super::{Canvas, N, Plot, STYLE, draw, text_width};
use crate::{Figure, palette};

/// Size of all text in print, points.
const TEXT_PT: f64 = 8.0;
const MM_PER_PT: f64 = 25.4 / 72.0;
/// Height over width.
const ASPECT: f64 = 0.62;

/// Faces of the text, the best first.
pub(super) const FAMILIES: [&str; 4] = ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"];

impl Figure {
    /// Dots of a PNG file in an inch.
    pub const PRINT_DPI: u32 = 300;

    /// Narrowest and widest figure for print, mm: half a column of a journal, and a page of A4.
    pub const PRINT_MM: std::ops::RangeInclusive<f64> = 60.0..=297.0;

    /// Name of its files, without an ending.
    pub fn file_name(&self) -> String {
        crate::xml::slug(&self.id).into_owned()
    }

    /// The figure as an SVG file for print, so wide in mm. Its title belongs into the caption, and is not drawn.
    pub fn to_print_svg(&self, width_mm: f64) -> String {
        let unit_mm = TEXT_PT * MM_PER_PT / text_width::FONT_SIZE;
        let width = width_mm.clamp(*Self::PRINT_MM.start(), *Self::PRINT_MM.end()) / unit_mm;
        let canvas = Canvas { width, height: width * ASPECT };
        let attributes = format!(
            r#" xmlns="http://www.w3.org/2000/svg" width="{}mm" height="{}mm" font-family="{}, sans-serif" font-size="{}""#,
            N(canvas.width * unit_mm),
            N(canvas.height * unit_mm),
            FAMILIES.map(|family| format!("'{family}'")).join(", "),
            text_width::FONT_SIZE
        );
        draw(&Plot::new(self, self, canvas), &format!("<style>{}</style>", style()), &attributes)
    }
}

/// The rules of figures on white paper, with each colour written out.
fn style() -> String {
    let mut out = String::new();
    for rule in STYLE.lines() {
        let Some((selector, declarations)) = rule.split_once('{') else { continue };
        // The first is about the page's fonts, and nothing hovers in print.
        let Some(inner) = selector.strip_prefix(".figure ").filter(|inner| !inner.contains(":hover")) else { continue };
        if !declarations.contains("var(--c)") {
            let _ = writeln!(out, "{selector}{{{}", palette::on_white(declarations));
            continue;
        }
        for (slot, colour) in palette::print_series().iter().enumerate() {
            // `hollow` and `dot` stand beside the series' class, all others inside.
            let joined = inner.starts_with(".hollow") || inner.starts_with(".dot");
            let space = if joined { "" } else { " " };
            let declarations = palette::on_white(&declarations.replace("var(--c)", colour));
            let _ = writeln!(out, ".figure .s{slot}{space}{inner}{{{declarations}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Axis, Look, Point, Reading, Series, Unit};

    fn figure() -> Figure {
        let point =
            |x, y| Point { x, y: Some(Reading::with_interval(y, y - 1.0, y + 1.0, 0.95, 3)), rounds: Vec::new() };
        let series = |name: &str, slot| Series {
            name: name.to_owned(),
            look: Look::Line,
            slot,
            points: vec![point(1.0, 10.0), point(2.0, 20.0)],
        };
        Figure {
            id: "rate".to_owned(),
            finding: "It grows".to_owned(),
            x: Axis::linear("load", Unit::COUNT),
            y: Axis::linear("time", Unit::SECONDS),
            series: vec![series("ours", 0)],
            others: vec![series("theirs", 1)],
            ..Figure::default()
        }
    }

    #[test]
    fn a_figure_for_print_needs_no_style_sheet_and_has_the_width_of_its_column() {
        let svg = figure().to_print_svg(88.9);
        assert!(svg.contains(r#"width="88.9mm""#) && svg.contains("xmlns="), "{svg}");
        assert!(!svg.contains("var(") && !svg.contains("@media"), "{svg}");
        for colour in ["#0072b2", "#c8500a", "#ffffff"] {
            assert!(svg.contains(colour), "{colour}: {svg}");
        }
        assert!(svg.contains(".figure .s1.hollow .mark{") && svg.contains(".figure .s1 .line{"), "{svg}");
        assert!(svg.contains(".figure .s0.dot.not{"), "{svg}");
    }

    #[test]
    fn text_has_one_size_at_any_width_and_a_senseless_width_is_bounded() {
        let width = |mm: f64| {
            let svg = figure().to_print_svg(mm);
            let after = svg.split("viewBox=\"0 0 ").nth(1).expect("a view box");
            after.split(' ').next().expect("a width").parse::<f64>().expect("a number")
        };
        assert!((width(180.0) / width(90.0) - 2.0).abs() < 0.01, "twice the room, the same text");
        assert_eq!((width(0.0), width(f64::INFINITY)), (width(60.0), width(297.0)));
    }
}
