//! Screens of each command, from what it measured: one module a command, each a pure function to a
//! [`Screen`](crate::Screen).

#[cfg(feature = "cluster")]
pub mod cluster;
pub mod experiment;
pub mod map;
pub mod rate;
pub mod run;
mod run_packets;
pub mod stops;
pub mod udp;
pub mod udp_search;
#[cfg(test)]
mod udp_tests;
pub mod wakeup;
#[cfg(test)]
mod wakeup_tests;

use crate::{Cell, Column, Row, Table};

/// A table whose first column names the row; `numbers` are set to the right, `texts` follow.
pub fn table(first: &str, numbers: &[&str], texts: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> Table {
    let rows = rows.into_iter().map(|cells| Row::plain(cells.into_iter().map(Cell::text)));
    Table::new("", "", Column::row(first, numbers, texts), rows.collect())
}

/// A dash where nothing is known.
fn known<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), show)
}
