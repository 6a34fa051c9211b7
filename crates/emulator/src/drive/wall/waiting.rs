//! How a driver's thread waits for its next beat, with and without privilege, and what of its lateness is left.
//!
//! Without privilege it has a timer slack of 1 ns and, from Linux 6.12 on, the shortest slice: a thread that wakes up runs before
//! one that asks for longer slices. These were tried at 5 MS/s both ways beside a busy loop on the same core (Linux
//! 6.18, two cores with other work besides, rounds in turns). The ratio is the time later than the limit over that with
//! the slack alone:
//!
//! | way | ratio of medians |
//! | --- | --- |
//! | the shortest slice | 0.6, 0.8, 0.9 |
//! | the shortest slice, beats of 400 us | 0.5, 0.6 |
//! | beats of 100 us | 1.2 |
//! | polling for the last 50 us of each wait | 1.3 |
//! | the shortest slice, polling instead of each wait | 3.6 |
//!
//! An attempt that takes more of a core makes the scheduler owe this thread less. So it neither polls nor shortens its
//! beats. With nothing else on the machine it was late for less than 0.5 % of the time by any of them (one round each,
//! 25 MS/s).

use std::num::NonZeroU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_host::affinity::own_cpus;
use takt_host::policy::{Policy, policy};
use takt_host::slack::{set_timer_slack_ns, timer_slack_ns};
use takt_host::slice::{SHORTEST_NS, request_slice_ns};

/// Cause of lateness for a driver without real-time priority.
pub const ORDINARY: &str =
    "ordinary scheduling: another thread of the same core may run first, for as long as a time slice";
const REAL_TIME: &str = "interrupts, threads of a higher priority, and pauses by which it stays below the kernel's bound on real-time threads";
const UNKNOWN: &str = "not known: the kernel does not show the thread's policy";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// Its scheduling policy: `OTHER`, `FIFO 10`; `None`: the kernel does not show it.
    pub policy: Option<String>,
    pub cpus: Vec<usize>,
    /// Its timer slack, nanoseconds; 0 of a real-time thread, which has none.
    pub timer_slack_ns: u64,
    /// The slice that it requested from the scheduler and got, nanoseconds; `None`: a real-time thread, or Linux before 6.12.
    pub slice_ns: Option<u64>,
    /// While samples flow it slept until the next beat, microseconds from one to the next.
    pub beat_us: u64,
    /// Remaining causes of its lateness.
    pub left: String,
}

impl Waiting {
    /// Makes the calling thread as punctual as it can be without privilege, and reads back what is in force.
    pub(super) fn prepare(beat: Duration) -> Waiting {
        set_timer_slack_ns(NonZeroU64::MIN);
        let slice_ns = request_slice_ns(SHORTEST_NS);
        let policy = policy(0).ok();
        let left = match policy {
            Some(Policy::Fifo { .. } | Policy::RoundRobin { .. } | Policy::Deadline { .. }) => REAL_TIME,
            Some(Policy::Other { .. } | Policy::Another { .. }) => ORDINARY,
            None => UNKNOWN,
        };
        Waiting {
            policy: policy.map(|policy| policy.to_string()),
            cpus: own_cpus(),
            timer_slack_ns: timer_slack_ns(),
            slice_ns,
            beat_us: u64::try_from(beat.as_micros()).unwrap_or(u64::MAX),
            left: left.to_owned(),
        }
    }

    /// Whether the kernel stops the thread if it takes its core for too long.
    pub(super) fn is_real_time(&self) -> bool {
        self.left == REAL_TIME
    }

    /// Adds another of several radios, which differ in their CPUs at most.
    pub(super) fn merge(&mut self, other: &Waiting) {
        self.cpus.extend(&other.cpus);
        self.cpus.sort_unstable();
        self.cpus.dedup();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ordinary_thread_has_no_slack_and_says_what_is_left() {
        let waiting = std::thread::spawn(|| Waiting::prepare(Duration::from_micros(200))).join().unwrap();
        assert_eq!((waiting.timer_slack_ns, waiting.beat_us), (1, 200));
        assert!(waiting.policy.is_some_and(|policy| policy.starts_with("OTHER")) && waiting.left == ORDINARY);
        assert_eq!(waiting.cpus, own_cpus());
        // If the kernel knows slices it grants the shortest to everybody.
        assert!(waiting.slice_ns.is_none_or(|ns| ns == SHORTEST_NS), "{:?}", waiting.slice_ns);
    }

    #[test]
    fn the_cpus_of_several_radios_are_joined() {
        let on = |cpus: &[usize]| Waiting { cpus: cpus.to_vec(), ..Waiting::default() };
        let mut all = on(&[1, 3]);
        all.merge(&on(&[0, 1]));
        assert_eq!(all, on(&[0, 1, 3]));
    }
}
