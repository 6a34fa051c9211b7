//! Measurements, point by point and round by round.
//!
//! A point has all of its `rounds`, `counted` of which count; `skipped` says why none was run, if none was. A round has
//! its row in the store (`round_id`), its `state`, and `why` it does not count, if it does not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_emulator::drive::wall::{Spans, SpansBy};
use takt_host::core_watch::Watched;
use takt_load::rate::{Backlog, Format, Mode};
use takt_stats::Estimate;

use crate::check::StopSeen;
use takt_lab::store::RoundState;

/// Datagrams lost, by where they were lost. `None`: this place could not be looked at, which is not 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostByPlace {
    /// Never left the sender: its buffer or interface was full.
    pub sender: Option<u64>,
    /// Between the two.
    pub path: Option<u64>,
    /// The receiver's socket buffer.
    pub receive_buffer: Option<u64>,
    /// The receiving program.
    pub application: Option<u64>,
    /// The radio itself dropped them (overflow).
    pub radio: Option<u64>,
    /// Lost, and no counter says where.
    pub unplaced: u64,
}

/// One datagram size in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpPoint {
    pub payload_bytes: u32,
    /// `to_host`, `from_host`.
    pub direction: String,
    /// Datagrams a second that arrived.
    pub datagrams_per_s: Option<Estimate>,
    /// Payload bits a second that arrived.
    pub throughput_bps: Option<Estimate>,
    /// Share of the sent that did not arrive, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// CPU time of both ends for one datagram that arrived, ns.
    pub cpu_ns_per_datagram: Option<Estimate>,
    pub rounds: Vec<UdpRound>,
    pub skipped: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpRound {
    pub round_id: i64,
    pub state: RoundState,
    pub why: Option<String>,
    pub datagrams_per_s: f64,
    pub throughput_bps: f64,
    pub sent_datagrams: u64,
    pub lost_datagrams: u64,
    pub lost_by_place: LostByPlace,
    pub cpu_ns_per_datagram: Option<f64>,
    /// Jitter, RFC 3550, µs.
    pub jitter_us: Option<f64>,
    /// One-way latency, µs: 50 %.
    pub latency_p50_us: Option<f64>,
    pub latency_p99_9_us: Option<f64>,
}

/// One rate in one mode and format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatePoint {
    pub mode: Mode,
    pub format: Format,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    pub counted: usize,
    /// Rounds that count and in which nothing at all went wrong.
    pub clean: usize,
    /// Upper end of the 95 % interval of the share of unclean rounds, 0 to 1; 1 with no round.
    pub unclean_share_upper: f64,
    /// Share of samples lost on receive, 0 to 1.
    pub rx_lost_share: Option<Estimate>,
    /// Share of samples the radio did not get in time, 0 to 1.
    pub tx_lost_share: Option<Estimate>,
    /// CPU seconds of the host side a second.
    pub cpu_host: Option<Estimate>,
    /// Busy share of the host's busiest thread, 0 to 1 (1 = a whole core).
    pub busiest_thread: Option<Estimate>,
    pub rounds: Vec<RateRound>,
    pub skipped: Option<String>,
}

/// A share of time that is excluded, by who held the radio's thread up, as far as that knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ExcludedBy {
    /// The machine stood still.
    pub machine: f64,
    /// Another thread of its host, or a soft interrupt, had its core.
    pub host: f64,
    /// It had too much work.
    pub own: f64,
    pub not_known: f64,
}

