//! Will this host keep up with a radio? The question of `takt check`, and what its answer is made of.
//!
//! A [`CheckOutcome`] is everything a report needs: facts of the host, what was measured point by point, and the
//! [`Verdict`]. It is a pure function of the records of a run, so a report can be drawn again at any time.

mod assemble;
mod collect;
mod conclude;
mod doctor;
mod engines;
mod fixes;
mod limit;
mod loaded;
mod outcome;
pub mod rates;
mod remedy;
mod run;
pub mod self_test;
mod stops;
#[cfg(test)]
mod testing;
mod verdict;
pub mod watch;
mod waveform;
mod words;

pub use crate::about::{About, HostFacts};
pub use crate::store::RoundState;
pub use assemble::{AssembleError, StoredRun, assemble};
pub use conclude::{Measured, conclude};
pub use engines::{EnginePoint, EngineRound};
pub use fixes::fixes;
pub use limit::{blame, limit};
pub use loaded::{Loaded, LoadedAnswers};
pub use outcome::{
    CheckAnswer, CheckOutcome, DoctorFinding, ExcludedBy, Fix, FixKind, Format, Ground, HighestClean, Layer, Limit,
    LostByPlace, Mode, Model, Need, NeedVerdict, RadioSetup, RatePoint, RateRound, RoundTripPoint, RoundTripRound,
    RoundsSummary, SCHEMA, Setup, UdpPoint, UdpRound, Verdict, WaveformPoint, WaveformRound, WaveformVerdict,
};
pub use run::{CheckError, CheckOptions, run, run_self_test};
pub use stops::{StopSeen, Stops, StopsAt, StopsBy, stops_of, wanted_ms, who};
pub use verdict::{Evidence, judge};
pub use waveform::HOST;
pub use words::less;
