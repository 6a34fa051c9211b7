//! A real-time thread that never sleeps, and the longest time that it did not run.

use std::thread;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_host::affinity::{own_cpus, pin_self};
use takt_host::policy::{Policy, set_policy};

use crate::prove::MeasureError;

/// The kernel's period is a second; less than two of them might miss the standstill.
pub(super) const AT_LEAST: Duration = Duration::from_millis(2200);
/// The least urgent real-time thread: it is the class that is stopped, not the priority.
const FIFO: Policy = Policy::Fifo { priority: 1 };

/// Longest time between two readings of the clock, nanoseconds.
pub(super) fn longest_gap_ns(round: Duration, stop: &Stop) -> Result<f64, MeasureError> {
    let stop = stop.clone();
    // A thread of its own: its policy and place end with it.
    let spinning = thread::spawn(move || -> Result<f64, MeasureError> {
        // The last CPU: the first has the most to do on many machines.
        if let Some(&last) = own_cpus().last() {
            pin_self(&[last])?;
        }
        set_policy(0, FIFO)?;
        Ok(spin(WallClock.now() + round, &stop))
    });
    spinning.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn spin(end: MonoNs, stop: &Stop) -> f64 {
    let mut last = WallClock.now();
    let mut longest = Duration::ZERO;
    // Once at least: a thread that came to run only after the end stood still until then.
    loop {
        let now = WallClock.now();
        longest = longest.max(now.saturating_since(last));
        last = now;
        if last >= end || stop.requested() {
            return longest.as_nanos() as f64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_no_longer_than_the_time_there_was() {
        let begun = WallClock.now();
        let longest = spin(begun + Duration::from_millis(5), &Stop::new());
        let passed = WallClock.now().saturating_since(begun);
        assert!(0.0 < longest && longest <= passed.as_nanos() as f64, "{longest} ns of {passed:?}");
        assert!(spin(begun, &Stop::new()) > 0.0, "also where it began after its end");
    }
}
