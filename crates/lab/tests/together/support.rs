//! Records that tests write into a store.

use takt_lab::store::{NewRound, Record};

/// The first attempt at a round of the first point, which counts.
pub fn round(block: u32, record: Record) -> NewRound {
    let started = "2026-11-21T10:04:12Z".into();
    NewRound { block, started, took_s: 2.5, record: Some(record), ..NewRound::default() }
}
