//! Spectra of the samples.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use takt_base::shown::scaled;
use takt_live::{Snapshot, Spectrum};

use super::Section;
use super::table::{cell, column};

/// Levels from the lowest to the highest row, dBFS.
const LOWEST_DBFS: f32 = -120.0;
const ROWS: usize = 4;

pub(super) fn section(snapshot: &Snapshot, width: usize) -> Option<Section> {
    let lines: Vec<Line<'static>> = snapshot.spectra.iter().flat_map(|spectrum| chart(spectrum, width)).collect();
    (!lines.is_empty()).then(|| Section::new("spectrum", lines, ROWS + 1, width))
}

/// Rows of a chart from 0 to -120 dBFS, and what it shows.
fn chart(spectrum: &Spectrum, width: usize) -> Vec<Line<'static>> {
    let columns = peaks(&spectrum.dbfs, width);
    let row = |row: usize| {
        // Rows from the top down.
        let share =
            |level: f32| f64::from((level - LOWEST_DBFS) / -LOWEST_DBFS) * ROWS as f64 - (ROWS - 1 - row) as f64;
        let text: String = columns.iter().map(|&level| column(share(level))).collect();
        Line::styled(text, Style::new().fg(Color::Cyan))
    };
    let highest = spectrum.dbfs.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let carrier =
        spectrum.freq_hz.map_or_else(|| "carrier not known".to_owned(), |hz| format!("carrier {}", scaled(hz, "Hz")));
    let about = format!(
        "{}  {carrier}, {} wide, highest {highest:.0} dBFS, 0 to {LOWEST_DBFS:.0} dBFS",
        cell(&spectrum.name, 12).trim_end(),
        scaled(spectrum.span_hz, "Hz")
    );
    (0..ROWS).map(row).chain([Line::from(Span::styled(about, Style::new().dim()))]).collect()
}

/// The highest bin of each column.
fn peaks(bins: &[f32], width: usize) -> Vec<f32> {
    let columns = width.min(bins.len()).max(1);
    let of = |column: usize| {
        let (from, to) = (column * bins.len() / columns, (column + 1) * bins.len() / columns);
        bins.get(from..to.max(from + 1)).unwrap_or_default().iter().copied().fold(LOWEST_DBFS, f32::max)
    };
    (0..columns).map(of).collect()
}
