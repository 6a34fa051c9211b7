//! Time as a radio counts it.

use std::fmt;
use std::num::NonZeroU32;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

/// An instant: periods of a radio's master clock since its counter was last set. Never decreases unless the radio's
/// time is set; what subtracts two of them must come from the same radio and the same setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// A span: a number of periods of a radio's master clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(pub u64);

impl Tick {
    /// The span from `earlier` to `self`, or `None` if `earlier` is in fact later.
    #[must_use]
    pub fn since(self, earlier: Tick) -> Option<Ticks> {
        self.0.checked_sub(earlier.0).map(Ticks)
    }
}

impl Add<Ticks> for Tick {
    type Output = Tick;
    /// Saturates: the last tick is 5849 years away at 100 MHz, so only a hostile time stamp gets there.
    fn add(self, span: Ticks) -> Tick {
        Tick(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Ticks> for Tick {
    fn add_assign(&mut self, span: Ticks) {
        *self = *self + span;
    }
}

impl Sub<Ticks> for Tick {
    type Output = Tick;
    /// Saturates at tick 0.
    fn sub(self, span: Ticks) -> Tick {
        Tick(self.0.saturating_sub(span.0))
    }
}

impl Sub<Tick> for Tick {
    type Output = Ticks;
    /// Saturates at 0: a later `earlier` gives an empty span. Use [`Tick::since`] where that must be told apart.
    fn sub(self, earlier: Tick) -> Ticks {
        Ticks(self.0.saturating_sub(earlier.0))
    }
}

impl Add for Ticks {
    type Output = Ticks;
    fn add(self, other: Ticks) -> Ticks {
        Ticks(self.0.saturating_add(other.0))
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tick {}", self.0)
    }
}

impl fmt::Display for Ticks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ticks", self.0)
    }
}

/// How fast a radio's master clock runs, in Hz; never zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickRate(NonZeroU32);

impl From<TickRate> for NonZeroU32 {
    fn from(rate: TickRate) -> NonZeroU32 {
        rate.0
    }
}

impl From<NonZeroU32> for TickRate {
    fn from(hz: NonZeroU32) -> TickRate {
        TickRate(hz)
    }
}

impl TickRate {
    /// `None` for 0 Hz.
    #[must_use]
    pub const fn from_hz(hz: u32) -> Option<TickRate> {
        match NonZeroU32::new(hz) {
            Some(hz) => Some(TickRate(hz)),
            None => None,
        }
    }

    /// Periods per second.
    #[must_use]
    pub const fn hz(self) -> u32 {
        self.0.get()
    }

    /// Whole ticks in `span`, rounded down; saturates.
    #[must_use]
    pub fn ticks_in(self, span: Duration) -> Ticks {
        self.ticks_in_ns(span.as_nanos())
    }

    /// Whole ticks in a number of nanoseconds, rounded down; saturates.
    #[must_use]
    pub fn ticks_in_ns(self, ns: u128) -> Ticks {
        let ticks = ns.saturating_mul(u128::from(self.hz())) / 1_000_000_000;
        Ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
    }

    /// The nanoseconds a span takes, rounded **up**, so that waiting that long is never too short; saturates.
    #[must_use]
    pub fn ns_of(self, span: Ticks) -> u64 {
        let ns = (u128::from(span.0) * 1_000_000_000).div_ceil(u128::from(self.hz()));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The span as a [`Duration`], rounded up to a whole nanosecond.
    #[must_use]
    pub fn duration_of(self, span: Ticks) -> Duration {
        Duration::from_nanos(self.ns_of(span))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N200: TickRate = TickRate::from_hz(100_000_000).unwrap();

    #[test]
    fn a_tick_of_an_n200_lasts_ten_nanoseconds() {
        assert_eq!(N200.ns_of(Ticks(1)), 10);
        assert_eq!(N200.ticks_in(Duration::from_secs(1)), Ticks(100_000_000));
        assert_eq!(N200.ticks_in(Duration::from_nanos(19)), Ticks(1));
    }

    #[test]
    fn waiting_for_a_span_is_never_shorter_than_the_span() {
        let x310 = TickRate::from_hz(184_320_000).unwrap();
        for ticks in [1, 2, 3, 1000, 184_320_001] {
            let ns = x310.ns_of(Ticks(ticks));
            assert!(x310.ticks_in_ns(u128::from(ns) + 1) >= Ticks(ticks));
        }
    }

    #[test]
    fn arithmetic_saturates_at_both_ends() {
        assert_eq!(Tick(u64::MAX) + Ticks(1), Tick(u64::MAX));
        assert_eq!(Tick(1) - Tick(2), Ticks(0));
        assert_eq!(Tick(1).since(Tick(2)), None);
        assert_eq!(N200.ns_of(Ticks(u64::MAX)), u64::MAX);
        assert_eq!(N200.ticks_in(Duration::MAX), Ticks(u64::MAX));
    }
}
