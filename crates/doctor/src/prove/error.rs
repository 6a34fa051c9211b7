//! Why nothing was proved.

use takt_host::call;

use crate::FixError;
use crate::journal::JournalError;

use super::{MeasureError, Pair};

/// Why nothing was proved. The host is as it was, unless [`ProveError::GiveBack`] says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    #[error("{why}")]
    NotProvable { why: &'static str },
    #[error("there is nothing to change here: {observed}")]
    NothingToChange { observed: String },
    #[error("there is nothing to prove: {observed}")]
    NotVisible { observed: String },
    #[error("the number of pairs is {pairs}; expected: 2 to 10000")]
    Pairs { pairs: u32 },
    #[error("the proof stopped after {pairs} whole pairs")]
    Stopped { pairs: usize },
    #[error("takt can't change the setting")]
    Change(#[from] FixError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error("takt can't start the guard that undoes the change after a kill")]
    Guard(#[source] std::io::Error),
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("takt can't compare the rounds: {values:?}")]
    Values { values: Vec<Pair> },
    #[error("takt can't set {setting} back to {was}")]
    GiveBack { setting: String, was: String },
}

impl ProveError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            ProveError::Change(error) => error.fix(),
            ProveError::Journal(error) => error.fix(),
            ProveError::Measure(error) => error.fix(),
            ProveError::Pairs { .. } => Some("give --pairs 8".to_owned()),
            ProveError::GiveBack { .. } => Some(call::sudo_takt("doctor --undo")),
            _ => None,
        }
    }
}
