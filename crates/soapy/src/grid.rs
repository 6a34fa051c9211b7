//! Samples as ticks: one tick a sample, counted from where the device's clock is 0.
//!
//! SoapySDR counts time in nanoseconds. A sample of a fast stream lasts a few of them, and seldom a whole number.

use std::time::Duration;

use takt_base::{Tick, TickRate};

/// A driver is given this, and the time of one transfer.
const PATIENCE: Duration = Duration::from_millis(100);
/// Nanoseconds in a second times the parts of a hertz in which a rate is kept here.
const NS_TIMES_PARTS: u128 = 1_000_000_000 * 1_000_000;

/// A rate of samples, and the ticks that count them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Grid {
    sps: f64,
    /// The rate in millionths of a hertz: whole, so that ticks and nanoseconds do not depend on a float's last digits.
    parts: u64,
    tick_rate: TickRate,
}

impl Grid {
    /// A sample must last for 2 ns at least, or a time stamp that is rounded to one does not tell two samples apart.
    const FASTEST_SPS: f64 = 500e6;

    /// The grid of a rate in samples a second; `None` outside of 1 to 500 million.
    pub(crate) fn new(sps: f64) -> Option<Grid> {
        let in_range = (1.0..Grid::FASTEST_SPS).contains(&sps);
        // Rounded up, so that a tick is no longer than a sample.
        let tick_rate = TickRate::from_hz(sps.ceil() as u32).filter(|_| in_range)?;
        Some(Grid { sps, parts: (sps * 1e6).round() as u64, tick_rate })
    }

    pub(crate) fn sps(self) -> f64 {
        self.sps
    }

    /// Ticks a second, a fraction rounded up.
    pub(crate) fn tick_rate(self) -> TickRate {
        self.tick_rate
    }

    /// The sample at a time of the device's clock, to the nearest. A time before its 0 is 0.
    pub(crate) fn tick_of(self, ns: i64) -> Tick {
        let ns = u128::from(ns.max(0).unsigned_abs());
        let ticks = (ns * u128::from(self.parts) + NS_TIMES_PARTS / 2) / NS_TIMES_PARTS;
        Tick(u64::try_from(ticks).unwrap_or(u64::MAX))
    }

    /// When a sample begins, to the nearest nanosecond.
    pub(crate) fn ns_of(self, tick: Tick) -> i64 {
        let parts = u128::from(self.parts);
        let ns = (u128::from(tick.0) * NS_TIMES_PARTS + parts / 2) / parts;
        i64::try_from(ns).unwrap_or(i64::MAX)
    }

    /// A driver that brings or takes nothing for so long has timed out. Some do nothing until a transfer of `mtu` samples is full,
    /// and with slow samples that takes a while.
    pub(crate) fn patience(self, mtu: usize) -> Duration {
        let transfer = Duration::try_from_secs_f64(mtu as f64 / self.sps).unwrap_or(Duration::MAX);
        PATIENCE.saturating_add(transfer)
    }

    /// Samples in a span of nanoseconds, which may be negative.
    pub(crate) fn samples_in(self, ns: i64) -> f64 {
        ns as f64 * 1e-9 * self.sps
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_rate_that_no_stamp_of_a_nanosecond_resolves_is_none() {
        for sps in [f64::NAN, f64::INFINITY, -1.0, 0.0, 0.5, 500e6] {
            assert_eq!(Grid::new(sps), None, "{sps}");
        }
        assert_eq!(Grid::new(1e6).unwrap().tick_rate().hz(), 1_000_000);
        assert_eq!(Grid::new(100e6 / 3.0).unwrap().tick_rate().hz(), 33_333_334);
    }

    #[test]
    fn times_beyond_all_clocks_saturate() {
        let grid = Grid::new(250e6).unwrap();
        assert_eq!((grid.tick_of(i64::MIN), grid.tick_of(-1)), (Tick(0), Tick(0)));
        assert_eq!(grid.ns_of(Tick(u64::MAX)), i64::MAX);
        assert!(grid.tick_of(i64::MAX) > Tick(2_000_000_000_000_000_000));
    }

    #[test]
    fn a_driver_has_the_time_of_a_transfer_besides() {
        let patience = |sps: f64, mtu| Grid::new(sps).unwrap().patience(mtu);
        assert_eq!(patience(1e6, 1000), Duration::from_millis(101));
        assert_eq!(patience(250e3, 1 << 17), Duration::from_micros(624_288));
        assert_eq!(patience(1.0, usize::MAX), Duration::MAX);
    }

    proptest! {
        #[test]
        fn a_sample_is_found_again_by_its_time(sps in 1.0_f64..499e6, tick in 0_u64..1 << 52) {
            let grid = Grid::new(sps).unwrap();
            let ns = grid.ns_of(Tick(tick));
            prop_assume!(ns < i64::MAX);
            prop_assert_eq!(grid.tick_of(ns), Tick(tick));
        }
    }
}
