//! Why nothing was proved.

use takt_host::call;

use crate::FixError;
use crate::journal::JournalError;

use super::{MeasureError, Pair};

/// Why nothing was proved. The host is as it was, unless [`ProveError::GiveBack`] says otherwise.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProveError {
    /// The rule names no measure.
    #[error("{why}")]
    NotProvable {
        /// Why not.
        why: &'static str,
    },
    /// There is nothing to change on this host.
    #[error("there is nothing to change here: {seen}")]
    NothingToChange {
        /// What the rule saw.
        seen: String,
    },
    /// The rule could not look.
    #[error("this host does not show it: {seen}")]
    NotVisible {
        /// Why not.
        seen: String,
    },
    /// One pair has no interval.
    #[error("{pairs} pairs are not within 2 to 10000")]
    Pairs {
        /// Pairs asked for.
        pairs: u32,
    },
    /// Somebody asked to stop before two pairs were measured.
    #[error("stopped after {pairs} whole pairs")]
    Stopped {
        /// Pairs that were whole.
        pairs: usize,
    },
    /// The change could not be made.
    #[error("changing the setting")]
    Change(#[from] FixError),
    /// The journal can't be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The guard could not be started.
    #[error("starting the guard that gives back after a kill")]
    Guard(#[source] std::io::Error),
    /// A round failed.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// A value that cannot be compared.
    #[error("the rounds can't be compared: {values:?}")]
    Values {
        /// What was measured.
        values: Vec<Pair>,
    },
    /// The setting could not be given back.
    #[error("{setting} can't be given back its value {was}")]
    GiveBack {
        /// The setting.
        setting: String,
        /// Its value before.
        was: String,
    },
}

impl ProveError {
    /// What to do about it, if anything.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            ProveError::Change(error) => error.fix(),
            ProveError::Journal(error) => error.fix(),
            ProveError::Measure(error) => error.fix(),
            ProveError::Pairs { .. } => Some("--pairs 8".to_owned()),
            ProveError::GiveBack { .. } => Some(call::sudo_takt("doctor --undo")),
            _ => None,
        }
    }
}
