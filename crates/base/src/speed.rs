//! How fast a radio's time passes beside the host's.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::time::Duration;

use crate::{TickRate, Ticks};

/// Seconds of a radio in a second of the host: 0.001 to 100, in steps of a millionth.
///
/// Hardware runs at [`Speed::WALL`]. An emulator may run slower, so that a small machine keeps up with it, or faster. In
/// a nanosecond of the host as many femtoseconds of the radio pass as the speed has millionths. So all conversions are
/// exact in whole numbers, up to their last rounding.
///
/// ```
/// use std::time::Duration;
/// use takt_base::{Speed, TickRate, Ticks};
/// let n200 = TickRate::from_hz(100_000_000).unwrap();
/// let slow: Speed = "0.1".parse().unwrap();
/// assert_eq!(slow.ticks_in(n200, Duration::from_secs(1)), Ticks(10_000_000));
/// assert_eq!(slow.host_time(Duration::from_secs(1)), Duration::from_secs(10));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Speed(NonZeroU32);

/// Millionths in one.
const ONE: u32 = 1_000_000;
const SLOWEST: u32 = 1_000;
const FASTEST: u32 = 100_000_000;
const FEMTOSECONDS: u128 = 1_000_000_000_000_000;

/// A text that is no speed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{got}` is not a speed; expected: 0.001 to 100 seconds of the radio in a second of this host, with at most 6 decimals"
)]
pub struct SpeedError {
    /// The text as given.
    pub got: String,
}

impl Default for Speed {
    fn default() -> Speed {
        Speed::WALL
    }
}

impl Speed {
    /// A second of the radio takes a second of the host.
    pub const WALL: Speed = Speed::from_millionths(ONE).expect("within range");
    /// A thousandth of that.
    pub const SLOWEST: Speed = Speed::from_millionths(SLOWEST).expect("within range");
    /// A hundred times that.
    pub const FASTEST: Speed = Speed::from_millionths(FASTEST).expect("within range");

    /// `None` outside of 1000 to 100 000 000.
    #[must_use]
    pub const fn from_millionths(millionths: u32) -> Option<Speed> {
        match (millionths, NonZeroU32::new(millionths)) {
            (SLOWEST..=FASTEST, Some(speed)) => Some(Speed(speed)),
            _ => None,
        }
    }

    /// The nearest speed to so many seconds a second; `None` out of range.
    #[must_use]
    pub fn nearest(seconds: f64) -> Option<Speed> {
        let millionths = (seconds * f64::from(ONE)).round();
        let fits = (f64::from(SLOWEST)..=f64::from(FASTEST)).contains(&millionths);
        // Within the range of the type: checked.
        fits.then(|| Speed::from_millionths(millionths as u32)).flatten()
    }

    /// In millionths: 1 000 000 is the host's own speed.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0.get()
    }

    /// Seconds of the radio in a second of the host.
    #[must_use]
    pub fn seconds(self) -> f64 {
        f64::from(self.millionths()) / f64::from(ONE)
    }

    /// Whether the radio's time passes as the host's does.
    #[must_use]
    pub fn is_wall(self) -> bool {
        self == Speed::WALL
    }

    /// Ticks of the radio's clock that pass in `span` of the host's time, rounded down; saturates.
    #[must_use]
    pub fn ticks_in(self, clock: TickRate, span: Duration) -> Ticks {
        self.ticks_in_ns(clock, span.as_nanos())
    }

    /// The same for nanoseconds of the host.
    #[must_use]
    pub fn ticks_in_ns(self, clock: TickRate, ns: u128) -> Ticks {
        let ticks = ns.saturating_mul(self.ticks_in_fs(clock)) / FEMTOSECONDS;
        Ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
    }

    /// Nanoseconds of the host that a span of the radio's clock takes, rounded **up**, so that waiting that long is never
    /// too short; saturates.
    #[must_use]
    pub fn ns_of(self, clock: TickRate, span: Ticks) -> u64 {
        let ns = (u128::from(span.0) * FEMTOSECONDS).div_ceil(self.ticks_in_fs(clock));
        u64::try_from(ns).unwrap_or(u64::MAX)
    }

    /// The same as a [`Duration`].
    #[must_use]
    pub fn duration_of(self, clock: TickRate, span: Ticks) -> Duration {
        Duration::from_nanos(self.ns_of(clock, span))
    }

    /// The host's time in which `span` of the radio's passes, rounded up to a nanosecond; saturates.
    #[must_use]
    pub fn host_time(self, span: Duration) -> Duration {
        let ns = span.as_nanos().saturating_mul(ONE.into()).div_ceil(self.millionths().into());
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// How long to wait, by the host's clock, for something that a radio at the wall's speed does within `span`. Never
    /// shorter than that: the host itself and the network are no faster beside a fast radio.
    #[must_use]
    pub fn patience(self, span: Duration) -> Duration {
        span.max(self.host_time(span))
    }

    /// Ticks of the radio's clock in the host's time that `ticks` would take at the wall's speed, rounded down; saturates.
    #[must_use]
    pub fn host_ticks(self, ticks: Ticks) -> Ticks {
        let scaled = u128::from(ticks.0) * u128::from(self.millionths()) / u128::from(ONE);
        Ticks(u64::try_from(scaled).unwrap_or(u64::MAX))
    }

    /// Ticks of a clock in a nanosecond of the host, times 10^15.
    fn ticks_in_fs(self, clock: TickRate) -> u128 {
        u128::from(clock.hz()) * u128::from(self.millionths())
    }
}

