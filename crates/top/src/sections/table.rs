//! Cells of a table, in columns of fixed width.

use takt_base::plain::one_line;

/// Text of a process, as text, in so many columns: what is longer ends in `…`.
pub(super) fn cell(text: &str, width: usize) -> String {
    let text = one_line(text);
    if text.chars().count() <= width {
        return format!("{text:<width$}");
    }
    let cut: String = text.chars().take(width.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// A bar for a share of 0 to 1.
pub(super) fn bar(share: f64, width: usize) -> String {
    let full = (share.clamp(0.0, 1.0) * width as f64).round() as usize;
    format!("{}{}", "█".repeat(full), "░".repeat(width - full.min(width)))
}

/// A column of a chart: eighths of a character's height.
pub(super) fn column(share: f64) -> char {
    const COLUMNS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let index = (share.clamp(0.0, 1.0) * 8.0).ceil() as usize;
    COLUMNS[index.min(8)]
}
