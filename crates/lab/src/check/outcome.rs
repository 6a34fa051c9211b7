//! The answer of a check, as data: what `--json` prints and what every report is a function of.
//!
//! Keys are stable and carry their units. Every number here leads back to a round in the store: `round_id`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_stats::Estimate;

use crate::store::RoundState;

/// Version of this document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// Everything a check found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// Name of the run in the store: `2026-11-21T100412-check`.
    pub run: String,
    /// The question of the experiment file.
    pub question: String,
    /// When the first round began, RFC 3339, UTC.
    pub started: String,
    /// Seconds from the first round to the last, pauses between a run and its resumption left out.
    pub duration_s: f64,
    /// `quick` or `full`.
    pub depth: String,
    /// Whether every planned round was run; an interrupted check judges what it has.
    pub complete: bool,
    /// Version of takt, with its commit where known.
    pub takt_version: String,
    /// The machine.
    pub host: HostFacts,
    /// Where the radio was and how it was reached.
    pub setup: Setup,
    /// What the doctor saw before the first round.
    pub doctor: Vec<DoctorFinding>,
    /// The packet path, by datagram size and direction.
    pub udp: Vec<UdpPoint>,
    /// The radio, by mode, format and rate, rates ascending.
    pub rates: Vec<RatePoint>,
    /// Answers in time, by delay.
    pub round_trips: Vec<RoundTripPoint>,
    /// A waveform on the beat, by slot duration, longest first.
    #[serde(default)]
    pub waveforms: Vec<WaveformPoint>,
    /// How many rounds went where.
    pub rounds: RoundsSummary,
    /// What it all says.
    pub verdict: Verdict,
    /// What this depth left out, a sentence each.
    pub left_out: Vec<String>,
}

/// The machine, as far as the figures depend on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    /// Its name.
    pub hostname: String,
    /// `Linux 6.18.2`.
    pub kernel: String,
    /// Processor model.
    pub cpu_model: String,
    /// Logical cores this process may use.
    pub cores: usize,
    /// Main memory, bytes.
    pub memory_bytes: u64,
    /// `none`, `kvm`, `docker` ...; `None` if it could not be seen.
    pub virtualisation: Option<String>,
    /// Everything else that was read, for the appendix: name to value.
    pub more: BTreeMap<String, String>,
}

/// Where the radio was and how it was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Which radio.
    pub radio: RadioSetup,
    /// `veth` (two network namespaces), `loopback`, or `network` (`--addr`).
    pub path: String,
    /// Environment of the host side: `native`.
    pub environment: String,
    /// Packet engine of the host side: `mmsg`, `socket`.
    pub engine: String,
    /// Cores of the host side.
    pub host_cores: Vec<usize>,
    /// Cores of the emulator; empty with a real radio.
    pub radio_cores: Vec<usize>,
    /// What a reader must know to read the figures right: "the path was loopback instead of a veth pair: ...".
    pub notes: Vec<String>,
}

/// Which radio was used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum RadioSetup {
    /// A software radio that this check started on this machine.
    Emulated {
        /// `n200`.
        model: String,
    },
    /// A radio, real or software, at an address given with `--addr`.
    Given {
        /// `n200`.
        model: String,
        /// Its address.
        addr: String,
        /// Its serial number, if it told one.
        serial: Option<String>,
    },
}

/// One doctor rule and what it saw.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DoctorFinding {
    /// The rule: `socket-buffer-small`.
    pub id: String,
    /// What it is about, in a few words.
    #[serde(default)]
    pub title: String,
    /// `fine`, `stands`, `notice` (not in takt's way, but in that of other programs), `not_visible`.
    pub finding: String,
    /// What was seen, or why it could not be.
    pub seen: String,
    /// What it should be, where it stands in the way.
    pub wanted: Option<String>,
    /// Why it matters, one sentence.
    pub mechanism: String,
    /// What it costs, as measured on this host just before the first round.
    #[serde(default)]
    pub cost: Option<String>,
    /// The command that mends it, or where only a person can, what to do.
    pub fix: Option<String>,
    /// Who may apply that.
    #[serde(default)]
    pub fix_kind: Option<FixKind>,
}

