//! Cost of this machine's stops for a radio that does not stop with it, at every rate.

use crate::check::{CheckOutcome, Stops, StopsAt, wanted_ms};

use super::words;
use takt_page::{Cell, Column, Row, Table, Unit, count};

/// Empty without an emulator of this machine, and without a stop.
pub(super) fn table(outcome: &CheckOutcome) -> Table {
    let stops = outcome.stops.as_ref().filter(|stops| stops.count > 0);
    let rows = stops.into_iter().flat_map(|stops| &stops.at).map(row).collect();
    let columns = Column::row(
        "stream",
        &["buffers hold", "times the longest stop", "stops that were longer", "would be lost"],
        &[],
    );
    let table = Table::new("stops", "Samples that a real radio would lose to stops of this machine", columns, rows);
    table.with_note(stops.map(note).unwrap_or_default())
}

fn row(at: &StopsAt) -> Row {
    let ms = |ms: f64| Unit::SECONDS.show(ms / 1e3, 3);
    let stream = format!("{}, {}, {}", words::mode(at.mode), at.format.name(), words::rate(at.rate_sps));
    Row::plain([
        Cell::text(stream),
        Cell::text(ms(at.holds_ms)),
        Cell::text(at.margin.map(|margin| Unit::TIMES.show(margin, 2)).unwrap_or_default()),
        Cell::text(count(at.longer as u64)),
        Cell::text(if at.longer > 0 { ms(at.lost_ms) } else { "nothing".into() }),
    ])
}

fn note(stops: &Stops) -> String {
    let seconds = |s: f64| Unit::SECONDS.show(s, 3);
    format!(
        "This machine stood still {} in {} of streaming, for up to {}. The emulator stops with it and sends nothing. A \
         real radio does not stop, so the buffers must hold what it sends. takt requires room to \
         spare: {} for the longest stop.",
        words::plural(stops.count, "time"),
        seconds(stops.streamed_s),
        seconds(stops.longest_ms / 1e3),
        seconds(wanted_ms(stops.longest_ms) / 1e3)
    )
}
