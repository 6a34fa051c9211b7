//! The study `aloe`: what a time-slotted software-radio environment costs, and what it gives.
//!
//! | part of `experiments/aloe.toml` | figure of the paper | here |
//! | --- | --- | --- |
//! | `execution` | Table I, 1 | [`Execution`] |
//! | `longest`, `longest-two-nodes` | 2 | [`LongestPoint`] |
//! | `interface` | 3, 4 | [`InterfacePoint`] |
//! | `overhead`, `beat` | 5, 6, the model | [`Overhead`] |
//! | `roles` | Table II | [`Role`] |
//! | `memory` | Table III | [`MemoryUse`] |
//! | `same` | claim 4, and 1, which is so by construction | [`Claim`](crate::study::Claim) |
//! | `split`, `split-aarch64` | the waveform on 2x86 and 2ARM, claims 5 and 8 | [`TwoNodes`] |
//! | `capacity`, and the other parts named `…-aarch64` | the ARM columns, claim 7 | [`Elsewhere`] |

mod assemble;
mod elsewhere;
mod execution;
mod facts;
mod judge;
mod nodes;
mod outcome;
mod overhead;
mod page;
mod words;

use takt_lab::{Order, StoredRun};

use crate::study;
use crate::{Answered, Asked, Question, QuestionError};

use assemble::assemble;
pub use elsewhere::{Elsewhere, ElsewherePoint, Errors};
pub use execution::{Execution, ExecutionPoint, Scatter};
pub use facts::{ClaimFacts, ExecutionRow, Facts, Numbers, RoleFacts, facts};
pub use nodes::{SplitPoint, TwoNodes};
pub use outcome::{
    AloeOutcome, BeatPoint, BetweenComponents, InterfacePoint, LongestPoint, MemoryPoint, MemoryUse, Overhead,
    OverheadPoint, Relative, Role, SCHEMA, TwoOverOne,
};
pub use page::report;

/// The question of `takt paper aloe`.
#[derive(Clone, Copy, Debug)]
pub struct Aloe;

impl Question for Aloe {
    fn name(&self) -> &'static str {
        "aloe"
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
