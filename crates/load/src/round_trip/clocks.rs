//! The radio's clock on this host's, from two readings: a straight line.

use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_radio::ClockReading;

#[derive(Clone, Copy, Debug)]
pub(crate) struct ClockModel {
    origin: ClockReading,
    /// Nanoseconds of the host in a tick of the radio.
    ns_per_tick: f64,
    /// How far the line may be off.
    pub(crate) uncertainty: Duration,
}

impl ClockModel {
    pub(crate) fn through(before: ClockReading, after: ClockReading) -> ClockModel {
        let ticks = (after.tick - before.tick).0;
        let clock_hz = before.clock.hz();
        let nominal = nominal_ns(&before);
        let measured = (after.host - before.host).as_secs_f64() * 1e9 / ticks as f64;
        // Two readings too near each other give the distance of the clocks, not their rates.
        let far = ticks > u64::from(clock_hz) / 10;
        ClockModel {
            origin: before,
            ns_per_tick: if far { measured } else { nominal },
            uncertainty: before.uncertainty.max(after.uncertainty),
        }
    }

    /// The host's clock at a tick of the radio, nanoseconds.
    pub(crate) fn host_ns(&self, tick: Tick) -> i64 {
        let ticks = tick.0 as i64 - self.origin.tick.0 as i64;
        self.origin.host.0 as i64 + (ticks as f64 * self.ns_per_tick).round() as i64
    }

    /// From a tick of the radio to an instant of the host, nanoseconds; negative if the instant was earlier.
    pub(crate) fn ns_from(&self, tick: Tick, to: MonoNs) -> i64 {
        to.0 as i64 - self.host_ns(tick)
    }

    /// How much faster the radio's clock runs than its speed says, parts in a million.
    pub(crate) fn drift_ppm(&self) -> f64 {
        (nominal_ns(&self.origin) / self.ns_per_tick - 1.0) * 1e6
    }
}

/// Nanoseconds of the host in a tick of the radio, as rate and speed have it.
fn nominal_ns(reading: &ClockReading) -> f64 {
    1e9 / f64::from(reading.clock.hz()) / reading.speed.seconds()
}

#[cfg(test)]
mod tests {
    use takt_base::Speed;
    use takt_radio::n200::CLOCK;

    use super::*;

    #[test]
    fn the_line_goes_through_both_readings() {
        let at = |host, tick| ClockReading {
            clock: CLOCK,
            speed: Speed::WALL,
            host: MonoNs(host),
            tick: Tick(tick),
            uncertainty: Duration::ZERO,
        };
        // The radio's clock is 10 ppm fast.
        let model = ClockModel::through(at(5_000_000_000, 1_000), at(6_000_000_000, 100_002_000));
        assert_eq!(model.host_ns(Tick(1_000)), 5_000_000_000);
        assert_eq!(model.host_ns(Tick(100_002_000)), 6_000_000_000);
        assert!((model.drift_ppm() - 10.0).abs() < 0.01);
        assert_eq!(model.ns_from(Tick(1_000), MonoNs(4_999_999_000)), -1000);
        // A slow radio has no drift for it.
        let slow = |host, tick| ClockReading { speed: "0.1".parse().unwrap(), ..at(host, tick) };
        let model = ClockModel::through(slow(5_000_000_000, 1_000), slow(15_000_000_000, 100_001_000));
        assert!(model.drift_ppm().abs() < 0.01);
        assert_eq!(model.host_ns(Tick(100_001_000)), 15_000_000_000);
    }
}
