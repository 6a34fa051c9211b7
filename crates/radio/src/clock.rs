//! A radio's clock and this host's at one instant.

use std::time::Duration;

use takt_base::{MonoNs, Tick, TickRate};

use crate::{Net, RadioError};

/// The radio's clock and this host's at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockReading {
    /// How fast the radio's runs.
    pub clock: TickRate,
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
            Some(ahead) => self.host + self.clock.duration_of(ahead),
            None => MonoNs(self.host.0.saturating_sub(self.clock.ns_of(self.tick - tick))),
        }
    }

    /// What the radio's clock shows at `host`, as far as the two run alike.
    #[must_use]
    pub fn tick_at(&self, host: MonoNs) -> Tick {
        let ahead = self.clock.ticks_in(host - self.host);
        if host >= self.host { self.tick + ahead } else { self.tick - self.clock.ticks_in(self.host - host) }
    }
}

/// The best of `tries` readings: the one whose question was answered soonest. `read` asks the radio for its time; what it is given
/// is the middle of the time that the question took.
pub(crate) fn best_reading(
    net: &dyn Net,
    clock: TickRate,
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
            best = Some(ClockReading { clock, host: sent + uncertainty, tick, uncertainty });
        }
    }
    Ok(best.expect("at least one reading"))
}
