//! The table of a run as text, for everybody else's tools.

use std::io::{self, Write};

use takt_base::csv_field;

use super::Table;

impl Table {
    /// Writes it as CSV (RFC 4180): a line of names, a line a round. A cell is empty where a round has no such value.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(line(self.columns.iter().map(|column| column.name.clone())).as_bytes())?;
        for row in 0..self.rows {
            let cell = |cells: &[Option<serde_json::Value>]| cells.get(row)?.as_ref().map(Table::text);
            let cells = self.columns.iter().map(|column| cell(&column.cells).unwrap_or_default());
            out.write_all(line(cells).as_bytes())?;
        }
        out.flush()
    }
}

fn line(fields: impl Iterator<Item = String>) -> String {
    let mut line = fields.map(|field| csv_field(&field)).collect::<Vec<_>>().join(",");
    line.push_str("\r\n");
    line
}