impl ExcludedBy {
    /// Divides a share that is excluded, by how long the spans were.
    #[must_use]
    pub fn of(share: f64, spans: &SpansBy) -> ExcludedBy {
        let SpansBy { machine, host, own, not_known } = spans;
        let all_ns: u64 = [machine, host, own, not_known].iter().map(|sum| sum.ns).sum();
        let part = |sum: &Spans| if all_ns == 0 { 0.0 } else { share * sum.ns as f64 / all_ns as f64 };
        let not_known = if all_ns == 0 { share } else { part(not_known) };
        ExcludedBy { machine: part(machine), host: part(host), own: part(own), not_known }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RateRound {
    pub round_id: i64,
    pub state: RoundState,
    pub why: Option<String>,
    /// Nothing at all went wrong.
    pub clean: bool,
    /// Nothing went wrong but what may be the doing of a radio that was late itself.
    #[serde(default)] // records older than this key
    pub own_clean: bool,
    /// Why the round is not known to be clean though nothing was seen to go wrong: the limits of the radio's driver.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_shown: Option<String>,
    /// Share of the measured part that is excluded, since the radio was late itself, 0 to 1.
    #[serde(default)]
    pub excluded_share: f64,
    /// That share by who held the radio up.
    #[serde(default)]
    pub excluded_by: ExcludedBy,
    /// Faults in what is excluded.
    #[serde(default)]
    pub excluded_faults: u64,
    /// Measured time, seconds, without the warm-up.
    pub duration_s: f64,
    /// Share of the samples the radio sent in that time, 0 to 1; `None`: its driver does not show it.
    pub rx_lost_share: Option<f64>,
    /// Share of the samples the radio ought to have got in that time, 0 to 1; `None`: its driver does not report it.
    pub tx_lost_share: Option<f64>,
    pub rx_samples: u64,
    /// Samples lost on receive (from time stamps); `None`: there are no time stamps to tell.
    pub rx_lost_samples: Option<u64>,
    pub tx_samples: u64,
    /// Samples the radio had to do without or threw away, if it reports them; `None`: its driver reports nothing.
    pub tx_lost_samples: Option<u64>,
    /// Events by UHD's letter: `O`, `U`, `L`, `S`, `D`, and `T` for a time-out. All six are always there. `None`: the driver
    /// of the radio does not tell.
    pub events: BTreeMap<String, Option<u64>>,
    pub lost_by_place: LostByPlace,
    pub cpu_host: f64,
    /// Busy share of the busiest thread, with its name.
    pub busiest_thread: Option<(String, f64)>,
    /// Longest time between two reads of the receiving thread, ms; `None`: nothing was received, or not measured.
    pub reader_pause_max_ms: Option<f64>,
    /// How far the reader was behind the radio; `None`: nothing was received.
    #[serde(default)] // records older than this key
    pub backlog: Option<Backlog>,
    /// Share of the measured time in which the receiving thread was ready to run and had no CPU, 0 to 1; `None`: nothing was
    /// received, or the kernel does not say.
    #[serde(default)] // records older than this key
    pub reader_waits_share: Option<f64>,
    /// Receive buffer that the kernel granted the socket, bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// Busy share of all the machine's CPUs, 0 to 1.
    pub machine_busy_share: Option<f64>,
    /// The emulator's own lag, largest, µs; `None` with a real radio.
    pub emulator_lag_max_us: Option<f64>,
    /// Each stop of this machine that was seen meanwhile; `None` with a radio that does not stop with it.
    #[serde(default)] // records older than this key
    pub stops: Option<Vec<StopSeen>>,
    /// Which cores of the host side were looked at for stops, and how well; its stops are among the others.
    #[serde(default)] // as above
    pub watched: Option<Watched>,
    /// How much of this stream what is in between can hold, ms: the receive buffer of this host.
    #[serde(default)]
    pub rx_holds_ms: Option<f64>,
    /// The same of what is sent: the radio's own buffer.
    #[serde(default)]
    pub tx_holds_ms: Option<f64>,
    /// Whether the radio's clock followed its reference; `None`: not looked at.
    #[serde(default)] // records older than this key
    pub reference_locked: Option<bool>,
    /// Seconds of the radio in a second of this host; `None`: hardware, which does not say.
    #[serde(default)] // records older than this key
    pub radio_speed: Option<f64>,
}

/// One delay between reception and answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripPoint {
    /// The answer was timed this long after the samples it answers, µs.
    pub delay_us: f64,
    /// Rate of both directions, samples a second.
    pub rate_sps: f64,
    pub late_share: Option<Estimate>,
    pub rounds: Vec<RoundTripRound>,
    /// Time from the air to the answer at the radio: (µs, share of answers up to it), ascending; all counted rounds.
    pub ecdf_us: Vec<(f64, f64)>,
    pub skipped: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripRound {
    pub round_id: i64,
    pub state: RoundState,
    pub why: Option<String>,
    /// Answers that were due.
    pub answers: u64,
    /// Answers among them not in time: those that the radio called late, and those that were lost.
    pub late: u64,
    /// Answers among those lost on the way, broken, or not given since what they answer was lost.
    #[serde(default)] // records older than this key
    pub lost: u64,
    /// Share of the round's answers that say nothing about this host, since takt's own radio was late between the samples and
    /// the time the answer was due, 0 to 1.
    #[serde(default)] // records older than this key
    pub excluded_share: f64,
    /// Answers among those that were not in time.
    #[serde(default)] // records older than this key
    pub excluded_late: u64,
    /// Time from the air to the answer, µs: 50 %.
    pub p50_us: f64,
    pub p99_us: f64,
    pub p99_9_us: f64,
    pub max_us: f64,
}

impl RoundTripRound {
    /// Share of the answers due that were not in time, 0 to 1; 1 if none was due, since then nothing came.
    #[must_use]
    pub fn late_share(&self) -> f64 {
        if self.answers == 0 { 1.0 } else { self.late as f64 / self.answers as f64 }
    }

    /// Answers that were not in time, and not for their radio's lateness.
    #[must_use]
    pub fn own_late(&self) -> u64 {
        self.late.saturating_sub(self.excluded_late)
    }
}

/// One slot duration of a waveform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaveformPoint {
    /// The waveform: `bpsk`, or a file.
    pub waveform: String,
    /// Packets of its source: `5M/s`, items a slot, or `as-written`.
    pub packet: String,
    pub slot_us: f64,
    /// Workers, each on a core of its own.
    pub workers: usize,
    pub counted: usize,
    /// Rounds among them without a missed slot.
    pub held: usize,
    /// Upper end of the 95 % interval of the share of rounds that miss one, 0 to 1; 1 with no round.
    pub missed_share_upper: f64,
    /// Share of a slot that 99.9 % of slots use, late release and work together; more than 1 is possible.
    pub used_share: Option<Estimate>,
    pub rounds: Vec<WaveformRound>,
    pub skipped: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WaveformRound {
    pub round_id: i64,
    pub state: RoundState,
    pub why: Option<String>,
    /// Slots that every component went through.
    pub slots: u64,
    /// Slots of components that were missed, late ends included.
    pub misses: u64,
    /// Packets that were broken or dropped: the waveform lost them, though every component kept its slots.
    #[serde(default)] // records older than this key
    pub lost_packets: u64,
    pub used_share: Option<f64>,
    /// From release to the end of the work in 99.9 % of slots, fullest worker, µs.
    pub busy_p99_9_us: Option<f64>,
    /// From edge to release in 99.9 % of slots, µs.
    pub lateness_p99_9_us: Option<f64>,
    pub lateness_max_us: Option<f64>,
    /// The slowest: a component, or `release` for the host's late release.
    pub slowest: Option<String>,
    /// Its time in 99.9 % of slots, µs.
    pub slowest_us: Option<f64>,
    /// Components blamed for misses, most first; of the misses remembered one by one.
    pub blamed: Vec<(String, u64)>,
    /// Whether the workers had real-time priority.
    pub real_time: bool,
}
