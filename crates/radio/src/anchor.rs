//! Where the radio's clock stands by this host's, roughly.
//!
//! An N200's slow path reads the low 32 bits of its time: 43 s. The estimate here says which 43 s.

use std::sync::{Mutex, PoisonError};

use takt_base::{MonoNs, Tick, TickRate};

/// One instant on both clocks. Shared by the driver, which sets it, and its streamers.
pub(crate) struct Anchor {
    clock: TickRate,
    both: Mutex<(MonoNs, Tick)>,
}

impl Anchor {
    pub(crate) fn new(clock: TickRate, host: MonoNs, device: Tick) -> Anchor {
        Anchor { clock, both: Mutex::new((host, device)) }
    }

    /// The clocks were read, or the device's set, together.
    pub(crate) fn set(&self, host: MonoNs, device: Tick) {
        *self.both.lock().unwrap_or_else(PoisonError::into_inner) = (host, device);
    }

    /// What the device's clock shows at `host`, as far as the two run alike.
    pub(crate) fn device_at(&self, host: MonoNs) -> Tick {
        let (host_then, device_then) = *self.both.lock().unwrap_or_else(PoisonError::into_inner);
        device_then + self.clock.ticks_in(host - host_then)
    }

    /// When the device's clock shows `tick`, on the host's.
    pub(crate) fn host_at(&self, tick: Tick) -> MonoNs {
        let (host_then, device_then) = *self.both.lock().unwrap_or_else(PoisonError::into_inner);
        host_then + self.clock.duration_of(tick - device_then)
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
        let anchor = Anchor::new(crate::n200::CLOCK, MonoNs(0), Tick((7 << 32) - 5));
        assert_eq!(anchor.complete(3, MonoNs(0)), Tick((7 << 32) + 3));
        assert_eq!(anchor.complete(u32::MAX, MonoNs(1000)), Tick((7 << 32) - 1));
        assert_eq!(anchor.complete(100, MonoNs(50_000_000_000)), Tick((8 << 32) + 100));
    }
}
