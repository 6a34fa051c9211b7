//! Points of a tap in the plane.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use takt_live::{Constellation, Snapshot};

use super::Section;
use super::table::cell;

/// Rows and columns: a character is about twice as high as it is wide.
const ROWS: usize = 11;
const COLUMNS: usize = 2 * ROWS + 1;
/// From the middle to an edge, roots of the mean power.
const REACH: f32 = 2.0;

pub(super) fn section(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let lines: Vec<Line<'static>> = snapshot.constellations.iter().flat_map(|tap| chart(tap, width)).collect();
    (!lines.is_empty()).then(|| Section::new("constellation", lines, ROWS + 1, width))
}

/// A square, and what it shows.
fn chart(tap: &Constellation, width: usize) -> Vec<Line<'static>> {
    let mut counts = [[0_u32; COLUMNS]; ROWS];
    for &[i, q] in &tap.points {
        let place = |part: f32, places: usize| {
            let at = ((part / REACH + 1.0) / 2.0 * places as f32).floor();
            // Points beyond the edge lie on it.
            (at.max(0.0) as usize).min(places - 1)
        };
        counts[ROWS - 1 - place(q, ROWS)][place(i, COLUMNS)] += 1;
    }
    let row = |(n, row): (usize, &[u32; COLUMNS])| {
        let mark = |(m, count): (usize, &u32)| match *count {
            0 if m == COLUMNS / 2 => '│',
            0 if n == ROWS / 2 => '─',
            0 => ' ',
            1..3 => '·',
            3..8 => '•',
            _ => '●',
        };
        Line::styled(row.iter().enumerate().map(mark).collect::<String>(), Style::new().fg(Color::Cyan))
    };
    let modulation =
        tap.modulation.as_ref().map_or_else(String::new, |name| format!(", {}", cell(name, 10).trim_end()));
    let name = cell(&tap.name, width.saturating_sub(30).max(12));
    let about = format!("{}{modulation}, {} symbols", name.trim_end(), tap.points.len());
    counts.iter().enumerate().map(row).chain([Line::from(Span::styled(about, Style::new().dim()))]).collect()
}
