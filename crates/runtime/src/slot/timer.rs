//! How execution is timed: the processor's time-stamp counter, or a time that moves only on request.
#![allow(unsafe_code)]

use std::time::{Duration, Instant};

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
    /// The platform's other counter, or the clock where that counter is not steady.
    Clock(quanta::Clock),
    /// The host's clock, where the counter is too coarse; since then, nanoseconds.
    Host(Instant),
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

/// A counter that steps by more does not time executions. Those of real processors step by 42 ns at most (24 MHz).
const COARSE_NS: u64 = 500;

/// The smallest step of a counter in some readings; of one that stands, more than any.
fn step(mut read: impl FnMut() -> u64) -> u64 {
    let mut before = read();
    let steps = (0..READINGS).map(|_| {
        let now = read();
        now.wrapping_sub(std::mem::replace(&mut before, now))
    });
    steps.filter(|step| *step > 0).min().unwrap_or(u64::MAX)
}

/// Enough for a counter that steps by a microsecond to step many times, each reading taking tens of nanoseconds.
const READINGS: u32 = 1000;

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
        // User emulation has a counter that steps by a microsecond (QEMU 7.2): most components would take none or one.
        if scaled(step(|| clock.raw()), rate.ns_per_tick) > COARSE_NS {
            return Timer { source: Source::Host(Instant::now()), rate: Rate::ONE };
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
            Source::Host(start) => narrow(start.elapsed().as_nanos()),
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
    fn the_step_of_a_counter_is_the_smallest_that_it_makes() {
        let of = |by: u64, readings: u64| {
            let mut reading = 0;
            step(move || {
                reading += 1;
                reading / readings * by
            })
        };
        assert_eq!((of(62, 8), of(1, 1), of(0, 1)), (62, 1, u64::MAX));
    }

    #[test]
    fn the_host_s_clock_is_in_nanoseconds_and_goes() {
        let timer = Timer { source: Source::Host(Instant::now()), rate: Rate::ONE };
        let from = timer.read();
        while timer.read() == from {}
        assert_eq!((timer.ns(5, 9), timer.ticks_of(77)), (4, 77));
    }

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