/// Which way samples flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Radio to host.
    Rx,
    /// Host to radio.
    Tx,
    /// Both at once, at the same rate.
    Duplex,
}

/// Sample format on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// 16 bits each for I and Q.
    Sc16,
    /// 8 bits each.
    Sc8,
}

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
    /// Payload of a datagram, bytes.
    pub payload_bytes: u32,
    /// `to_host`, `from_host`.
    pub direction: String,
    /// Datagrams a second that arrived.
    pub datagrams_per_s: Option<Estimate>,
    /// Payload bits a second that arrived.
    pub throughput_bps: Option<Estimate>,
    /// Share of the sent that did not arrive, 0 to 1.
    pub lost_share: Option<Estimate>,
    /// CPU time of both ends for one datagram, ns.
    pub cpu_ns_per_datagram: Option<Estimate>,
    /// Every round, also those that do not count.
    pub rounds: Vec<UdpRound>,
    /// Why it was not run, if it was not.
    pub skipped: Option<String>,
}

/// One round of a datagram size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpRound {
    /// Row in the store.
    pub round_id: i64,
    /// Whether it counts.
    pub state: RoundState,
    /// Why not, if not.
    pub why: Option<String>,
    /// Datagrams a second that arrived.
    pub datagrams_per_s: f64,
    /// Payload bits a second that arrived.
    pub throughput_bps: f64,
    /// Datagrams sent.
    pub sent_datagrams: u64,
    /// Datagrams that did not arrive.
    pub lost_datagrams: u64,
    /// Where they went.
    pub lost_by_place: LostByPlace,
    /// CPU time of both ends for one datagram that arrived, ns.
    pub cpu_ns_per_datagram: Option<f64>,
    /// Jitter, RFC 3550, µs.
    pub jitter_us: Option<f64>,
    /// One-way latency, µs: 50 %.
    pub latency_p50_us: Option<f64>,
    /// One-way latency, µs: 99.9 %.
    pub latency_p99_9_us: Option<f64>,
}

/// One rate in one mode and format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RatePoint {
    /// Which way samples flow.
    pub mode: Mode,
    /// Format on the wire.
    pub format: Format,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// Rounds that count.
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
    /// Every round, also those that do not count.
    pub rounds: Vec<RateRound>,
    /// Why it was not run, if it was not.
    pub skipped: Option<String>,
}

/// One round of a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RateRound {
    /// Row in the store.
    pub round_id: i64,
    /// Whether it counts.
    pub state: RoundState,
    /// Why not, if not.
    pub why: Option<String>,
    /// Nothing at all went wrong.
    pub clean: bool,
    /// What was measured, seconds; the warm-up is not in it.
    pub duration_s: f64,
    /// Of the samples the radio sent in that time, 0 to 1.
    pub rx_lost_share: f64,
    /// Of the samples the radio ought to have got in that time, 0 to 1.
    pub tx_lost_share: f64,
    /// Samples received.
    pub rx_samples: u64,
    /// Samples lost on receive (from time stamps).
    pub rx_lost_samples: u64,
    /// Samples sent.
    pub tx_samples: u64,
    /// Samples the radio had to do without or threw away, if it told.
    pub tx_lost_samples: u64,
    /// Events by UHD's letter: `O`, `U`, `L`, `S`, `D`, and `T` for a time-out. All six are always there.
    pub events: BTreeMap<String, u64>,
    /// Where lost datagrams went.
    pub lost_by_place: LostByPlace,
    /// CPU seconds of the host side a second.
    pub cpu_host: f64,
    /// Busy share of the busiest thread, with its name.
    pub busiest_thread: Option<(String, f64)>,
    /// Longest time between two reads of the receiving thread, ms; `None`: nothing was received, or not measured.
    pub reader_pause_max_ms: Option<f64>,
    /// What the kernel granted the receiving socket, bytes.
    pub receive_buffer_bytes: Option<u64>,
    /// Busy share of all the machine's CPUs, 0 to 1.
    pub machine_busy_share: Option<f64>,
    /// The emulator's own lag, largest, µs; `None` with a real radio.
    pub emulator_lag_max_us: Option<f64>,
}

