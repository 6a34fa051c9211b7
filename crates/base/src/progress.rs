//! How far a measurement has come.

use std::time::Duration;

/// A report of a running measurement, for a bar that shows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time since it started.
    pub elapsed: Duration,
    /// Time it takes, warm-up included.
    pub planned: Duration,
    /// Whether what is measured has yet to begin.
    pub warm_up: bool,
}
