//! How much of its core a driver of real-time priority leaves to others.
//!
//! The kernel takes the core from real-time threads that have had more than 95 % of a second (`sched_rt_runtime_us`), and, where
//! ordinary threads wait for it, gives these 50 ms of a second in one go (Linux 6.12 on): a radio is then silent for 50 ms, and sends
//! all of it at once behind. A driver that has too much to do for short beats stays below that by pauses of its own, which are a
//! thousandth as long: what is due in one leaves with the next beat.

use std::time::Duration;

use takt_host::thread_clock::Since;

/// Share of its core, in percent.
const SHARE: u64 = 92;
/// Time that it may run ahead of that: nothing that adds up to a hundredth of a second.
const AHEAD_NS: i64 = 5_000_000;
/// Shorter pauses cost more than they give.
const SHORTEST_NS: i64 = 50_000;

/// Time that the driver may still run, nanoseconds; less than 0 if it has run too long.
#[derive(Debug)]
pub(super) struct Pace {
    left_ns: i64,
}

impl Pace {
    /// `None` for a thread without real-time priority: there is nothing that the kernel would take.
    pub(super) fn of(real_time: bool) -> Option<Pace> {
        real_time.then_some(Pace { left_ns: AHEAD_NS })
    }

    /// The pause that is due after this time.
    pub(super) fn pause(&mut self, since: &Since) -> Duration {
        let signed = |ns: u64| i64::try_from(ns).unwrap_or(i64::MAX);
        let earned_ns = signed(since.passed_ns.saturating_mul(SHARE) / 100);
        self.left_ns = self.left_ns.saturating_add(earned_ns).saturating_sub(signed(since.ran_ns)).min(AHEAD_NS);
        if self.left_ns > -SHORTEST_NS {
            return Duration::ZERO;
        }
        Duration::from_nanos(self.left_ns.unsigned_abs().saturating_mul(100) / SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ran(passed_ns: u64, ran_ns: u64) -> Since {
        Since { passed_ns, ran_ns, queued_ns: None, slept: false }
    }

    #[test]
    fn one_that_would_run_all_the_time_pauses_often_and_briefly_and_stays_below_the_kernels_bound() {
        const BEAT_NS: u64 = 20_000;
        let mut pace = Pace::of(true).unwrap();
        let (mut now_ns, mut ran_ns, mut longest) = (0, 0, Duration::ZERO);
        let mut passed_ns = 0;
        while now_ns < 1_000_000_000 {
            now_ns += BEAT_NS;
            ran_ns += BEAT_NS;
            let pause = pace.pause(&ran(passed_ns + BEAT_NS, BEAT_NS));
            passed_ns = pause.as_nanos() as u64;
            now_ns += passed_ns;
            longest = longest.max(pause);
        }
        assert!((920_000_000..930_000_000).contains(&ran_ns), "{ran_ns}");
        assert!(longest < Duration::from_micros(100), "{longest:?}");
    }

    #[test]
    fn one_that_sleeps_enough_never_pauses_and_saves_nothing_up() {
        let mut pace = Pace::of(true).unwrap();
        assert!((0..1000).all(|_| pace.pause(&ran(20_000, 18_000)).is_zero()));
        assert!(pace.pause(&ran(3_600_000_000_000, 0)).is_zero());
        // An hour of rest is worth 5 ms of work.
        assert!(pace.pause(&ran(10_000_000, 10_000_000)).is_zero());
        let pause = pace.pause(&ran(60_000_000, 60_000_000));
        assert_eq!(pause, Duration::from_nanos(600_000 * 100 / 92));
        assert!(Pace::of(false).is_none());
    }
}
