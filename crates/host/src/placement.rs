//! The place of a thread, and how the scheduler treats it: `--cores` and `--policy`.

use std::io;
use std::thread;

use crate::affinity::{AffinityError, pin_self};
use crate::policy::{Policy, PolicyError, set_policy};

/// CPUs and policy of a thread. The default leaves a thread as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The only CPUs that it may run on; empty: those it has.
    pub cpus: Vec<usize>,
    /// Its priority under FIFO; `None`: the policy it has.
    pub priority: Option<u8>,
}

/// Why a thread could not be placed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    #[error(transparent)]
    Affinity(#[from] AffinityError),
    #[error(transparent)]
    Policy(#[from] PolicyError),
    #[error("takt can't start a thread")]
    Thread(#[source] io::Error),
}

impl Placement {
    /// Places the calling thread. Threads that it starts later are placed as it is.
    ///
    /// # Errors
    /// None of the CPUs can be used, or the kernel refuses the policy.
    pub fn place_self(&self) -> Result<(), PlacementError> {
        if !self.cpus.is_empty() {
            pin_self(&self.cpus)?;
        }
        if let Some(priority) = self.priority {
            set_policy(0, Policy::Fifo { priority })?;
        }
        Ok(())
    }

    /// Whether a thread could be placed so: tries it on one that ends at once.
    ///
    /// # Errors
    /// As [`place_self`](Placement::place_self), or no thread can be started.
    pub fn attempt(&self) -> Result<(), PlacementError> {
        if *self == Placement::default() {
            return Ok(());
        }
        thread::scope(|scope| {
            let attempt = thread::Builder::new().name("takt-attempt".to_owned());
            let attempt = attempt.spawn_scoped(scope, || self.place_self()).map_err(PlacementError::Thread)?;
            attempt.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::affinity::own_cpus;

    #[test]
    fn a_thread_is_placed_and_the_one_that_started_it_is_not() {
        let all = own_cpus();
        let last = *all.last().unwrap();
        let placement = Placement { cpus: vec![last], priority: None };
        placement.attempt().unwrap();
        let placed = thread::spawn(move || placement.place_self().map(|()| own_cpus())).join().unwrap();
        assert_eq!(placed.unwrap(), [last]);
        assert_eq!(own_cpus(), all);
    }

    #[test]
    fn what_a_thread_can_not_have_is_refused_by_an_attempt() {
        let nowhere = Placement { cpus: vec![1023], priority: None }.attempt().unwrap_err();
        assert!(matches!(nowhere, PlacementError::Affinity(AffinityError::NoSuchCpu { .. })), "{nowhere}");
        let beyond = Placement { cpus: Vec::new(), priority: Some(100) }.attempt().unwrap_err();
        assert!(matches!(beyond, PlacementError::Policy(PolicyError::OutOfRange { .. })), "{beyond}");
    }
}