/// One delay between reception and answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripPoint {
    /// The answer was timed this long after the samples it answers, µs.
    pub delay_us: f64,
    /// Rate of both directions, samples a second.
    pub rate_sps: f64,
    /// Share of late answers, 0 to 1.
    pub late_share: Option<Estimate>,
    /// Every round.
    pub rounds: Vec<RoundTripRound>,
    /// Time from the air to the answer at the radio: (µs, share of answers up to it), ascending; all counted rounds.
    pub ecdf_us: Vec<(f64, f64)>,
    /// Why it was not run, if it was not.
    pub skipped: Option<String>,
}

/// One round of a delay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTripRound {
    /// Row in the store.
    pub round_id: i64,
    /// Whether it counts.
    pub state: RoundState,
    /// Why not, if not.
    pub why: Option<String>,
    /// Answers given.
    pub answers: u64,
    /// Answers the radio called late.
    pub late: u64,
    /// Time from the air to the answer, µs: 50 %.
    pub p50_us: f64,
    /// 99 %.
    pub p99_us: f64,
    /// 99.9 %.
    pub p99_9_us: f64,
    /// Largest.
    pub max_us: f64,
}

/// One slot duration of a waveform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaveformPoint {
    /// The waveform: `bpsk`, or a file.
    pub waveform: String,
    /// What its source makes: `5M/s`, items a slot, or `as-written`.
    pub packet: String,
    /// Length of a slot, µs.
    pub slot_us: f64,
    /// Workers, each on a core of its own.
    pub workers: usize,
    /// Rounds that count.
    pub counted: usize,
    /// Of them without a missed slot.
    pub held: usize,
    /// Upper end of the 95 % interval of the share of rounds that miss one, 0 to 1; 1 with no round.
    pub missed_share_upper: f64,
    /// Share of a slot that 99.9 % of slots use, late release and work together; more than 1 is possible.
    pub used_share: Option<Estimate>,
    /// Every round, also those that do not count.
    pub rounds: Vec<WaveformRound>,
    /// Why it was not run, if it was not.
    pub skipped: Option<String>,
}

/// One round of a slot duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaveformRound {
    /// Row in the store.
    pub round_id: i64,
    /// Whether it counts.
    pub state: RoundState,
    /// Why not, if not.
    pub why: Option<String>,
    /// Slots that every component went through.
    pub slots: u64,
    /// Slots of components that were missed, late ends included.
    pub misses: u64,
    /// Share of a slot that 99.9 % of slots use.
    pub used_share: Option<f64>,
    /// From release to the end of the work in 99.9 % of slots, fullest worker, µs.
    pub busy_p99_9_us: Option<f64>,
    /// From edge to release in 99.9 % of slots, µs.
    pub lateness_p99_9_us: Option<f64>,
    /// The same, largest.
    pub lateness_max_us: Option<f64>,
    /// Who took most: a component, or `release` for the host's late release.
    pub slowest: Option<String>,
    /// What that took in 99.9 % of slots, µs.
    pub slowest_us: Option<f64>,
    /// Who misses are laid to, most first; of the misses remembered one by one.
    pub blamed: Vec<(String, u64)>,
    /// Whether the workers had real-time priority.
    pub real_time: bool,
}

/// How many rounds went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsSummary {
    /// Points times rounds.
    pub planned: usize,
    /// Run and counted.
    pub valid: usize,
    /// Run, disturbed by other load, not counted.
    pub disturbed: usize,
    /// Run, emulator late, not counted.
    pub emulator_late: usize,
    /// Could not be run.
    pub failed: usize,
    /// Not run, since a lower rate had failed clearly.
    pub skipped: usize,
    /// Run again in place of one that did not count.
    pub repeated: usize,
}

/// What it all says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Over all needs: `holds`, `fails`, `unknown`.
    pub answer: Answer,
    /// Each needed rate.
    pub needs: Vec<NeedVerdict>,
    /// The highest clean rate of each mode and format.
    pub highest: Vec<HighestClean>,
    /// What limits each mode that is limited.
    pub limits: Vec<Limit>,
    /// Which slot a waveform is held at; `None` where none was run. No need is about it, so it changes no answer.
    #[serde(default)]
    pub waveform: Option<WaveformVerdict>,
    /// What to change, largest gain first.
    pub fixes: Vec<Fix>,
    /// The answer in words, a sentence each.
    pub says: Vec<String>,
    /// What it does not say, a sentence each.
    pub does_not_say: Vec<String>,
}

