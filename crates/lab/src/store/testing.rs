//! Rounds that are in no store, for tests of what reads them.

use super::{Record, RoundRow};

/// The first attempt at a round of the only point, which counts.
#[must_use]
pub fn round(block: u32, record: Record) -> RoundRow {
    RoundRow { id: 1, block, took_s: 1.0, record: Some(record), ..RoundRow::default() }
}
