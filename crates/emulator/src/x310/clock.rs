//! The master clock, which a host chooses, and the nanoseconds that a driver counts.
//!
//! A driver's counter runs at 1 GHz whatever the host chooses, so that nothing outside has to know. Everything inside counts
//! ticks of the master clock, which never goes back either: at a change it goes on from where it is, at the new rate. PPS
//! edges are whole seconds of the driver's counter, at which two radios of one host therefore agree.

use takt_base::{Tick, TickRate, Ticks};
use takt_wire::x310::MASTER_CLOCK_HZ;

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

    /// To the nearest hertz.
    pub(super) fn hz(self) -> TickRate {
        let hz = (self.ticks + self.seconds / 2) / self.seconds;
        u32::try_from(hz).ok().and_then(TickRate::from_hz).unwrap_or(super::MASTER_CLOCK)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct MasterClock {
    rate: Rate,
    /// Since when it has had this rate: of the driver's counter, and its own.
    since: Tick,
    from: Tick,
}

impl MasterClock {
    pub(super) fn new() -> MasterClock {
        MasterClock { rate: Rate::USUAL, since: Tick(0), from: Tick(0) }
    }

    pub(super) fn rate(&self) -> Rate {
        self.rate
    }

    /// From the driver's tick `now` on it runs at another rate.
    pub(super) fn set_rate(&mut self, now: Tick, rate: Rate) {
        *self = MasterClock { rate, since: now, from: self.tick_at(now) };
    }

    /// What it shows at a tick of the driver's counter.
    pub(super) fn tick_at(&self, driver: Tick) -> Tick {
        let span = u128::from(driver.0.saturating_sub(self.since.0));
        let ticks = span * u128::from(self.rate.ticks) / (u128::from(self.rate.seconds) * u128::from(DRIVER_HZ));
        Tick(self.from.0.saturating_add(u64::try_from(ticks).unwrap_or(u64::MAX)))
    }

    /// The first tick of the driver's counter at which it shows `tick` or more.
    pub(super) fn driver_tick(&self, tick: Tick) -> Tick {
        let span = u128::from(tick.0.saturating_sub(self.from.0));
        let driver =
            (span * u128::from(self.rate.seconds) * u128::from(DRIVER_HZ)).div_ceil(u128::from(self.rate.ticks));
        Tick(self.since.0.saturating_add(u64::try_from(driver).unwrap_or(u64::MAX)))
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
    fn a_driver_called_at_the_tick_it_was_told_finds_it_come() {
        let mut clock = MasterClock::new();
        clock.set_rate(Tick(7), Rate { ticks: 91_392_000_000, seconds: 481 });
        for tick in [2, 3, 1000, 1_000_003, 10_000_000_007] {
            let driver = clock.driver_tick(Tick(tick));
            assert_eq!(clock.tick_at(driver), Tick(tick), "at {driver:?}");
            assert!(clock.tick_at(Tick(driver.0 - 1)) < Tick(tick));
        }
        assert_eq!(clock.driver_tick(Tick(0)), Tick(7));
        assert_eq!(clock.tick_at(Tick(u64::MAX)).0 / 1_000_000_000_000_000, 3_504);
    }
}
