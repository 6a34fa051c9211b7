//! How execution is timed: the processor's time-stamp counter, or a time that moves only on request.
#![allow(unsafe_code)]

use std::time::Duration;

/// Reads a time in ticks of its own; [`Timer::ns_of`] makes nanoseconds of a difference.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    source: Source,
    rate: Rate,
}

#[derive(Clone, Debug)]
enum Source {
    /// The time-stamp counter, read by the one instruction that it takes.
    #[cfg(target_arch = "x86_64")]
    Counter,
    /// What the platform has instead, or where that counter is not steady.
    Clock(quanta::Clock),
    /// Nanoseconds since the start, moved by [`Timer::occupy`] and by the driver.
    Virtual(u64),
}

/// A counter's rate, both ways, in parts of 2^32: a product and a shift is all it takes.
#[derive(Clone, Copy, Debug)]
struct Rate {
    ns_per_tick: u64,
    ticks_per_ns: u64,
}

impl Rate {
    /// A tick is a nanosecond.
    const ONE: Rate = Rate { ns_per_tick: 1 << 32, ticks_per_ns: 1 << 32 };

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

#[cfg(target_arch = "x86_64")]
#[inline]
fn counter() -> u64 {
    // SAFETY: every processor of this architecture has the instruction; it reads a counter and touches no memory.
    unsafe { std::arch::x86_64::_rdtsc() }
}

impl Timer {
    /// The processor's counter; under Miri, which has none, a time that stands still.
    pub(crate) fn of_processor() -> Timer {
        if cfg!(miri) {
            return Timer::stands_at(0);
        }
        let clock = quanta::Clock::new();
        let rate = Rate::of(&clock);
        // The clock has looked whether the counter is steady. If it reads it, so can this.
        #[cfg(target_arch = "x86_64")]
        {
            let (before, read, after) = (counter(), clock.raw(), counter());
            if (before..=after).contains(&read) {
                return Timer { source: Source::Counter, rate };
            }
        }
        Timer { source: Source::Clock(clock), rate }
    }

    /// A virtual time, nanoseconds.
    pub(crate) fn stands_at(ns: u64) -> Timer {
        Timer { source: Source::Virtual(ns), rate: Rate::ONE }
    }

    #[inline]
    pub(crate) fn read(&self) -> u64 {
        match &self.source {
            #[cfg(target_arch = "x86_64")]
            Source::Counter => counter(),
            Source::Clock(clock) => clock.raw(),
            Source::Virtual(now) => *now,
        }
    }

    /// Nanoseconds from one reading to another; 0 if that is earlier, as counters of two cores may disagree a little.
    #[inline]
    pub(crate) fn ns(&self, from: u64, to: u64) -> u64 {
        self.ns_of(to.saturating_sub(from))
    }

    #[inline]
    pub(crate) fn ns_of(&self, ticks: u64) -> u64 {
        scaled(ticks, self.rate.ns_per_tick)
    }

    #[inline]
    pub(crate) fn ticks_of(&self, ns: u64) -> u64 {
        scaled(ns, self.rate.ticks_per_ns)
    }

    pub(crate) fn occupy(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if let Source::Virtual(now) = &mut self.source {
            *now = now.saturating_add(ns);
            return;
        }
        let start = self.read();
        while self.ns(start, self.read()) < ns {
            std::hint::spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_become_the_nanoseconds_that_the_clock_says() {
        let clock = quanta::Clock::new();
        let timer = Timer { source: Source::Clock(clock.clone()), rate: Rate::of(&clock) };
        for ticks in [0, 1, 100, 12_345, 1 << 30, 987_654_321_012] {
            let theirs = clock.delta_as_nanos(0, ticks);
            assert!(timer.ns_of(ticks).abs_diff(theirs) <= 1 + theirs / (1 << 28), "{ticks} ticks are {theirs} ns");
            assert!(timer.ns_of(timer.ticks_of(theirs)).abs_diff(theirs) <= 20 + theirs / (1 << 28), "and back");
        }
        assert_eq!(timer.ns(7, 3), 0);
        // In time, since a counter may tick at 24 MHz as well as at 4 GHz.
        assert!(timer.ns_of(timer.ticks_of(u64::MAX)) > 1 << 60, "a deadline far away stays far away");
    }
}
