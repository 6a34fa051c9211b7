//! When datagrams are to be sent: instants computed from the start and a number, never from the one before. A sender
//! that stalls is late for all that came due meanwhile, and sends it; the schedule does not move.

use std::time::Duration;

use takt_base::MonoNs;

/// The instants of one round.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    start: MonoNs,
    span: Duration,
    datagrams_per_s: Option<f64>,
}

impl Schedule {
    /// From `start` for `span`, at a rate, or flat out if there is none.
    #[must_use]
    pub fn new(start: MonoNs, span: Duration, datagrams_per_s: Option<f64>) -> Schedule {
        Schedule { start, span, datagrams_per_s }
    }

    /// When nothing more is sent.
    #[must_use]
    pub fn end(&self) -> MonoNs {
        self.start + self.span
    }

    /// When datagram `number` is to be sent; flat out, now.
    #[must_use]
    pub fn intended(&self, number: u64, now: MonoNs) -> MonoNs {
        match self.datagrams_per_s {
            // Exact to the nanosecond up to 2^53 ns, a hundred days.
            Some(rate) => MonoNs(self.start.0.saturating_add((number as f64 * 1e9 / rate) as u64)),
            None => now.max(self.start),
        }
    }

    /// Datagrams the whole round consists of; `None` flat out.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.datagrams_per_s.map(|_| self.due_before(self.end()))
    }

    /// How many datagrams were to be sent by `now` and before the end; `None` flat out.
    #[must_use]
    pub fn due(&self, now: MonoNs) -> Option<u64> {
        self.datagrams_per_s.map(|_| self.due_before(self.end().min(MonoNs(now.0.saturating_add(1)))))
    }

    /// How many datagrams have an instant before `limit`.
    fn due_before(&self, limit: MonoNs) -> u64 {
        let Some(rate) = self.datagrams_per_s.filter(|_| limit > self.start) else { return 0 };
        let mut count = ((limit.0 - self.start.0) as f64 * rate / 1e9) as u64;
        while self.intended(count, limit) < limit {
            count += 1;
        }
        while count > 0 && self.intended(count - 1, limit) >= limit {
            count -= 1;
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_second_at_a_thousand_a_second_is_a_thousand_a_millisecond_apart() {
        let schedule = Schedule::new(MonoNs(5_000_000_000), Duration::from_secs(1), Some(1000.0));
        assert_eq!(schedule.total(), Some(1000));
        assert_eq!(schedule.intended(0, MonoNs(0)), MonoNs(5_000_000_000));
        assert_eq!(schedule.intended(999, MonoNs(0)), MonoNs(5_999_000_000));
        assert_eq!(schedule.due(MonoNs(0)), Some(0));
        assert_eq!(schedule.due(MonoNs(5_000_000_000)), Some(1), "the first is due at once");
        assert_eq!(schedule.due(MonoNs(5_000_999_999)), Some(1));
        assert_eq!(schedule.due(MonoNs(5_001_000_000)), Some(2));
        assert_eq!(schedule.due(MonoNs::NEVER), Some(1000));
    }

    #[test]
    fn flat_out_everything_is_due_now() {
        let schedule = Schedule::new(MonoNs(5), Duration::from_nanos(10), None);
        assert_eq!(
            (schedule.total(), schedule.due(MonoNs(9)), schedule.intended(77, MonoNs(9))),
            (None, None, MonoNs(9))
        );
        assert_eq!(schedule.end(), MonoNs(15));
    }

    proptest! {
        #[test]
        fn due_counts_exactly_the_instants_that_have_come(
            rate in 0.1..5e6_f64, start in 0..1_u64 << 50, after in 0..100_000_000_000_u64,
        ) {
            let schedule = Schedule::new(MonoNs(start), Duration::from_secs(3600), Some(rate));
            let now = MonoNs(start + after);
            let due = schedule.due(now).unwrap();
            prop_assert!(due > 0 && schedule.intended(due - 1, now) <= now);
            prop_assert!(schedule.intended(due, now) > now);
        }
    }
}
