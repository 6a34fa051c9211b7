//! What `takt emulate` says when it ends: its JSON document.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use takt_packet::Counters;

use crate::drive::wall::LagReport;
use crate::n200::N200Report;
use crate::signals::SignalReport;

/// All radios of one emulator.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// `n200`.
    pub model: String,
    /// How long they ran, seconds.
    pub duration_s: f64,
    /// How late the emulator itself was, all radios together.
    pub lag: LagReport,
    /// Each radio.
    pub devices: Vec<DeviceSummary>,
}

/// One radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary {
    /// Where it listened.
    pub addr: Ipv4Addr,
    /// Its serial number.
    pub serial: String,
    /// Whether it also heard the broadcasts by which hosts search.
    pub hears_broadcast: bool,
    /// What it counted.
    #[serde(flatten)]
    pub radio: N200Report,
    /// What became of its signals.
    pub signals: SignalReport,
    /// Faults injected, by kind and stream.
    pub faults: BTreeMap<String, u64>,
    /// How late its driver was.
    pub lag: LagReport,
    /// What its clock shows is the monotonic clock of its machine, in ticks of 10 ns, plus this, modulo 2^64.
    #[serde(default)] // summaries older than this key
    pub clock_offset_ticks: u64,
    /// What its packet engine counted.
    pub datagrams: Datagrams,
}

/// What a packet engine counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagrams {
    /// From hosts.
    pub received: u64,
    /// To hosts.
    pub sent: u64,
    /// Lost because a receive buffer of this radio was full; `None`: the kernel does not say.
    pub receive_buffer_drops: Option<u64>,
    /// Refused by the kernel for their destination's sake.
    pub undeliverable: u64,
    /// "Port unreachable" answers.
    pub refused: u64,
}

impl From<Counters> for Datagrams {
    fn from(counters: Counters) -> Datagrams {
        Datagrams {
            received: counters.received_datagrams,
            sent: counters.sent_datagrams,
            receive_buffer_drops: counters.receive_buffer_drops,
            undeliverable: counters.undeliverable_datagrams,
            refused: counters.refusals,
        }
    }
}

impl Summary {
    pub(super) fn of(duration_s: f64, devices: Vec<DeviceSummary>) -> Summary {
        let lag = devices.iter().map(|d| &d.lag).fold(LagReport::default(), LagReport::merged);
        Summary { model: "n200".to_owned(), duration_s, lag, devices }
    }
}
