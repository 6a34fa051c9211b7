//! CPU time of other packet engines for a sample of the same stream.

use crate::check::{CheckOutcome, EnginePoint};

use takt_stats::Estimate;

use super::words;
use takt_page::Reading;
use takt_page::{Cell, Column, Row, Table, Unit, count};

/// Empty where no other engine was tried.
pub(super) fn table(outcome: &CheckOutcome) -> Table {
    let columns = Column::row(
        "engine",
        &["CPU for a million samples", "over the first", "rounds", "clean"],
        &["path of datagrams"],
    );
    let table =
        Table::new("engines", "CPU time with other packet engines", columns, outcome.engines.iter().map(row).collect());
    let rate = outcome.engines.first().map(|first| words::rate(first.rate_sps)).unwrap_or_default();
    table.with_note(format!(
        "Receiving {rate}. The time is that of the host side's process and of the machine's interrupts. Ratios are taken \
         within a block of rounds, with 95 % intervals."
    ))
}

fn estimate(of: Option<Estimate>, unit: Unit) -> String {
    of.map(|of| unit.show_reading(&Reading::from(of))).unwrap_or_default()
}

/// Anchor of an engine's rounds.
pub(super) fn anchor(point: &EnginePoint) -> String {
    format!("engine-{}", point.engine)
}

fn row(point: &EnginePoint) -> Row {
    let passed = match &point.missing {
        Some(why) => format!("not available here: {why}"),
        None => point.path.clone(),
    };
    let linked = |text: String| match point.rounds.is_empty() {
        true => Cell::text(""),
        false => Cell::linked(text, format!("{}-rounds", anchor(point))),
    };
    Row::plain([
        Cell::text(point.engine.clone()),
        linked(estimate(point.cpu_ms_per_msample.and_then(|ms| ms.scaled(1e-3)), Unit::SECONDS)),
        linked(estimate(point.over_first, Unit::TIMES)),
        linked(count(point.counted as u64)),
        linked(count(point.clean as u64)),
        Cell::text(passed),
    ])
}
