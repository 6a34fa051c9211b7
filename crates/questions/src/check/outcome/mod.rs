//! The answer of a check, as data: what `--json` prints and what every report is a function of.
//!
//! Keys are stable and carry their units. Every number here leads back to a round in the store: `round_id`.

mod host;
mod points;
mod verdict;

use serde::{Deserialize, Serialize};

use super::{EnginePoint, Loaded, Stops};
use takt_lab::About;

pub use host::{DoctorFinding, RadioSetup, Setup};
pub use points::{
    ExcludedBy, LostByPlace, RatePoint, RateRound, RoundTripPoint, RoundTripRound, UdpPoint, UdpRound, WaveformPoint,
    WaveformRound,
};
pub use takt_doctor::FixKind;
pub use takt_lab::RoundsSummary;
pub use takt_lab::experiment::Need;
pub use takt_load::Model;
pub use takt_load::rate::{Format, Mode};
pub use verdict::{CheckAnswer, Fix, Ground, HighestClean, Layer, Limit, NeedVerdict, Verdict, WaveformVerdict};

/// Version of this document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CheckOutcome {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    #[serde(flatten)]
    pub about: About,
    pub setup: Setup,
    /// Seconds of the radio in a second of this host: another speed than 1, if any round had one; `None`: hardware, which does
    /// not say, or no round streamed.
    #[serde(default)] // outcomes older than this key
    pub radio_speed: Option<f64>,
    /// The doctor's findings before the first round.
    pub doctor: Vec<DoctorFinding>,
    /// The packet path, by datagram size and direction.
    pub udp: Vec<UdpPoint>,
    /// The radio, by mode, format and rate, rates ascending.
    pub rates: Vec<RatePoint>,
    /// Costs of a sample with other packet engines, the one of this check first.
    #[serde(default)] // outcomes older than this key
    pub engines: Vec<EnginePoint>,
    /// Answers in time, by delay.
    pub round_trips: Vec<RoundTripPoint>,
    /// A waveform on the beat, by slot duration, longest first.
    #[serde(default)]
    pub waveforms: Vec<WaveformPoint>,
    /// Answers in time while other processes want the same cores.
    #[serde(default)]
    pub loaded: Option<Loaded>,
    /// How long this machine stood still, and what a radio that goes on would have lost by it.
    #[serde(default)] // outcomes older than this key
    pub stops: Option<Stops>,
    pub rounds: RoundsSummary,
    pub verdict: Verdict,
    /// Omissions of this depth, a sentence each.
    pub left_out: Vec<String>,
}

impl CheckOutcome {
    /// The radio's speed, if that was not the wall's: then nothing of the outcome holds in real time.
    #[must_use]
    pub fn other_speed(&self) -> Option<f64> {
        self.radio_speed.filter(|speed| *speed != 1.0)
    }
}
