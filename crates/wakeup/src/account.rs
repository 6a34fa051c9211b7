//! Fate of each tick of a beat: arithmetic only, no clock.

use takt_base::MonoNs;
use takt_host::timer::Ticks;
use takt_stats::{Histogram, Ns};

/// A beat and what was counted of it. Tick k is due k intervals after the start, whatever the thread did before; a tick is
/// late by the time from then until the thread was awake.
///
/// A thread that sleeps over ticks was awake for none of them at their time. Each of them is as late as the wake-up that
/// ended the sleep, counted from its own time, and is counted apart: a program that asks for the next tick *from now*
/// never sees them.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    start: MonoNs,
    interval_ns: u64,
    /// Ticks before this one are warm-up.
    first: u64,
    end: u64,
    next: u64,
    pub(crate) lateness_ns: Histogram<Ns>,
    /// Ticks that had a wake-up of their own.
    pub(crate) awake_ns: Histogram<Ns>,
    /// Ticks that had none.
    pub(crate) unsampled: u64,
    pub(crate) longest_gap: u64,
    /// Wake-ups at the ticks of a clock; `None`: which clock is not known.
    pub(crate) on_tick: Option<OnTick>,
}

/// Wake-ups that came soon after a tick of a clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnTick {
    pub(crate) ticks: Ticks,
    pub(crate) wakeups: u64,
}

impl OnTick {
    fn woken(&mut self, now: MonoNs) {
        let soon_ns = self.ticks.longest_ns() / SOON_PART;
        self.wakeups += u64::from(self.ticks.at_or_after(MonoNs(now.0.saturating_sub(soon_ns))) <= now);
    }
}

/// A wake-up comes soon after a tick within an eighth of the time to the next; of those at random an eighth do.
const SOON_PART: u64 = 8;

impl Account {
    /// `first..end` are counted, what is before `first` is warm-up. Allocates all it will need.
    pub(crate) fn new(start: MonoNs, interval_ns: u64, first: u64, end: u64, ticks: Option<Ticks>) -> Account {
        Account {
            start,
            interval_ns,
            first,
            end,
            next: 0,
            lateness_ns: Histogram::default(),
            awake_ns: Histogram::default(),
            unsampled: 0,
            longest_gap: 0,
            on_tick: ticks.map(|ticks| OnTick { ticks, wakeups: 0 }),
        }
    }

    /// When the next tick is due; `None` after the last.
    pub(crate) fn due(&self) -> Option<MonoNs> {
        (self.next < self.end).then(|| self.due_of(self.next))
    }

    /// The thread that waited for [`due`](Account::due) is awake at `now`.
    pub(crate) fn woken(&mut self, now: MonoNs) {
        let tick = self.next;
        let late_ns = now.0.saturating_sub(self.due_of(tick).0);
        if tick >= self.first {
            self.lateness_ns.record_saturating(late_ns);
            self.awake_ns.record_saturating(late_ns);
            if let Some(on_tick) = &mut self.on_tick {
                on_tick.woken(now);
            }
        }
        // Those whose time has come as well.
        let due_by_now = (now.0.saturating_sub(self.start.0) / self.interval_ns).saturating_add(1).min(self.end);
        self.next = due_by_now.max(tick + 1);
        let slept_over = tick.saturating_add(1).max(self.first)..self.next;
        let count = slept_over.end.saturating_sub(slept_over.start);
        for tick in slept_over {
            self.lateness_ns.record_saturating(now.0.saturating_sub(self.due_of(tick).0));
        }
        self.unsampled += count;
        self.longest_gap = self.longest_gap.max(count);
    }

