//! The master clock, which a host chooses, and the nanoseconds that a driver counts.
//!
//! A driver's counter runs at 1 GHz whatever the host chooses, so that nothing outside has to know. Everything inside counts
//! ticks of the master clock, which never goes back either: at a change it goes on from where it is, at the new rate. Ticks lie
//! where whole periods since the driver's counter stood at 0 end, as those of clocks do that follow one reference; so two
//! radios of one host with one rate take their samples at the same instants. PPS edges are whole seconds of the driver's
//! counter, at which they agree, too.

use takt_base::{Tick, Ticks};
use takt_wire::x310::MASTER_CLOCK_HZ;

use crate::Timebase;
use crate::shared::Pps;

/// Ticks of a driver's counter in a second.
pub(super) const DRIVER_HZ: u32 = 1_000_000_000;

/// A rate as the clock chip makes it: `ticks` in `seconds`, both above 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rate {
    pub(super) ticks: u64,
    pub(super) seconds: u64,
}

impl Rate {
    pub(super) const USUAL: Rate = Rate { ticks: MASTER_CLOCK_HZ as u64, seconds: 1 };

    /// Whole periods since the driver's counter stood at 0.
    fn periods_in(self, driver: Tick) -> u64 {
        let periods =
            u128::from(driver.0) * u128::from(self.ticks) / (u128::from(self.seconds) * u128::from(DRIVER_HZ));
        u64::try_from(periods).unwrap_or(u64::MAX)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MasterClock {
    rate: Rate,
    /// Its reading, less the periods since the driver's counter stood at 0.
    offset: i64,
    /// Since when it has had this rate: of the driver's counter, and its own.
    since: Tick,
    from: Tick,
}

impl MasterClock {
    pub(super) fn new() -> MasterClock {
        MasterClock { rate: Rate::USUAL, offset: 0, since: Tick(0), from: Tick(0) }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// From the driver's tick `now` on it runs at another rate.
    pub(super) fn set_rate(&mut self, now: Tick, rate: Rate) {
        let from = self.tick_at(now);
        let offset = i128::from(from.0) - i128::from(rate.periods_in(now));
        *self = MasterClock { rate, offset: offset as i64, since: now, from };
    }

    /// How its ticks lie in time.
    pub(super) fn timebase(&self) -> Timebase {
        Timebase::new(self.rate.ticks, self.rate.seconds, self.offset)
    }

    /// Its reading at a tick of the driver's counter.
    pub(super) fn tick_at(&self, driver: Tick) -> Tick {
        let shown = i128::from(self.rate.periods_in(driver)) + i128::from(self.offset);
        Tick(shown.clamp(0, u64::MAX.into()) as u64)
    }

    /// The first tick of the driver's counter at which it shows `tick` or more.
    pub(super) fn driver_tick(&self, tick: Tick) -> Tick {
        let periods = (i128::from(tick.0) - i128::from(self.offset)).clamp(0, u64::MAX.into()) as u128;
        let driver =
            (periods * u128::from(self.rate.seconds) * u128::from(DRIVER_HZ)).div_ceil(u128::from(self.rate.ticks));
        Tick(u64::try_from(driver).unwrap_or(u64::MAX))
    }

    pub(super) fn pps(&self) -> Pps {
        let second = u64::from(DRIVER_HZ);
        let edge = self.tick_at(Tick(self.since.0.div_ceil(second).saturating_mul(second)));
        // One second before, so that there has always been an edge.
        let first = edge.0.saturating_sub(self.rate.ticks / self.rate.seconds);
        let first = if first <= self.from.0 { Tick(first) } else { edge };
        Pps::new(first, self.rate.ticks, self.rate.seconds)
    }

    pub(super) fn span(&self, seconds: u64) -> Ticks {
        Ticks(seconds * self.rate.ticks / self.rate.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LTE: Rate = Rate { ticks: 184_320_000, seconds: 1 };

    #[test]
    fn a_change_goes_on_from_where_it_is() {
        let mut clock = MasterClock::new();
        assert_eq!(clock.tick_at(Tick(5_000_000_004)), Tick(1_000_000_000));
        assert_eq!(clock.driver_tick(Tick(1_000_000_000)), Tick(5_000_000_000));
        clock.set_rate(Tick(5_500_000_000), LTE);
        assert_eq!(clock.tick_at(Tick(5_500_000_000)), Tick(1_100_000_000));
        assert_eq!(clock.tick_at(Tick(6_500_000_000)), Tick(1_284_320_000));
        let edge = Tick(1_100_000_000 + 92_160_000);
        assert_eq!(clock.driver_tick(edge), Tick(6_000_000_000));
        assert_eq!(clock.pps().before(edge), edge, "a whole second of the driver");
        assert_eq!(clock.pps().before(Tick(edge.0 - 1)), Tick(edge.0 - 184_320_000));
    }

    #[test]
    fn clocks_of_one_rate_tick_together_whenever_they_were_set() {
        let mut clocks = [MasterClock::new(), MasterClock::new()];
        clocks[0].set_rate(Tick(5_500_000_001), LTE);
        clocks[1].set_rate(Tick(5_712_345_678), LTE);
        let [a, b] = clocks;
        let apart = i128::from(a.offset) - i128::from(b.offset);
        for driver in (6_000_000_000..6_000_001_000).map(Tick) {
            assert_eq!(i128::from(a.tick_at(driver).0) - i128::from(b.tick_at(driver).0), apart, "{driver:?}");
        }
        assert_eq!(a.timebase().index(a.tick_at(Tick(7_000_000_000))), Tick(7 * 184_320_000));
    }

    #[test]
    fn a_driver_called_at_the_returned_tick_finds_it_come() {
        let mut clock = MasterClock::new();
        clock.set_rate(Tick(7), Rate { ticks: 91_392_000_000, seconds: 481 });
        for tick in [2, 3, 1000, 1_000_003, 10_000_000_007] {
            let driver = clock.driver_tick(Tick(tick));
            assert_eq!(clock.tick_at(driver), Tick(tick), "at {driver:?}");
            assert!(clock.tick_at(Tick(driver.0 - 1)) < Tick(tick));
        }
        assert_eq!(clock.driver_tick(Tick(0)), Tick(0));
        assert_eq!(clock.tick_at(Tick(u64::MAX)).0 / 1_000_000_000_000_000, 3_504);
    }
}
