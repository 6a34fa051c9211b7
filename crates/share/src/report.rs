//! Counts of a shared front end.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use takt_emulator::emulate::Datagrams;
use takt_emulator::n200::N200Report;

use crate::{AnalogPolicy, Band};

/// Counts of the sum of all transmitters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumReport {
    /// Wide samples that were to leave.
    pub samples: u64,
    /// Samples among these beyond full scale.
    pub clipped_samples: u64,
}

/// Counts of one shared radio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedRadioReport {
    /// Its name.
    pub name: String,
    /// Address at which it listens.
    pub addr: Ipv4Addr,
    /// Its serial.
    pub serial: String,
    /// Ticks of 10 ns that its clock is ahead of the front end's; below 0: behind. Its program sets it.
    pub clock_ahead_ticks: i64,
    /// As any N200 counts.
    #[serde(flatten)]
    pub radio: N200Report,
    /// The band that it received last; `None`: it never did.
    pub band: Option<Band>,
    /// How its samples are cut out of the wide band at that rate, and why.
    pub receive_way: String,
    /// Whether all of that lies in the front end's band.
    pub in_band: bool,
    /// Samples of silence: tuned to where the front end receives nothing.
    pub outside_samples: u64,
    /// Samples of a band of which the front end receives a part.
    pub partly_samples: u64,
    /// Samples of silence: a frequency or a rate that the file does not allow.
    pub forbidden_samples: u64,
    /// Samples sent to where the front end transmits nothing.
    pub tx_outside_samples: u64,
    /// Samples muted: the file does not allow to transmit, or not there.
    pub tx_forbidden_samples: u64,
    /// Samples muted: another radio transmitted there.
    pub tx_overlapping_samples: u64,
}

/// Counts of the physical radio's streams.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FrontEndReport {
    /// Which radio: model, serial, address.
    pub radio: String,
    /// Its band at the end.
    pub band: Band,
    /// Rule for oscillator and gain.
    pub policy: AnalogPolicy,
    /// How often the oscillator was moved.
    pub moves: u64,
    /// Samples received.
    pub samples: u64,
    /// Samples that are missing.
    pub lost_samples: u64,
    /// `O`.
    pub overflows: u64,
    /// Sent: sums, clipped.
    pub sum: SumReport,
    /// Samples that the radio had no room for.
    pub unsent_samples: u64,
    /// `U`.
    pub underflows: u64,
    /// `L`.
    pub late: u64,
    /// `S`.
    pub sequence_errors: u64,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShareReport {
    /// How long it was shared, in seconds of this host.
    pub duration_s: f64,
    /// Delay of every sample sent, µs.
    pub latency_us: f64,
    /// Share of the time in which the only thread did not wait.
    pub busy: f64,
    /// The physical radio.
    pub front_end: FrontEndReport,
    /// The radios that programs saw; those that were removed come last.
    pub radios: Vec<SharedRadioSummary>,
}

/// A shared radio, and its ports.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedRadioSummary {
    /// Its counts.
    #[serde(flatten)]
    pub shared: SharedRadioReport,
    /// Its ports.
    pub datagrams: Datagrams,
    /// Datagrams that this host's send buffers had no room for.
    pub unsent_datagrams: u64,
}
