//! Requests to the radio that it has not finished.

use std::collections::VecDeque;

use crate::RadioError;

/// Commands a radio queues at least; one more would be lost.
pub(crate) const QUEUE: usize = 16;

/// A run of samples that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Tick of its first sample; `None` = as soon as possible.
    pub(crate) first: Option<u64>,
    /// Samples; `None` = until stopped.
    pub(crate) samples: Option<u64>,
    /// A chained command: another is expected to go on from it.
    pub(crate) more: bool,
}

/// Requested runs, oldest first. The front is what streams now.
#[derive(Debug)]
pub(crate) struct Plan(VecDeque<Run>);

impl Plan {
    pub(crate) fn new() -> Plan {
        Plan(VecDeque::with_capacity(QUEUE))
    }

    pub(crate) fn current(&self) -> Option<Run> {
        self.0.front().copied()
    }

    /// Runs after the current one.
    pub(crate) fn queued(&self) -> impl Iterator<Item = Run> {
        self.0.iter().skip(1).copied()
    }

    /// The current run began at `tick`.
    pub(crate) fn begin(&mut self, tick: u64) {
        if let Some(run) = self.0.front_mut() {
            run.first = Some(tick);
        }
    }

    pub(crate) fn is_idle(&self) -> bool {
        self.0.is_empty()
    }

    /// # Errors
    /// `Range` if the radio can't queue another command.
    pub(crate) fn push(&mut self, run: Run) -> Result<(), RadioError> {
        if self.0.len() >= QUEUE {
            let got = (self.0.len() + 1) as f64;
            return Err(RadioError::Range { what: "queued stream commands", got, low: 0.0, high: QUEUE as f64 });
        }
        match self.0.back_mut() {
            // A chained command goes on where the one before ends; its time is ignored.
            Some(last) if last.more => {
                last.samples = last.samples.zip(run.samples).map(|(a, b)| a + b);
                last.more = run.more;
            }
            _ => self.0.push_back(run),
        }
        Ok(())
    }

    /// The run in progress is over.
    pub(crate) fn finish(&mut self) {
        self.0.pop_front();
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Run {
    /// Tick after its last sample, if it has one.
    pub(crate) fn end(&self, ticks_per_sample: u64) -> Option<u64> {
        Some(self.first?.saturating_add(self.samples?.saturating_mul(ticks_per_sample)))
    }
}
