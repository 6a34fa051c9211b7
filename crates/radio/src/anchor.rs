//! Rough relation of the radio's clock to this host's.
//!
//! An N200's slow path reads the low 32 bits of its time: 43 s. The estimate here says which 43 s.

use std::sync::{Mutex, PoisonError};

use takt_base::{MonoNs, Speed, Tick, TickRate};

/// One instant on both clocks. Shared by the driver, which sets it, and its streamers.
pub(crate) struct Anchor {
    clock: TickRate,
    speed: Speed,
    both: Mutex<(MonoNs, Tick)>,
}

impl Anchor {
    /// The anchor of a clock of this rate in a radio whose time passes so fast.
    pub(crate) fn new((clock, speed): (TickRate, Speed), host: MonoNs, device: Tick) -> Anchor {
        Anchor { clock, speed, both: Mutex::new((host, device)) }
    }

    /// The clocks were read, or the device's set, together.
    pub(crate) fn set(&self, host: MonoNs, device: Tick) {
        *self.both.lock().unwrap_or_else(PoisonError::into_inner) = (host, device);
    }

    /// Reading of the device's clock at `host`, as far as the two run alike.
    pub(crate) fn device_at(&self, host: MonoNs) -> Tick {
        let (host_then, device_then) = *self.both.lock().unwrap_or_else(PoisonError::into_inner);
        device_then + self.speed.ticks_in(self.clock, host - host_then)
    }

    /// When the device's clock shows `tick`, on the host's.
    pub(crate) fn host_at(&self, tick: Tick) -> MonoNs {
        let (host_then, device_then) = *self.both.lock().unwrap_or_else(PoisonError::into_inner);
        host_then + self.speed.duration_of(self.clock, tick - device_then)
    }

    /// The device's time from its low word, read at `host`.
    pub(crate) fn complete(&self, low: u32, host: MonoNs) -> Tick {
        let guess = self.device_at(host).0;
        let ahead = low.wrapping_sub(guess as u32) as i32;
        Tick(guess.saturating_add_signed(i64::from(ahead)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_word_is_completed_on_both_sides_of_a_wrap() {
        let anchor = Anchor::new((crate::n200::CLOCK, Speed::WALL), MonoNs(0), Tick((7 << 32) - 5));
        assert_eq!(anchor.complete(3, MonoNs(0)), Tick((7 << 32) + 3));
        assert_eq!(anchor.complete(u32::MAX, MonoNs(1000)), Tick((7 << 32) - 1));
        assert_eq!(anchor.complete(100, MonoNs(50_000_000_000)), Tick((8 << 32) + 100));
        let slow = Anchor::new((crate::n200::CLOCK, "0.1".parse().unwrap()), MonoNs(0), Tick((7 << 32) - 5));
        assert_eq!(slow.complete(100, MonoNs(500_000_000_000)), Tick((8 << 32) + 100), "as far in ten times as long");
        assert_eq!(slow.host_at(Tick((7 << 32) + 95)), MonoNs(10_000));
    }
}
