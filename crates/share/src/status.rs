//! State of a share while it runs: noted by the streaming thread, told to a person by another.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Tick, Ticks};
use takt_emulator::n200::{CLOCK, N200Status};

use crate::counts::CountsNow;
use crate::file::{FrontEndPlan, RadioPlan};
use crate::physical::PhysicalTally;
use crate::report::SumReport;
use crate::streaming::Tally;
use crate::{AnalogPolicy, Band};

/// State of one radio, as the streaming thread copies it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RadioSnapshot {
    pub(crate) number: usize,
    pub(crate) radio: N200Status,
    /// The band that it received last.
    pub(crate) band: Option<Band>,
    pub(crate) streams: bool,
    /// How far the front end's samples must be ahead of its own.
    pub(crate) delay: Ticks,
    pub(crate) counts: CountsNow,
    /// How far its program has set its clock ahead of the front end's, modulo 2^64.
    pub(crate) clock_offset_ticks: u64,
}

/// State of all. It is made with room for all radios, so that filling it allocates nothing.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// The present of all radios.
    pub(crate) now: Tick,
    pub(crate) ran: Duration,
    pub(crate) band: Band,
    pub(crate) gain_db: Option<f64>,
    pub(crate) tally: Tally,
    pub(crate) physical: PhysicalTally,
    pub(crate) sum: SumReport,
    pub(crate) radios: Vec<RadioSnapshot>,
}

impl Snapshot {
    /// A front end that has not run.
    pub(crate) fn new(plan: &FrontEndPlan, most_radios: usize) -> Snapshot {
        Snapshot {
            now: Tick(0),
            ran: Duration::ZERO,
            band: Band { centre_hz: plan.frequency_hz, width_hz: plan.rate_sps },
            gain_db: plan.gain_db,
            tally: Tally::default(),
            physical: PhysicalTally::default(),
            sum: SumReport::default(),
            radios: Vec::with_capacity(most_radios),
        }
    }
}

/// State of a share: the answer of `takt share status`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShareStatus {
    /// Process that shares the front end.
    pub process: u32,
    /// For how long, in seconds of this host.
    pub duration_s: f64,
    /// Share of the time in which the streaming thread did not wait.
    pub busy: f64,
    /// Cores that front end and radios need, these at their highest rates, as admitted.
    pub cores_needed: f64,
    /// Cores that they may need.
    pub cores_allowed: f64,
    /// Delay of every sample sent, µs.
    pub latency_us: f64,
    /// The physical radio.
    pub front_end: FrontEndStatus,
    /// The radios that programs see.
    pub radios: Vec<RadioStatus>,
}

/// State of the physical radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FrontEndStatus {
    /// Model, serial and address of the radio.
    pub radio: String,
    /// Its band.
    pub band: Band,
    /// Gain that it was set to last, dB; `None`: takt has not set it.
    pub gain_db: Option<f64>,
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
    /// `U`.
    pub underflows: u64,
    /// `L`.
    pub late: u64,
    /// `S`.
    pub sequence_errors: u64,
    /// Sent: sums, clipped.
    pub sum: SumReport,
}

/// State of one radio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RadioStatus {
    /// Its name.
    pub name: String,
    /// Address at which it listens.
    pub addr: Ipv4Addr,
    /// Its serial.
    pub serial: String,
    /// Port of the host that uses it; `None`: nobody does.
    pub host: Option<SocketAddr>,
    /// Whether it receives at present.
    pub streams: bool,
    /// The band that its program asked for last, as wide as its rate; `None`: it has received nothing.
    pub band: Option<Band>,
    /// Part of that band which it gets: 1 within the front end's band, 0 where it is silence.
    pub received_share: Option<f64>,
    /// Part of the front end's band that it gets.
    pub band_share: Option<f64>,
    /// Radio frequency at 0 Hz of its transmitter, Hz.
    pub tx_hz: f64,
    /// Gain that its program set for reception, dB.
    pub rx_gain_db: Option<f64>,
    /// Gain that its program set for transmission, dB.
    pub tx_gain_db: Option<f64>,
    /// Gain that the front end has instead of both, dB.
    pub front_end_gain_db: Option<f64>,
    /// Delay of what it receives: by filter and transform, µs.
    pub receive_delay_us: f64,
    /// Cores that it needs at its highest rate, as admitted.
    pub cores: f64,
    /// Samples received by its program.
    pub samples: u64,
    /// `O`, of what it received.
    pub overflows: u64,
    /// `L`, of commands to receive.
    pub rx_late: u64,
    /// Samples that its program has sent.
    pub tx_samples: u64,
    /// `U`.
    pub underflows: u64,
    /// `L`, of what it sent.
    pub tx_late: u64,
    /// `S`.
    pub sequence_errors: u64,
    /// Samples of silence: tuned to where the front end receives nothing.
    pub outside_samples: u64,
    /// Samples of a band of which the front end receives a part.
    pub partly_samples: u64,
    /// Samples of silence: a frequency or a rate that it may not have.
    pub forbidden_samples: u64,
    /// Samples sent to where the front end transmits nothing.
    pub tx_outside_samples: u64,
    /// Samples muted: it may not transmit, or not there.
    pub tx_forbidden_samples: u64,
    /// Samples muted: another radio transmitted there.
    pub tx_overlapping_samples: u64,
}

impl RadioStatus {
    pub(crate) fn of(plan: &RadioPlan, cores: f64, now: &RadioSnapshot, front_end: &Snapshot) -> RadioStatus {
        let RadioSnapshot { radio, band, streams, delay, counts, .. } = *now;
        let had = band.filter(|band| plan.limits.permit(*band)).map(|band| band.common_hz(front_end.band));
        let had = had.or(band.map(|_| 0.0));
        let [first, second] = radio.rx;
        RadioStatus {
            name: plan.name.clone(),
            addr: plan.addr,
            serial: plan.serial.clone(),
            host: radio.host,
            streams,
            band,
            received_share: had.zip(band).map(|(had, band)| had / band.width_hz),
            band_share: had.map(|had| had / front_end.band.width_hz),
            tx_hz: radio.tuning.tx_hz,
            rx_gain_db: radio.tuning.rx_gain_db,
            tx_gain_db: radio.tuning.tx_gain_db,
            front_end_gain_db: front_end.gain_db,
            receive_delay_us: CLOCK.ns_of(delay) as f64 / 1e3,
            cores,
            samples: first.samples + second.samples,
            overflows: first.overflows + second.overflows,
            rx_late: first.late + second.late,
            tx_samples: radio.tx.samples,
            underflows: radio.tx.underflows,
            tx_late: radio.tx.late,
            sequence_errors: radio.tx.sequence_errors,
            outside_samples: counts.outside,
            partly_samples: counts.partly,
            forbidden_samples: counts.forbidden,
            tx_outside_samples: counts.tx_outside,
            tx_forbidden_samples: counts.tx_forbidden,
            tx_overlapping_samples: counts.tx_overlapping,
        }
    }
}