impl FromStr for Speed {
    type Err = SpeedError;

    fn from_str(text: &str) -> Result<Speed, SpeedError> {
        let refused = || SpeedError { got: text.to_owned() };
        let seconds: f64 = text.trim().parse().map_err(|_| refused())?;
        let speed = Speed::nearest(seconds).ok_or_else(refused)?;
        // A millionth of a millionth: what a decimal loses as a double is far less, a seventh decimal is far more.
        if (speed.seconds() - seconds).abs() <= 1e-12 * seconds.max(1.0) { Ok(speed) } else { Err(refused()) }
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.seconds(), f)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const N200: TickRate = TickRate::from_hz(100_000_000).unwrap();

    #[test]
    fn a_speed_is_read_exactly_or_refused() {
        for (text, millionths) in [("0.1", 100_000), ("1", 1_000_000), ("0.333333", 333_333), ("100", 100_000_000)] {
            let speed: Speed = text.parse().unwrap();
            assert_eq!((speed.millionths(), speed.to_string().as_str()), (millionths, text));
        }
        assert_eq!("1e-3".parse::<Speed>(), Ok(Speed::SLOWEST));
        assert_eq!("2.50".parse::<Speed>().unwrap().to_string(), "2.5");
        for wrong in ["", "0", "-1", "0.0009", "100.1", "NaN", "inf", "1x", "auto", "0.3333333", "0.1000001"] {
            assert_eq!(wrong.parse::<Speed>(), Err(SpeedError { got: wrong.to_owned() }), "{wrong}");
        }
        assert_eq!(Speed::nearest(f64::INFINITY), None);
        assert_eq!(Speed::nearest(0.1), Speed::from_millionths(100_000));
    }

    #[test]
    fn at_the_walls_speed_it_is_the_clock_alone() {
        let wall = Speed::default();
        assert!(wall.is_wall());
        let x310 = TickRate::from_hz(184_320_000).unwrap();
        for ns in [0, 1, 7, 1_000_003, 365 * 86_400 * 1_000_000_007] {
            assert_eq!(wall.ticks_in_ns(x310, ns), x310.ticks_in_ns(ns));
        }
        for ticks in [0, 1, 3, 184_320_001, u64::MAX].map(Ticks) {
            assert_eq!(wall.ns_of(x310, ticks), x310.ns_of(ticks));
        }
        let span = Duration::from_millis(100);
        assert_eq!((wall.host_time(span), wall.patience(span)), (span, span));
    }

    #[test]
    fn ten_seconds_of_the_host_are_one_of_a_slow_radio() {
        let slow: Speed = "0.1".parse().unwrap();
        assert_eq!(slow.ticks_in(N200, Duration::from_secs(10)), Ticks(100_000_000));
        assert_eq!(slow.duration_of(N200, Ticks(100_000_000)), Duration::from_secs(10));
        assert_eq!(slow.patience(Duration::from_millis(100)), Duration::from_secs(1));
        assert_eq!(slow.host_ticks(Ticks(300_000_000)), Ticks(30_000_000));
        let fast: Speed = "2".parse().unwrap();
        assert_eq!(fast.ticks_in(N200, Duration::from_secs(1)), Ticks(200_000_000));
        assert_eq!(fast.host_time(Duration::from_secs(1)), Duration::from_millis(500));
        assert_eq!(fast.patience(Duration::from_millis(100)), Duration::from_millis(100));
        assert_eq!(Speed::FASTEST.ticks_in(N200, Duration::MAX), Ticks(u64::MAX));
        assert_eq!(Speed::SLOWEST.ns_of(N200, Ticks(u64::MAX)), u64::MAX);
        assert_eq!(Speed::SLOWEST.host_time(Duration::MAX), Duration::from_nanos(u64::MAX));
    }

    proptest! {
        /// The first nanosecond at which a tick has come, whatever the speed and the clock, after years as well.
        #[test]
        fn a_wait_for_a_tick_is_never_too_short_and_a_nanosecond_less_is(
            millionths in SLOWEST..=FASTEST, hz in 1_000_000_u32..1_000_000_000, ticks in 1_u64..10_000_000_000_000_000,
        ) {
            let (speed, clock) = (Speed::from_millionths(millionths).unwrap(), TickRate::from_hz(hz).unwrap());
            let ns = speed.ns_of(clock, Ticks(ticks));
            prop_assume!(ns < u64::MAX);
            prop_assert!(speed.ticks_in_ns(clock, ns.into()) >= Ticks(ticks));
            prop_assert!(speed.ticks_in_ns(clock, u128::from(ns) - 1) < Ticks(ticks));
        }
    }
}
