//! Arrival stamps: the kernel stamps datagrams with its real-time clock; the engine's clock is the monotonic one.
//!
//! The two run at the same rate (both are slewed alike) and differ by an offset that changes only when somebody sets
//! the time of day. A reading of one between two readings of the other bounds that offset; the intersection of all
//! bounds soon pins it to some ten nanoseconds **and keeps it there**, so that differences between stamps, which is
//! what jitter is made of, are the kernel's own. A bound that does not meet the others means that the clock was set.

use rustix::time::{ClockId, clock_gettime};
use takt_base::{Clock, MonoNs, WallClock};

/// Converts real-time stamps into monotonic ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StampClock {
    /// Bounds of real time minus monotonic time, ns, both inclusive.
    low_ns: i128,
    high_ns: i128,
}

impl StampClock {
    pub(crate) fn new() -> StampClock {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        for _ in 0..8 {
            clock.look();
        }
        clock
    }

    /// Reads both clocks once.
    pub(crate) fn look(&mut self) {
        let before = WallClock.now();
        let real = clock_gettime(ClockId::Realtime);
        let after = WallClock.now();
        self.bound(before, i128::from(real.tv_sec) * 1_000_000_000 + i128::from(real.tv_nsec), after);
    }

    fn bound(&mut self, before: MonoNs, real_ns: i128, after: MonoNs) {
        let (low, high) = (real_ns - i128::from(after.0), real_ns - i128::from(before.0));
        let (meet_low, meet_high) = (self.low_ns.max(low), self.high_ns.min(high));
        (self.low_ns, self.high_ns) = if meet_low <= meet_high { (meet_low, meet_high) } else { (low, high) };
    }

    /// The monotonic instant of a real-time stamp.
    pub(crate) fn monotonic(&self, real_ns: i128) -> MonoNs {
        let offset = self.low_ns + (self.high_ns - self.low_ns) / 2;
        MonoNs(u64::try_from(real_ns - offset).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_of_stamps_survive_while_the_clock_is_not_set() {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        let offset = 1_700_000_000_000_000_000;
        clock.bound(MonoNs(100), offset + 140, MonoNs(150));
        clock.bound(MonoNs(200), offset + 210, MonoNs(240));
        let first = clock.monotonic(offset + 210);
        assert!((190..=240).contains(&first.0), "{first:?}");
        clock.bound(MonoNs(1000), offset + 1500, MonoNs(2000)); // preempted between two readings: says nothing new
        assert_eq!(clock.monotonic(offset + 210), first);
    }

    #[test]
    fn a_clock_that_was_set_is_followed_at_once() {
        let mut clock = StampClock { low_ns: i128::MIN, high_ns: i128::MAX };
        clock.bound(MonoNs(100), 1000, MonoNs(102));
        clock.bound(MonoNs(200), 5_000_201, MonoNs(202));
        assert_eq!(clock.monotonic(5_000_301), MonoNs(301));
        assert_eq!(clock.monotonic(0), MonoNs(0), "before the monotonic clock began");
    }
}
