//! When datagrams are to be sent: instants computed from the start and a number, never from the one before. A sender
//! that stalls is late for all that came due meanwhile, and sends it; the schedule does not move.

use std::time::Duration;

use takt_base::MonoNs;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    FlatOut,
    Steady(f64),
    /// So many a second at the start, growing or falling evenly to so many at the end.
    Ramp(f64, f64),
}

#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start: MonoNs,
    span: Duration,
    pace: Pace,
    burst: u64,
    most: u64,
}

impl Schedule {
    pub fn new(start: MonoNs, span: Duration, pace: Pace) -> Schedule {
        Schedule { start, span, pace, burst: 1, most: u64::MAX }
    }

    /// So many come due at one instant, the first of theirs: bursts at the same mean rate.
    #[must_use]
    pub fn in_bursts_of(self, burst: u64) -> Schedule {
        Schedule { burst: burst.max(1), ..self }
    }

    /// Ends after so many datagrams, if the span has not ended before.
    #[must_use]
    pub fn at_most(self, most: u64) -> Schedule {
        Schedule { most, ..self }
    }

    pub fn start(&self) -> MonoNs {
        self.start
    }

    pub fn end(&self) -> MonoNs {
        self.start + self.span
    }

    /// When datagram `number` is to be sent, [`MonoNs::NEVER`] if it is not; flat out, now.
    pub fn intended(&self, number: u64, now: MonoNs) -> MonoNs {
        if number >= self.most {
            return MonoNs::NEVER;
        }
        if self.pace == Pace::FlatOut {
            return now.max(self.start);
        }
        // Exact to the nanosecond up to 2^53 ns, a hundred days.
        let after_ns = self.after_ns((number - number % self.burst) as f64);
        after_ns.map_or(MonoNs::NEVER, |ns| MonoNs(self.start.0.saturating_add(ns as u64)))
    }

    /// Datagrams the whole round consists of; `None`: as many as go.
    pub fn total(&self) -> Option<u64> {
        match self.pace {
            Pace::FlatOut => (self.most < u64::MAX).then_some(self.most),
            _ => Some(self.due_before(self.end())),
        }
    }

    /// How many datagrams were to be sent by `now` and before the end; `None`: as many as go.
    pub fn due(&self, now: MonoNs) -> Option<u64> {
        let limit = self.end().min(MonoNs(now.0.saturating_add(1)));
        match self.pace {
            Pace::FlatOut => (self.most < u64::MAX).then(|| if limit > self.start { self.most } else { 0 }),
            _ => Some(self.due_before(limit)),
        }
    }

    /// The span from the start to datagram `number` were there no bursts; `None` if a falling rate never gets there.
    fn after_ns(&self, number: f64) -> Option<f64> {
        match self.pace {
            Pace::FlatOut => Some(0.0),
            Pace::Steady(per_s) => Some(number * 1e9 / per_s),
            Pace::Ramp(..) if number == 0.0 => Some(0.0),
            // n = from t + slope t^2 / 2, solved for t in the form that does not cancel.
            Pace::Ramp(from, to) => {
                let root = from * from + 2.0 * self.slope(from, to) * number;
                (root >= 0.0).then(|| 2.0 * number / (from + root.sqrt()) * 1e9)
            }
        }
    }

    /// How many were due within `after_ns` were there no bursts; one or two more or less.
    fn roughly_due(&self, after_ns: f64) -> f64 {
        let seconds = after_ns / 1e9;
        match self.pace {
            Pace::FlatOut => 0.0,
            Pace::Steady(per_s) => seconds * per_s,
            Pace::Ramp(from, to) => seconds * (from + self.slope(from, to) * seconds / 2.0),
        }
    }

    /// How much faster a ramp gets each second.
    fn slope(&self, from: f64, to: f64) -> f64 {
        (to - from) / self.span.as_secs_f64().max(1e-9)
    }

