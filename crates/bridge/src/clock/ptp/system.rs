//! The system clock on the monotonic one.

use std::time::SystemTime;

use takt_base::{Clock, WallClock};

/// Readings of which the shortest counts: what interrupts one does not interrupt all.
const READINGS: u32 = 8;

/// How far the system clock is ahead of the monotonic one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ahead {
    pub(super) ns: i64,
    /// How far off that is at most: half of what the reading took, and what halving lost.
    pub(super) bound_ns: u64,
}

/// Reads both, one between two of the other. They are slewed alike (`adjtimex(2)`), so that this changes only when the system
/// clock is set.
pub(super) fn ahead() -> Ahead {
    ahead_by(|| WallClock.now().0, real_ns)
}

/// The system clock, ns since 1970.
pub(super) fn real_ns() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// How far the other clock is ahead of ours.
pub(super) fn ahead_by(mut own: impl FnMut() -> u64, mut other: impl FnMut() -> u64) -> Ahead {
    let readings = (0..READINGS).map(|_| {
        let (before, at, after) = (own(), other(), own());
        let took = after.saturating_sub(before);
        Ahead { ns: at.wrapping_sub(before + took / 2) as i64, bound_ns: took / 2 + 1 }
    });
    readings.min_by_key(|ahead| ahead.bound_ns).unwrap_or(Ahead { ns: 0, bound_ns: u64::MAX })
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn the_shortest_reading_counts_and_the_truth_lies_within_its_bound() {
        let (now, reading) = (Cell::new(1_000), Cell::new(0));
        // Each look takes as long as the reading says; the other clock is read late in it.
        let took = || [900, 70, 31, 500][reading.get() / 3 % 4];
        let tick = || {
            now.set(now.get() + took());
            reading.set(reading.get() + 1);
            now.get()
        };
        let ahead = ahead_by(tick, || tick() + 5_000_000);
        assert_eq!(ahead.bound_ns, 32);
        assert!(ahead.ns.abs_diff(5_000_000) <= ahead.bound_ns, "{ahead:?}");
    }

    #[test]
    fn the_system_clock_is_after_1970_and_the_monotonic_one_after_boot() {
        let Ahead { ns, bound_ns } = ahead();
        assert!(ns > 1_700_000_000_000_000_000 && bound_ns < ns.unsigned_abs(), "{ns} {bound_ns}");
    }
}
