//! A look that came late, and what explains it.

use crate::core_stop::Cause;
use crate::thread_clock::ThreadClock;

/// A thread that looks at its core, and woke late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    pub cpu: usize,
    /// Which look it was, as its thread counts them.
    pub number: u64,
    /// When it was due and when it came, nanoseconds of the monotonic clock.
    pub due_ns: u64,
    pub woke_ns: u64,
    /// How much of it the thread queued for its core; `None`: nobody measured it, or the kernel does not tell.
    pub queued_ns: Option<u64>,
}

impl Late {
    /// From when its timer was due to when its timer came.
    #[must_use]
    pub fn timer_late(&self) -> (u64, u64) {
        (self.due_ns, self.woke_ns.saturating_sub(self.queued_ns.unwrap_or(self.ns())))
    }

    #[must_use]
    pub fn ns(&self) -> u64 {
        self.woke_ns.saturating_sub(self.due_ns)
    }
}

/// A late look, and who made it late.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Explained {
    pub late: Late,
    pub cause: Cause,
    /// How much of it was the machine's, at least, nanoseconds.
    pub machine_ns: u64,
}

/// When the calling thread last queued for its core. The moments in which it looks count as well.
#[derive(Debug)]
pub struct Queue {
    clock: ThreadClock,
    all_ns: Option<u64>,
    last: (u64, u64),
}

impl Queue {
    #[must_use]
    pub fn of_this_thread() -> Queue {
        let clock = ThreadClock::of_this_thread();
        Queue { all_ns: clock.ran_or_queued_ns(), clock, last: (0, 0) }
    }

    /// How much of the time from when it was due to when it woke it queued. A long queue makes several looks late, and only
    /// the first of them waits for it.
    pub fn within(&mut self, (due_ns, woke_ns): (u64, u64)) -> Option<u64> {
        let now_ns = self.clock.ran_or_queued_ns();
        self.noted(now_ns, (due_ns, woke_ns))
    }

    fn noted(&mut self, now_ns: Option<u64>, (due_ns, woke_ns): (u64, u64)) -> Option<u64> {
        let queued_ns = now_ns?.saturating_sub(std::mem::replace(&mut self.all_ns, now_ns)?);
        // Some nanoseconds between two looks do not end it.
        if due_ns > self.last.1 || queued_ns > self.last.1 - self.last.0 {
            self.last = (woke_ns.saturating_sub(queued_ns), woke_ns);
        }
        Some(self.last.1.min(woke_ns).saturating_sub(self.last.0.max(due_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_that_were_due_in_a_queue_have_queued_though_they_find_their_time_past() {
        let mut queue = Queue { all_ns: Some(100), ..Queue::of_this_thread() };
        let mut noted = |all, due, woke| queue.noted(Some(all), (due, woke));
        assert_eq!(noted(110, 1_000, 1_012), Some(10), "a wake-up as usual");
        assert_eq!(noted(50_110, 2_000, 52_005), Some(50_000));
        assert_eq!([noted(50_110, 7_000, 52_010), noted(50_112, 51_000, 52_020)], [Some(45_005), Some(1_005)]);
        assert_eq!(noted(50_115, 53_000, 60_000), Some(3), "its timer came late");
        assert_eq!(noted(50_115, 55_000, 60_010), Some(3), "and so did this, which found its time past");
    }
}
