//! The placement of a thread of the exchange: its CPUs and its policy.

use serde::{Deserialize, Serialize};
use takt_host::affinity::pin_self;
use takt_host::policy::{Policy, set_policy};

use super::DeadlineError;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ThreadPlacement {
    /// Empty: where it is.
    pub(crate) cpus: Vec<usize>,
    pub(crate) policy: Policy,
}

impl ThreadPlacement {
    /// Puts the calling thread there.
    pub(super) fn take(&self, who: &'static str) -> Result<(), DeadlineError> {
        // The kernel admits DEADLINE only to threads that may run on all CPUs of their domain, so they stay where they are.
        if !self.cpus.is_empty() && !matches!(self.policy, Policy::Deadline { .. }) {
            pin_self(&self.cpus).map_err(|source| DeadlineError::Affinity { who, source })?;
        }
        if self.policy != (Policy::Other { nice: 0 }) {
            set_policy(0, self.policy).map_err(|source| DeadlineError::Policy { who, source })?;
        }
        Ok(())
    }
}
