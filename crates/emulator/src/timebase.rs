//! How the ticks of a radio lie in time.

use takt_base::{Tick, TickRate};

/// Tick n comes `(n - offset) * seconds / ticks` seconds after the driver's clock stood at 0. Exact, whatever the rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timebase {
    ticks: u64,
    seconds: u64,
    offset: i64,
}

/// Hundredths of a millionth in one.
const WHOLE: u64 = 100_000_000;
/// Whole hertz must do if a fraction has no room left: 2^-28 of the rate at most.
const MOST_TICKS: u64 = 1 << 42;
const MOST_SECONDS: u64 = 1 << 20;

impl Timebase {
    /// So many ticks in so many seconds, both above 0.
    #[must_use]
    pub fn new(ticks: u64, seconds: u64, offset: i64) -> Timebase {
        let (ticks, seconds) = (ticks.max(1), seconds.max(1));
        let common = gcd(ticks.into(), seconds.into()) as u64;
        Timebase { ticks: ticks / common, seconds: seconds / common, offset }
    }

    /// Timebase of a clock that has always run at this rate.
    #[must_use]
    pub fn of(clock: TickRate) -> Timebase {
        Timebase::new(clock.hz().into(), 1, 0)
    }

    /// The rate, to the nearest hertz.
    #[must_use]
    pub fn rate(self) -> TickRate {
        let hz = (self.ticks + self.seconds / 2) / self.seconds;
        u32::try_from(hz).ok().and_then(TickRate::from_hz).unwrap_or(TickRate::from_hz(u32::MAX).expect("not 0"))
    }

    #[must_use]
    pub fn hz(self) -> f64 {
        self.ticks as f64 / self.seconds as f64
    }

    /// Ticks, and the seconds they take.
    pub(crate) fn ratio(self) -> [u64; 2] {
        [self.ticks, self.seconds]
    }

    /// [`Timebase::of_parts`] makes the same of them.
    pub(crate) fn parts(self) -> [u64; 3] {
        [self.ticks, self.seconds, self.offset.cast_unsigned()]
    }

    pub(crate) fn of_parts([ticks, seconds, offset]: [u64; 3]) -> Timebase {
        Timebase { ticks, seconds, offset: offset.cast_signed() }
    }

    /// Nanoseconds from where the driver's clock stood at 0 to a tick, rounded down.
    pub(crate) fn ns_at(self, tick: Tick) -> u64 {
        let ns = u128::from(self.index(tick).0) * 1_000_000_000 * u128::from(self.seconds) / u128::from(self.ticks);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// Ticks since the driver's clock stood at 0, at a tick.
    pub(crate) fn index(self, tick: Tick) -> Tick {
        let index = i128::from(tick.0) - i128::from(self.offset);
        Tick(index.clamp(0, u64::MAX.into()) as u64)
    }

    /// The same radio with a clock that runs so many hundredths of a millionth fast.
    pub(crate) fn faster(self, hundredths_ppm: i32) -> Timebase {
        let factor = WHOLE.saturating_add_signed(hundredths_ppm.into());
        let (ticks, seconds) =
            (u128::from(self.ticks) * u128::from(factor), u128::from(self.seconds) * u128::from(WHOLE));
        let common = gcd(ticks, seconds);
        let (ticks, seconds) = (ticks / common, seconds / common);
        if ticks <= MOST_TICKS.into() && seconds <= MOST_SECONDS.into() {
            return Timebase { ticks: ticks as u64, seconds: seconds as u64, ..self };
        }
        Timebase { ticks: ((ticks + seconds / 2) / seconds).max(1) as u64, seconds: 1, ..self }
    }
}

/// A rate that is so many hundredths of a millionth higher, to the nearest hertz.
pub(crate) fn faster(rate: TickRate, hundredths_ppm: i32) -> TickRate {
    let more = i64::from(rate.hz()) * i64::from(hundredths_ppm) / WHOLE as i64;
    u32::try_from(i64::from(rate.hz()) + more).ok().and_then(TickRate::from_hz).unwrap_or(rate)
}

pub(crate) fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_counted_from_where_the_drivers_clock_stood_at_0() {
        let base = Timebase::new(184_320_000, 1, 1000);
        assert_eq!(base.index(Tick(1000)), Tick(0));
        assert_eq!(base.index(Tick(184_321_000)), Tick(184_320_000));
        assert_eq!(base.index(Tick(999)), Tick(0));
        assert_eq!(Timebase::new(2, 2, -5).index(Tick(u64::MAX)), Tick(u64::MAX));
        assert_eq!(base.rate().hz(), 184_320_000);
        assert_eq!(base.ns_at(Tick(92_161_000)), 500_000_000);
        assert_eq!(Timebase::of_parts(base.parts()), base);
    }

    #[test]
    fn a_fast_clock_is_faster_by_exactly_that() {
        let fast = Timebase::new(184_320_000, 1, 7).faster(150); // 1.5 ppm
        let [ticks, seconds] = fast.ratio();
        assert_eq!(u128::from(ticks) * 100_000_000, 184_320_000 * 100_000_150 * u128::from(seconds));
        assert_eq!(Timebase::new(3, 1, 0).faster(0), Timebase::new(3, 1, 0));
        let odd = Timebase::new(91_392_000_000, 481, 0).faster(-333);
        assert!((odd.hz() / (91_392_000_000.0 / 481.0) - (1.0 - 3.33e-6)).abs() < 1e-8);
        assert_eq!(faster(TickRate::from_hz(100_000_000).unwrap(), -150).hz(), 99_999_850);
        assert_eq!(faster(TickRate::from_hz(1_000_000_000).unwrap(), 1).hz(), 1_000_000_010);
    }
}
