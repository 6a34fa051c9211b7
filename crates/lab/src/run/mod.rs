//! Running an experiment: rounds in their order, each into the store as it ends.
//!
//! The runner decides what is run next and what counts; a [`Bench`] runs one round. It can be stopped, killed and
//! resumed at any time: what has ended is in the store, and the order is computed again from the seed.
//!
//! - A round that does not count (other load, an emulator that was late itself, a workload that could not be run) is
//!   kept, marked with the reason, and run again after all others, [`Valid::repeats_max`](crate::experiment::Valid)
//!   times at most; what is needed first, then the points of which fewest rounds count.
//! - If a part has a stop rule, its first block is run from the lowest level upwards. Levels above enough that failed
//!   clearly are entered as skipped, with the reason, and not run.
//! - A round is not begun if the disk could not take it.

mod hopeless;
mod judge;
mod plan;
mod progress;
mod runner;

pub use judge::Conditions;
pub(crate) use progress::Pace;
pub use progress::{Event, Progress, Report};
pub use runner::{Bench, Measured, Ran, RunError, RunPlan, run};