/// Which slot a waveform is held at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaveformVerdict {
    /// The waveform.
    pub waveform: String,
    /// What its source makes.
    pub packet: String,
    /// The shortest slot at and above which every round that counts missed nothing, µs.
    pub shortest_held_us: Option<f64>,
    /// Rounds that count there.
    pub counted: usize,
    /// Upper end of the 95 % interval of the share of rounds that miss a slot there.
    pub missed_share_upper: f64,
    /// What 99.9 % of slots leave of it, as a share.
    pub margin: Option<Estimate>,
    /// The longest slot that was missed in a round that counts, µs.
    pub first_failing_us: Option<f64>,
    /// Who takes most of the shortest slot held, and how much in 99.9 % of slots, µs; `release` is the host's late release.
    pub slowest: Option<(String, f64)>,
    /// Who most misses of the first failing slot are laid to, and how many.
    pub blamed: Option<(String, u64)>,
    /// Whether the workers had real-time priority in all rounds.
    pub real_time: bool,
    /// All of it, one sentence.
    pub why: String,
}

/// Yes, no, or not to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Clean in every counted round.
    Holds,
    /// Not clean in every counted round.
    Fails,
    /// The emulator was late itself, or the machine was disturbed, in too many rounds to tell.
    Unknown,
}

/// A rate somebody needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// `n200`.
    pub model: String,
    /// Which way samples flow.
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// Format on the wire.
    pub format: Format,
}

/// Whether a need is met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeedVerdict {
    /// What is needed.
    pub need: Need,
    /// Met or not.
    pub answer: Answer,
    /// Rounds that count.
    pub counted: usize,
    /// Of them clean.
    pub clean: usize,
    /// Share of samples lost, both directions, where it fails.
    pub lost_share: Option<Estimate>,
    /// Why, one sentence.
    pub why: String,
}

/// How far a mode goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HighestClean {
    /// Which way samples flow.
    pub mode: Mode,
    /// Format on the wire.
    pub format: Format,
    /// Highest rate at and below which every round that counts was clean; `None` if not even the lowest judged one.
    pub rate_sps: Option<f64>,
    /// Rounds that count at that rate.
    pub counted: usize,
    /// Upper end of the 95 % interval of the share of unclean rounds at that rate.
    pub unclean_share_upper: f64,
    /// Lowest rate that was not clean, if any was measured.
    pub first_failing_sps: Option<f64>,
    /// Whether there is a rate above it, and below the first that failed, of which no round counts.
    pub open_above: bool,
    /// A core divided by the busiest thread's share of it at that rate: how much faster until a core is full.
    pub headroom: Option<Estimate>,
}

/// Where a limit lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The sending thread could not make datagrams fast enough.
    Sender,
    /// The kernel's path between two sockets.
    KernelPath,
    /// The receive buffer of the host's socket.
    ReceiveBuffer,
    /// The thread that reads was not there in time.
    ReaderThread,
    /// The machine has no CPU left.
    Cpu,
    /// The radio, or the network behind the host's interface.
    Radio,
    /// The emulator was late itself: nothing is said about the host.
    Emulator,
    /// No counter tells.
    Unknown,
}

/// What limits a mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// Which way samples flow.
    pub mode: Mode,
    /// Format on the wire.
    pub format: Format,
    /// The rate it was seen at.
    pub rate_sps: f64,
    /// Where it lies.
    pub layer: Layer,
    /// One sentence with the figures it rests on.
    pub evidence: String,
}

/// A change that mends something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// The doctor's rule, if it is one.
    pub id: Option<String>,
    /// What to change, one sentence.
    pub what: String,
    /// The command or setting.
    pub how: String,
    /// Who may apply it.
    pub kind: FixKind,
    /// What it is expected to give, in words; says whether it was measured here.
    pub gain: String,
    /// Rank by expected gain: samples a second it would free, for the order only.
    pub gain_sps: f64,
}

/// Who may apply a fix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixKind {
    /// `takt doctor --fix` applies and undoes it.
    Safe,
    /// The same, and somebody else may pay for it.
    Consent,
    /// Only a person can.
    Advice,
}
