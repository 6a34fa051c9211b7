//! What a radio says of itself, for tests.

use takt_emulator::drive::wall::LateSpan;
use takt_testbed::{Lateness, OwnLag, RadioLateness};

/// One radio that was late in these spans, and whose clock is so far ahead of the monotonic one.
#[must_use]
pub fn lateness(late_spans: Vec<LateSpan>, clock_offset_ticks: u64) -> Lateness {
    let lag = OwnLag { late_spans, ..OwnLag::default() };
    Lateness {
        devices: vec![RadioLateness { lag, clock_offset_ticks, ..RadioLateness::default() }],
        ..Lateness::default()
    }
}
