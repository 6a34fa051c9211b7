//! The verdict on the host.

use serde::{Deserialize, Serialize};
use takt_page::ReportAnswer;
use takt_stats::Estimate;

use super::{FixKind, Format, Mode, Need};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Over all needs: `holds`, `fails`, `unknown`.
    pub answer: CheckAnswer,
    pub needs: Vec<NeedVerdict>,
    pub highest: Vec<HighestClean>,
    pub limits: Vec<Limit>,
    /// Which slot a waveform is held at; `None` where none was run. No need is about it, so it changes no answer.
    #[serde(default)]
    pub waveform: Option<WaveformVerdict>,
    /// Changes to make, largest gain first.
    pub fixes: Vec<Fix>,
    /// Why the answer is what it is, a sentence each.
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    /// Further findings from the figures, a sentence each.
    #[serde(default)] // outcomes older than this key
    pub also: Vec<String>,
    /// Limits of what it says, a sentence each.
    #[serde(rename = "does_not_say")]
    pub caveats: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaveformVerdict {
    pub waveform: String,
    pub packet: String,
    /// The shortest slot at and above which every round that counts missed nothing, µs.
    pub shortest_held_us: Option<f64>,
    pub counted: usize,
    /// Upper end of the 95 % interval of the share of rounds that miss a slot there.
    pub missed_share_upper: f64,
    /// Share of it that 99.9 % of slots leave.
    pub margin: Option<Estimate>,
    /// The longest slot that was missed in a round that counts, µs.
    pub first_failing_us: Option<f64>,
    /// The slowest component of the shortest slot held, and its time in 99.9 % of slots, µs; `release` is the host's
    /// late release.
    pub slowest: Option<(String, f64)>,
    /// The component blamed for most misses of the first failing slot, and for how many.
    pub blamed: Option<(String, u64)>,
    /// Whether the workers had real-time priority in all rounds.
    pub real_time: bool,
    pub why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckAnswer {
    /// Clean in every counted round, and no stop of this machine was longer than the buffers hold.
    Holds,
    /// A radio would have lost samples, by this host's own doing.
    Fails,
    /// Too few rounds count, or samples were lost only while the emulator was late.
    Unknown,
}

impl From<CheckAnswer> for ReportAnswer {
    fn from(answer: CheckAnswer) -> Self {
        match answer {
            CheckAnswer::Holds => Self::Yes,
            CheckAnswer::Fails => Self::No,
            CheckAnswer::Unknown => Self::Unknown,
        }
    }
}

impl Verdict {
    /// Whether stops of this machine decided about a need: then its rates were clean only since the radio stood still as well.
    #[must_use]
    pub fn rests_on_stops(&self) -> bool {
        self.needs.iter().any(|need| need.decided_by == Ground::Stops)
    }
}

/// The ground of an answer about a need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// The rounds at the needed rate.
    #[default] // outcomes older than this key
    Rounds,
    /// Rounds of a stream that is part of the needed one: one direction of it, or a lower rate.
    PartOfStream,
    /// This machine stood still for longer than the buffers hold. A radio would have gone on.
    Stops,
    /// This host was too busy for the check to be run.
    BusyHost,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NeedVerdict {
    pub need: Need,
    pub answer: CheckAnswer,
    /// The ground that decided.
    #[serde(default)]
    pub decided_by: Ground,
    pub counted: usize,
    /// Clean rounds among them.
    pub clean: usize,
    /// Share of samples lost, both directions, where it fails.
    pub lost_share: Option<Estimate>,
    pub why: String,
}

/// How far a mode goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HighestClean {
    pub mode: Mode,
    pub format: Format,
    /// Highest rate at and below which every round that counts was clean; `None` if not even the lowest judged one.
    pub rate_sps: Option<f64>,
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

/// Place of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The sending thread could not make datagrams fast enough.
    Sender,
    KernelPath,
    ReceiveBuffer,
    /// The thread that reads was not there in time.
    ReaderThread,
    /// The machine has no CPU left.
    Cpu,
    /// The radio, or the network behind the host's interface.
    Radio,
    /// The emulator was late itself: the verdict leaves the host open.
    Emulator,
    /// No counter tells.
    Unknown,
}

/// The limit of a mode.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    pub mode: Mode,
    pub format: Format,
    /// The rate it was seen at.
    pub rate_sps: f64,
    pub layer: Layer,
    /// One sentence with the figures it rests on.
    pub evidence: String,
}

/// A change that mends something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// The doctor's rule, if it is one.
    pub id: Option<String>,
    /// The change to make, one sentence.
    pub what: String,
    /// The command or setting.
    pub how: String,
    pub kind: FixKind,
    /// The expected gain, in words; says whether it was measured here.
    pub gain: String,
    /// Rank by expected gain: samples a second it would free, for the order only.
    pub gain_sps: f64,
}
