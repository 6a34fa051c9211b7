//! Would `takt check` have said no? Hosts that are made bad by a known amount, the verdict about each, and the truth.
//!
//! ```text
//!   known-bad.toml --> rounds on an impaired host --> the check's own judge  --> yes, no, not known
//!                                                 --> numbers, radio's report --> loses, keeps up
//! ```
//!
//! As many rounds as a quick check has make a trial: one host, one verdict. The file and [`Truth`] fix what is tried,
//! for how long, and what counts as a loss, before anything is run. Rounds that do not count for the verdict count for
//! nothing; a trial that lacks rounds is one whose answer is "not known".
//!
//! A trial that freezes the radio too has a twin: the same stream, with only the host side frozen for the same time. The twin's
//! radio goes on, and the fate of its samples is the truth about both.

mod judge;
#[cfg(test)]
mod model_tests;
mod outcome;
mod page;
mod rates;
mod truth;
mod words;

use serde_json::{Value, json};
use takt_lab::store::RunRow;
use takt_lab::{AssembleError, Order, StoredRun};

use crate::check::DoctorFinding;
use crate::{Answered, Asked, Question, QuestionError};

pub use judge::{TRIAL_ROUNDS, assemble};
pub use outcome::{Answers, KindRates, NotTried, SCHEMA, SelfTest, TableRow, Trial};
pub use page::report;
pub use rates::{ErrorRate, ErrorRates, GOALS, Goals};
pub use truth::Truth;

pub const NAME: &str = "known-bad";

/// The question of `takt check --self-test`.
#[derive(Clone, Debug, Default)]
pub struct KnownBad {
    pub doctor: Vec<DoctorFinding>,
}

impl Question for KnownBad {
    fn name(&self) -> &'static str {
        NAME
    }

    fn is_of(&self, run: &StoredRun) -> bool {
        run.file.study.is_none() && is_self_test(&run.run)
    }

    fn order(&self, asked: &Asked) -> Result<Order, QuestionError> {
        let (options, observed) = (json!({ "self_test": true }), json!({ "doctor": self.doctor }));
        Ok(Order { options, observed, watch_stops: true, ..asked.order() })
    }

    fn answer(&self, run: StoredRun) -> Result<Answered, QuestionError> {
        let outcome = assemble(&run).map_err(AssembleError::from)?;
        let document = serde_json::to_string_pretty(&outcome)?;
        Ok(Answered { report: report(&outcome), document, stopped: None, next: None })
    }
}

pub(crate) fn is_self_test(run: &RunRow) -> bool {
    run.options.pointer("/more/self_test").and_then(Value::as_bool).unwrap_or(false)
}
