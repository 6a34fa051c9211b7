//! Parts that the screens of many commands share. Each command's screen is a pure function to a [`Screen`](crate::Screen),
//! beside what it shows.

use crate::{Cell, Column, Row, Table};

/// A table whose first column names the row; `numbers` are set to the right, `texts` follow.
pub fn table(first: &str, numbers: &[&str], texts: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let rows = rows.into_iter().map(|cells| Row::plain(cells.into_iter().map(Cell::text)));
    Table::new("", "", Column::row(first, numbers, texts), rows.collect())
}

/// A dash where nothing is known.
pub fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}
