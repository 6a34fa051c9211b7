//! What a radio says of itself, for tests.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use takt_emulator::drive::wall::{LagReport, LateSpan};
use takt_emulator::emulate::{Datagrams, DeviceSummary, Summary};
use takt_emulator::n200::N200Report;
use takt_emulator::signals::SignalReport;

/// One radio that was late in these spans, and whose clock is so far ahead of the monotonic one.
pub(crate) fn summary(late_spans: Vec<LateSpan>, clock_offset_ticks: u64) -> Summary {
    let device = DeviceSummary {
        addr: Ipv4Addr::LOCALHOST,
        serial: String::new(),
        hears_broadcast: false,
        radio: N200Report::default(),
        signals: SignalReport::default(),
        faults: BTreeMap::new(),
        lag: LagReport { late_spans, ..LagReport::default() },
        clock_offset_ticks,
        datagrams: Datagrams::default(),
    };
    Summary { devices: vec![device], ..Summary::default() }
}
