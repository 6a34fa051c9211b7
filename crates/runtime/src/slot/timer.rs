//! How execution is timed: the processor's time-stamp counter, or a time that moves only on request.

use std::time::Duration;

/// Reads a time in ticks of its own; [`Timer::ns`] makes nanoseconds of a difference.
#[derive(Clone, Debug)]
pub(crate) enum Timer {
    /// The time-stamp counter.
    Counter(quanta::Clock, Rate),
    /// Nanoseconds since the start, moved by [`Timer::occupy`] and by the driver.
    Virtual(u64),
}

/// A counter's rate, both ways, in parts of 2^32: a product and a shift is all it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    ns_per_tick: u64,
    ticks_per_ns: u64,
}

impl Rate {
    fn of(clock: &quanta::Clock) -> Rate {
        let ns_per_tick = clock.delta_as_nanos(0, 1 << 32).max(1);
        Rate { ns_per_tick, ticks_per_ns: narrow((1 << 64) / u128::from(ns_per_tick)) }
    }
}

#[inline]
fn scaled(value: u64, by: u64) -> u64 {
    narrow((u128::from(value) * u128::from(by)) >> 32)
}

#[inline]
fn narrow(value: u128) -> u64 {
    u64::try_from(value).unwrap_or(u64::MAX)
}

impl Timer {
    /// The processor's counter; under Miri, which has none, a time that stands still.
    pub(crate) fn of_processor() -> Timer {
        if cfg!(miri) {
            return Timer::Virtual(0);
        }
        let clock = quanta::Clock::new();
        let rate = Rate::of(&clock);
        Timer::Counter(clock, rate)
    }

    #[inline]
    pub(crate) fn read(&self) -> u64 {
        match self {
            Timer::Counter(clock, _) => clock.raw(),
            Timer::Virtual(now) => *now,
        }
    }

    /// Nanoseconds from one reading to another; 0 if that is earlier, as counters of two cores may disagree a little.
    #[inline]
    pub(crate) fn ns(&self, from: u64, to: u64) -> u64 {
        self.ns_of(to.saturating_sub(from))
    }

    #[inline]
    pub(crate) fn ns_of(&self, ticks: u64) -> u64 {
        match self {
            Timer::Counter(_, rate) => scaled(ticks, rate.ns_per_tick),
            Timer::Virtual(_) => ticks,
        }
    }

    #[inline]
    pub(crate) fn ticks_of(&self, ns: u64) -> u64 {
        match self {
            Timer::Counter(_, rate) => scaled(ns, rate.ticks_per_ns),
            Timer::Virtual(_) => ns,
        }
    }

    pub(crate) fn occupy(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Timer::Counter(..) => {
                let start = self.read();
                while self.ns(start, self.read()) < ns {
                    std::hint::spin_loop();
                }
            }
            Timer::Virtual(now) => *now = now.saturating_add(ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_the_nanoseconds_that_the_clock_says() {
        let clock = quanta::Clock::new();
        let timer = Timer::Counter(clock.clone(), Rate::of(&clock));
        for ticks in [0, 1, 100, 12_345, 1 << 30, 987_654_321_012] {
            let theirs = clock.delta_as_nanos(0, ticks);
            assert!(timer.ns_of(ticks).abs_diff(theirs) <= 1 + theirs / (1 << 28), "{ticks} ticks are {theirs} ns");
            assert!(timer.ns_of(timer.ticks_of(theirs)).abs_diff(theirs) <= 20 + theirs / (1 << 28), "and back");
        }
        assert_eq!(timer.ns(7, 3), 0);
        assert!(timer.ticks_of(u64::MAX) > 1 << 60, "a deadline far away stays far away");
    }
}
