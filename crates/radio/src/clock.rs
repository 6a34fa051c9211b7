//! A radio's clock and this host's at one instant.

use std::time::Duration;

use takt_base::{MonoNs, Speed, Tick, TickRate};

use crate::{Net, RadioError};

/// The radio's clock and this host's at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// How fast the radio's runs, in ticks of its own second.
    pub clock: TickRate,
    /// How fast the radio's time passes.
    pub speed: Speed,
    /// On this host's clock.
    pub host: MonoNs,
    /// On the radio's.
    pub tick: Tick,
    /// The two may be apart by this much, either way: half of the time it took to ask.
    pub uncertainty: Duration,
}

impl ClockReading {
    /// When the radio's clock shows `tick`, on this host's, as far as the two run alike.
    #[must_use]
    pub fn host_at(&self, tick: Tick) -> MonoNs {
        match tick.since(self.tick) {
            Some(ahead) => self.host + self.speed.duration_of(self.clock, ahead),
            None => MonoNs(self.host.0.saturating_sub(self.speed.ns_of(self.clock, self.tick - tick))),
        }
    }

    /// Reading of the radio's clock at `host`, as far as the two run alike.
    #[must_use]
    pub fn tick_at(&self, host: MonoNs) -> Tick {
        let ticks = |span| self.speed.ticks_in(self.clock, span);
        if host >= self.host { self.tick + ticks(host - self.host) } else { self.tick - ticks(self.host - host) }
    }
}

/// The best of `tries` readings: the one whose question was answered soonest. `read` asks the radio for its time; what it is given
/// is the middle of the time that the question took.
pub(crate) fn best_reading(
    net: &dyn Net,
    (clock, speed): (TickRate, Speed),
    tries: u32,
    mut read: impl FnMut(&dyn Fn() -> MonoNs) -> Result<Tick, RadioError>,
) -> Result<ClockReading, RadioError> {
    let mut best: Option<ClockReading> = None;
    for _ in 0..tries.max(1) {
        let sent = net.now();
        let middle = || sent + (net.now() - sent) / 2;
        let tick = read(&middle)?;
        let uncertainty = (net.now() - sent) / 2;
        if best.is_none_or(|best| uncertainty < best.uncertainty) {
            best = Some(ClockReading { clock, speed, host: sent + uncertainty, tick, uncertainty });
        }
    }
    Ok(best.expect("at least one reading"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_radios_tick_comes_ten_times_as_late() {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        let speed = "0.1".parse().unwrap();
        let uncertainty = Duration::ZERO;
        let reading = ClockReading { clock, speed, host: MonoNs(5_000_000_000), tick: Tick(700_000_000), uncertainty };
        let pairs = [(4_000_000_000, 690_000_000), (5_000_000_000, 700_000_000), (15_000_000_000, 800_000_000)];
        for (host, tick) in pairs.map(|(host, tick)| (MonoNs(host), Tick(tick))) {
            assert_eq!((reading.host_at(tick), reading.tick_at(host)), (host, tick));
        }
    }
}
