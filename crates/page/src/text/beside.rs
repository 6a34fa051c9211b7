//! Two reports on a terminal: both answers first, then the values that both have.

use super::report::answer;
use super::wrap::{clean, hanging, pad, width};
use super::{Depth, TextStyle, table};
use crate::Table;
use crate::beside::Beside;

/// Rows of values in a short text.
const ROWS: usize = 20;

impl Beside {
    /// Both answers, and the values of both. The page has the figures.
    pub fn to_text(&self, style: &TextStyle) -> String {
        let mut out = String::new();
        let both = [&self.first, &self.second];
        let widest = both.map(|report| width(&clean(&report.run))).into_iter().max().unwrap_or(0);
        for report in both {
            out.push_str(&pad(&clean(&report.run), widest + 2, false));
            answer(&mut out, report, style);
        }
        let mut values = self.values();
        let left = values.rows.len().saturating_sub(ROWS);
        if style.depth != Depth::Full {
            values.rows.truncate(ROWS);
        }
        if values.rows.is_empty() {
            out.push_str(&hanging("", "These runs have no figure in common.", style.columns()));
        } else {
            out.push_str(&format!("\n{}", grouped(&values, style)));
        }
        if style.depth != Depth::Full && left > 0 {
            out.push_str(&format!("In the report: {left} more values.\n"));
        }
        if let Some(page) = &self.page {
            out.push_str(&format!("Report: {}\n", clean(page)));
        }
        style.finish(&out)
    }
}

/// A table for each group, under its title.
fn grouped(values: &Table, style: &TextStyle) -> String {
    use crate::Row;
    let mut out = String::new();
    for part in values.rows.chunk_by(|_, row| matches!(row, Row::Cells { .. })) {
        let [Row::Group { title, .. }, rows @ ..] = part else { continue };
        let columns = values
            .columns
            .iter()
            .enumerate()
            .map(|(n, column)| if n == 0 { crate::Column::text(title.clone()) } else { column.clone() });
        let part = Table { columns: columns.collect(), rows: rows.to_vec(), ..values.clone() };
        out.push_str(&table::render(&part, style));
    }
    out
}
