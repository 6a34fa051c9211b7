//! Rounds that no store has seen, for tests of what reads them.

use std::collections::BTreeMap;

use super::{Record, RoundRow, RoundState};

/// The first attempt at a round of the only point, which counts.
#[must_use]
pub fn round(block: u32, record: Record) -> RoundRow {
    RoundRow {
        id: 1,
        point: 0,
        part: String::new(),
        factors: BTreeMap::new(),
        block,
        attempt: 0,
        state: RoundState::Valid,
        why: None,
        started: String::new(),
        took_s: 1.0,
        record: Some(record),
    }
}