    fn due_of(&self, tick: u64) -> MonoNs {
        MonoNs(self.start.0.saturating_add(tick.saturating_mul(self.interval_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use takt_base::{Clock, VirtualClock};

    const MS: u64 = 1_000_000;

    /// A thread that wakes late by `delays`, wake-up by wake-up, and on time when they are used up.
    fn run(start: MonoNs, first: u64, end: u64, delays: &[u64]) -> Account {
        let clock = VirtualClock::starting_at(MonoNs(0));
        let mut account = Account::new(start, MS, first, end, Ticks::of(250));
        let mut delays = delays.iter();
        while let Some(due) = account.due() {
            clock.advance_to(MonoNs(due.0 + delays.next().copied().unwrap_or(0)));
            account.woken(clock.now());
        }
        account
    }

    #[test]
    fn punctual_ticks_are_late_by_nothing() {
        let account = run(MonoNs(7 * MS), 0, 10, &[]);
        assert_eq!((account.lateness_ns.len(), account.lateness_ns.max()), (10, Some(0)));
        assert_eq!((account.unsampled, account.longest_gap), (0, 0));
    }

    #[test]
    fn a_sleep_over_three_ticks_makes_four_late_ticks_of_which_one_was_sampled() {
        // Awake 3.2 ms late for tick 0: ticks 1, 2 and 3 have passed, 2.2, 1.2 and 0.2 ms ago.
        let account = run(MonoNs(0), 0, 10, &[3_200_000]);
        assert_eq!(account.lateness_ns.len(), 10, "each tick of the beat is counted once");
        assert_eq!(account.awake_ns.len(), 7);
        assert_eq!((account.unsampled, account.longest_gap), (3, 3));
        let late: Vec<u64> = account.lateness_ns.steps().map(|(ns, _)| ns / 100_000).collect();
        assert_eq!(late, [0, 2, 12, 22, 32]);
    }

    #[test]
    fn awake_at_the_very_instant_of_the_next_tick_is_late_by_nothing_for_it() {
        let account = run(MonoNs(0), 0, 3, &[MS]);
        assert_eq!(account.unsampled, 1, "the thread was not waiting for it");
        assert_eq!(account.lateness_ns.count_above(0), 1);
    }

    #[test]
    fn wake_ups_within_an_eighth_of_a_tick_after_it_came_with_it() {
        // 250 Hz: ticks at 0, 4 and 8 ms, and what is soon ends 0.5 ms later.
        let on_tick = |start, delays: &[u64]| run(MonoNs(start), 0, 12, delays).on_tick.map(|counted| counted.wakeups);
        assert_eq!(on_tick(0, &[]), Some(3));
        assert_eq!(on_tick(0, &[500_000, 0, 0, 0, 500_001]), Some(2));
        assert_eq!(on_tick(4_000_000 - 1, &[]), Some(0), "a nanosecond before each");
    }

    #[test]
    fn a_sleep_past_the_end_counts_no_ticks_that_the_beat_never_had() {
        let account = run(MonoNs(0), 0, 5, &[0, 100 * MS]);
        assert_eq!((account.lateness_ns.len(), account.unsampled), (5, 3));
        assert_eq!(account.lateness_ns.max(), Some(100 * MS));
    }

    #[test]
    fn warm_up_is_not_counted_even_where_a_sleep_began_in_it() {
        let account = run(MonoNs(0), 4, 10, &[5 * MS]);
        assert_eq!(account.lateness_ns.len(), 6);
        assert_eq!((account.awake_ns.len(), account.unsampled), (4, 2), "ticks 4 and 5 were slept over");
        assert_eq!(account.lateness_ns.max(), Some(MS));
    }

    proptest! {
        #[test]
        fn every_tick_is_counted_once(start in 0..1u64 << 50, first in 0..20u64, more in 0..200u64, delays in proptest::collection::vec(0..20 * MS, 0..100)) {
            let end = first + more;
            let account = run(MonoNs(start), first, end, &delays);
            prop_assert_eq!(account.lateness_ns.len(), more);
            prop_assert_eq!(account.awake_ns.len() + account.unsampled, more);
            prop_assert!(account.longest_gap <= account.unsampled);
        }
    }
}
