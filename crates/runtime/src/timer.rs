//! How execution is timed: the processor's time-stamp counter, or a time that moves only when told.

use std::time::Duration;

/// Reads a time in units of its own; [`Timer::ns`] makes nanoseconds of a difference.
#[derive(Clone, Debug)]
pub(crate) enum Timer {
    /// The time-stamp counter.
    Counter(quanta::Clock),
    /// Nanoseconds since the start, moved by [`Timer::occupy`] and by the driver.
    Virtual(u64),
}

impl Timer {
    /// The processor's counter; under Miri, which has none, a time that stands still.
    pub(crate) fn of_processor() -> Timer {
        if cfg!(miri) { Timer::Virtual(0) } else { Timer::Counter(quanta::Clock::new()) }
    }

    #[inline]
    pub(crate) fn read(&self) -> u64 {
        match self {
            Timer::Counter(clock) => clock.raw(),
            Timer::Virtual(now) => *now,
        }
    }

    #[inline]
    pub(crate) fn ns(&self, from: u64, to: u64) -> u64 {
        match self {
            Timer::Counter(clock) => clock.delta_as_nanos(from, to),
            Timer::Virtual(_) => to.saturating_sub(from),
        }
    }

    pub(crate) fn occupy(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        match self {
            Timer::Counter(clock) => {
                let start = clock.raw();
                while clock.delta_as_nanos(start, clock.raw()) < ns {
                    std::hint::spin_loop();
                }
            }
            Timer::Virtual(now) => *now = now.saturating_add(ns),
        }
    }
}