    /// How many datagrams have an instant before `limit`.
    fn due_before(&self, limit: MonoNs) -> u64 {
        if limit <= self.start {
            return 0;
        }
        let roughly = self.roughly_due((limit.0 - self.start.0) as f64);
        // From near the answer on it takes a few steps; what is beyond `most` is never due, however much the rate would allow.
        let mut bursts = (roughly as u64 / self.burst).min(self.most.div_ceil(self.burst));
        while self.intended(bursts.saturating_mul(self.burst), limit) < limit {
            bursts += 1;
        }
        while bursts > 0 && self.intended((bursts - 1).saturating_mul(self.burst), limit) >= limit {
            bursts -= 1;
        }
        bursts.saturating_mul(self.burst).min(self.most)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_second_at_a_thousand_a_second_is_a_thousand_a_millisecond_apart() {
        let schedule = Schedule::new(MonoNs(5_000_000_000), SECOND, Pace::Steady(1000.0));
        assert_eq!(schedule.total(), Some(1000));
        assert_eq!(schedule.intended(0, MonoNs(0)), MonoNs(5_000_000_000));
        assert_eq!(schedule.intended(999, MonoNs(0)), MonoNs(5_999_000_000));
        // The first is due at once.
        for (now, due) in [(0, 0), (5_000_000_000, 1), (5_000_999_999, 1), (5_001_000_000, 2), (u64::MAX, 1000)] {
            assert_eq!(schedule.due(MonoNs(now)), Some(due), "at {now}");
        }
    }

    #[test]
    fn flat_out_everything_is_due_now() {
        let schedule = Schedule::new(MonoNs(5), Duration::from_nanos(10), Pace::FlatOut);
        assert_eq!(
            (schedule.total(), schedule.due(MonoNs(9)), schedule.intended(77, MonoNs(9))),
            (None, None, MonoNs(9))
        );
        assert_eq!(schedule.end(), MonoNs(15));
    }

    #[test]
    fn a_number_of_datagrams_flat_out_is_due_at_the_start() {
        let schedule = Schedule::new(MonoNs(5), SECOND, Pace::FlatOut).at_most(7);
        assert_eq!((schedule.total(), schedule.due(MonoNs(4)), schedule.due(MonoNs(5))), (Some(7), Some(0), Some(7)));
        assert_eq!((schedule.intended(6, MonoNs(9)), schedule.intended(7, MonoNs(9))), (MonoNs(9), MonoNs::NEVER));
    }

    #[test]
    fn a_number_far_below_what_the_rate_allows_is_found_at_once() {
        for burst in [1, 7] {
            let schedule =
                Schedule::new(MonoNs(0), 9 * SECOND, Pace::Steady(444_001e3)).at_most(1000).in_bursts_of(burst);
            assert_eq!((schedule.total(), schedule.due(MonoNs(0))), (Some(1000), Some(burst)));
            assert_eq!(schedule.due(MonoNs(u64::MAX - 1)), Some(1000));
        }
    }

    #[test]
    fn a_burst_comes_due_as_a_whole_and_the_mean_rate_stays() {
        let schedule = Schedule::new(MonoNs(0), SECOND, Pace::Steady(1000.0)).in_bursts_of(100);
        assert_eq!(schedule.total(), Some(1000));
        assert_eq!(schedule.due(MonoNs(0)), Some(100));
        assert_eq!(schedule.due(MonoNs(99_999_999)), Some(100));
        assert_eq!(schedule.due(MonoNs(100_000_000)), Some(200));
        assert_eq!(schedule.intended(199, MonoNs(0)), MonoNs(100_000_000));
        assert_eq!(schedule.at_most(150).total(), Some(150));
    }

    #[test]
    fn a_ramp_sends_what_its_mean_rate_would_and_half_of_it_late() {
        let ramp = Schedule::new(MonoNs(0), Duration::from_secs(10), Pace::Ramp(0.0, 2000.0));
        assert_eq!(ramp.total(), Some(10_000));
        assert_eq!(ramp.due(MonoNs(5_000_000_000 - 1)), Some(2500), "a quarter in the first half");
        let fall = Schedule::new(MonoNs(0), Duration::from_secs(10), Pace::Ramp(2000.0, 0.0));
        assert_eq!(fall.due(MonoNs(5_000_000_000 - 1)), Some(7500));
        assert!(fall.total().is_some_and(|total| (9_999..=10_000).contains(&total)), "{:?}", fall.total());
        assert_eq!(fall.intended(20_000, MonoNs(0)), MonoNs::NEVER);
    }

    fn pace() -> impl Strategy<Value = Pace> {
        let rate = 0.1..5e6_f64;
        prop_oneof![rate.clone().prop_map(Pace::Steady), (rate.clone(), rate).prop_map(|(a, b)| Pace::Ramp(a, b))]
    }

    proptest! {
        #[test]
        fn due_counts_exactly_the_instants_that_have_come(
            pace in pace(), start in 0..1_u64 << 50, after in 0..100_000_000_000_u64,
            burst in prop_oneof![Just(1_u64), 1..1000_u64],
        ) {
            let schedule = Schedule::new(MonoNs(start), Duration::from_secs(100), pace).in_bursts_of(burst);
            let now = MonoNs(start + after);
            let due = schedule.due(now).unwrap();
            prop_assert!(due > 0 && schedule.intended(due - 1, now) <= now);
            prop_assert!(schedule.intended(due, now) > now);
            prop_assert_eq!(due % burst, 0);
        }

        #[test]
        fn no_instant_is_before_the_one_before(pace in pace(), number in 0..1_u64 << 30, burst in 1..100_u64) {
            let schedule = Schedule::new(MonoNs(7), Duration::from_secs(100), pace).in_bursts_of(burst);
            prop_assert!(schedule.intended(number, MonoNs(0)) <= schedule.intended(number + 1, MonoNs(0)));
        }
    }
}
