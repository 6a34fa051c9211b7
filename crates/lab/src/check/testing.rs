//! Points and rounds for tests of the verdict.

use std::collections::BTreeMap;

use super::{LostByPlace, Mode, RatePoint, RateRound, RoundState, WireFormat};
use crate::check::rates;

/// A clean round of a second.
pub(super) fn round() -> RateRound {
    RateRound {
        round_id: 1,
        state: RoundState::Valid,
        why: None,
        clean: true,
        own_clean: true,
        aside_share: 0.0,
        aside_faults: 0,
        duration_s: 1.0,
        rx_lost_share: 0.0,
        tx_lost_share: 0.0,
        rx_samples: 1_000_000,
        rx_lost_samples: 0,
        tx_samples: 1_000_000,
        tx_lost_samples: 0,
        events: BTreeMap::new(),
        lost_by_place: LostByPlace::default(),
        cpu_host: 0.3,
        busiest_thread: None,
        reader_pause_max_ms: None,
        backlog: None,
        reader_waits_share: None,
        receive_buffer_bytes: None,
        machine_busy_share: None,
        emulator_lag_max_us: Some(80.0),
        stops_ms: None,
        rx_holds_ms: None,
        tx_holds_ms: None,
        reference_locked: Some(true),
    }
}

/// A point made of rounds, its figures computed as for a real one.
pub(super) fn point(mode: Mode, rate_sps: f64, rounds: Vec<RateRound>) -> RatePoint {
    rates::point(mode, WireFormat::Sc16, rate_sps, rounds, None)
}
