//! Will this host keep up with a radio? The question of `takt check`, and what its answer is made of.
//!
//! A [`CheckOutcome`] is everything a report needs: facts of the host, what was measured point by point, and the
//! [`Verdict`]. It is a pure function of the records of a run, so a report can be drawn again at any time.

mod answer;
mod assemble;
pub(crate) mod collect;
mod conclude;
mod device;
mod doctor;
mod engines;
mod fixes;
mod judge;
mod limit;
mod loaded;
mod next;
mod order;
mod outcome;
pub(crate) mod page;
mod rate_words;
pub mod rates;
mod remedy;
pub(crate) mod stops;
#[cfg(test)]
pub(crate) mod testing;
pub mod watch;
mod waveform;
mod words;

pub use assemble::assemble;
pub use conclude::{Measured, conclude};
pub use engines::{EnginePoint, EngineRound};
pub use fixes::fixes;
pub use judge::{Evidence, judge};
pub use limit::{blame, limit};
pub use loaded::{Loaded, LoadedAnswers};
pub use order::Check;
pub use outcome::{
    CheckAnswer, CheckOutcome, DoctorFinding, ExcludedBy, Fix, FixKind, Format, Ground, HighestClean, Layer, Limit,
    LostByPlace, Mode, Model, Need, NeedVerdict, RadioSetup, RatePoint, RateRound, RoundTripPoint, RoundTripRound,
    RoundsSummary, SCHEMA, Setup, UdpPoint, UdpRound, Verdict, WaveformPoint, WaveformRound, WaveformVerdict,
};
pub use page::report;
pub use stops::{StopSeen, Stops, StopsAt, StopsBy, stops_of, wanted_ms, who};
pub use takt_lab::store::RoundState;
pub use takt_lab::{About, HostFacts};
pub use waveform::HOST;
pub use words::less;

use takt_lab::{AssembleError, Order, StoredRun};

use crate::{Answered, Asked, Question, QuestionError};

impl Question for Check {
    fn name(&self) -> &'static str {
        "check"
    }

    /// Any run that is of no study and of no self-test, whatever its file.
    fn is_of(&self, run: &StoredRun) -> bool {
        run.file.study.is_none() && !crate::self_test::is_self_test(&run.run)
    }

    fn order(&self, asked: &Asked) -> Result<Order, QuestionError> {
        order::order(self, asked)
    }

    fn answer(&self, run: StoredRun) -> Result<Answered, QuestionError> {
        let outcome = assemble(run).map_err(AssembleError::from)?;
        Ok(Answered {
            report: report(&outcome),
            document: serde_json::to_string_pretty(&outcome)?,
            stopped: None,
            next: next::next(&outcome),
        })
    }
}
