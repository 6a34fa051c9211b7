//! The study `linux-rt`: can a loaded Linux host answer the air interface in time?
//!
//! One part of `experiments/linux-rt.toml` for each question: the paper's cases, its Figure 6, every combination of three
//! measures (policy, cap, isolation), other policies, the best of them for long, and what a cap does to ordinary processes.
//! The round is the unit: whether one is hit by the disturbance depends on how the two fall together, so subframes of one
//! round are no repetitions of each other.

mod assemble;
mod case;
mod failed;
mod judge;
mod measures;
mod outcome;
mod page;
mod rules;
mod why;
mod words;

use assemble::assemble;
pub use case::{Case, StageFacts};
pub use measures::{EffectFacts, MEASURES};
pub use outcome::{LinuxRtOutcome, SCHEMA};
pub use page::report;
pub use why::{Ran, TraceFacts};
pub use words::label;

use takt_lab::{Order, StoredRun};

use crate::study;
use crate::sweep::Facts;
use crate::{Answered, Asked, Question, QuestionError};

/// The question of `takt paper linux-rt`.
#[derive(Clone, Copy, Debug)]
pub struct LinuxRt;

impl Question for LinuxRt {
    fn name(&self) -> &'static str {
        "linux-rt"
    }

    fn is_of(&self, run: &StoredRun) -> bool {
        study::study_of(run) == self.name()
    }

    fn order(&self, asked: &Asked) -> Result<Order, QuestionError> {
        Ok(study::order(asked))
    }

    fn answer(&self, run: StoredRun) -> Result<Answered, QuestionError> {
        let outcome = assemble(&run);
        study::answered(&outcome.of, &outcome, report(&outcome))
    }
}

/// The facts that come with the program; a test reads the same text.
pub(super) fn facts() -> Facts {
    toml::from_str(include_str!("../../../../experiments/papers/linux-rt.toml")).expect("tested to be right")
}
