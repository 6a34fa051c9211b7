//! The report of `takt emulate` when it ends: its JSON document.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use takt_base::Speed;
use takt_live::Spectrum;
use takt_packet::Counters;

use crate::drive::wall::LagReport;
use crate::n200::{self, N200Report};
use crate::signals::SignalReport;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary<R = N200Report> {
    pub model: String,
    pub duration_s: f64,
    /// Seconds of the radios in a second of this host; of `--speed auto`, the last.
    #[serde(default = "wall")] // summaries older than this key
    pub speed: f64,
    /// How late the emulator itself was, all radios together.
    pub lag: LagReport,
    pub devices: Vec<DeviceSummary<R>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DeviceSummary<R = N200Report> {
    pub addr: Ipv4Addr,
    pub serial: String,
    /// Whether it also received the broadcasts by which hosts search.
    pub receives_broadcast: bool,
    #[serde(flatten)]
    pub radio: R,
    pub signals: SignalReport,
    /// Faults injected, by kind and stream.
    pub faults: BTreeMap<String, u64>,
    pub lag: LagReport,
    /// Ticks of its clock in a second.
    #[serde(default = "clock_of_an_n200")] // summaries older than this key
    pub clock_hz: u32,
    /// The reading of its clock less the monotonic clock of its machine in such ticks at its speed, modulo 2^64.
    #[serde(default)] // summaries older than this key
    pub clock_offset_ticks: u64,
    /// Seconds of the radio in a second of its machine.
    #[serde(default = "wall")] // summaries older than this key
    pub speed: f64,
    pub datagrams: Datagrams,
    /// The newest samples of its receivers, for who watches. No part of the document.
    #[serde(skip)]
    pub spectra: Vec<Spectrum>,
}

fn clock_of_an_n200() -> u32 {
    n200::CLOCK.hz()
}

fn wall() -> f64 {
    Speed::WALL.seconds()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Datagrams {
    pub received: u64,
    pub sent: u64,
    /// Lost because a receive buffer of this radio was full; `None`: the kernel does not say.
    pub receive_buffer_drops: Option<u64>,
    /// Refused by the kernel for their destination's sake.
    pub undeliverable: u64,
    pub refused: u64,
    /// From a source that is no other host's.
    #[serde(default)] // summaries older than this key
    pub martians: u64,
}

impl From<Counters> for Datagrams {
    fn from(counters: Counters) -> Datagrams {
        Datagrams {
            received: counters.received_datagrams,
            sent: counters.sent_datagrams,
            receive_buffer_drops: counters.receive_buffer_drops,
            undeliverable: counters.undeliverable_datagrams,
            refused: counters.refusals,
            martians: counters.martian_datagrams,
        }
    }
}

impl<R> Summary<R> {
    pub(super) fn of(model: &str, duration_s: f64, speed: Speed, devices: Vec<DeviceSummary<R>>) -> Summary<R> {
        let lag = devices.iter().map(|d| &d.lag).fold(LagReport::default(), LagReport::merged);
        Summary { model: model.to_owned(), duration_s, speed: speed.seconds(), lag, devices }
    }
}
