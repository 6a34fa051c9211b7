//! What tests write into a store.

use takt_lab::store::{NewRound, Record, RoundState};

/// The first attempt at a round of the first point, which counts.
pub fn round(block: u32, record: Record) -> NewRound {
    NewRound {
        point: 0,
        block,
        attempt: 0,
        state: RoundState::Valid,
        why: None,
        started: "2026-11-21T10:04:12Z".into(),
        took_s: 2.5,
        record: Some(record),
    }
}
