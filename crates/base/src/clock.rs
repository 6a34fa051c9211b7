//! Sources of "now": the host's monotonic clock, or a test.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// An instant of this host's `CLOCK_MONOTONIC`, in nanoseconds. All processes of a machine share it, which is what
/// lets two software radios on one host agree on the second without talking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MonoNs(pub u64);

impl MonoNs {
    /// Later than any deadline: wait until something else happens.
    pub const NEVER: MonoNs = MonoNs(u64::MAX);

    /// The time from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub fn saturating_since(self, earlier: MonoNs) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for MonoNs {
    type Output = MonoNs;
    fn add(self, span: Duration) -> MonoNs {
        MonoNs(self.0.saturating_add(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl AddAssign<Duration> for MonoNs {
    fn add_assign(&mut self, span: Duration) {
        *self = *self + span;
    }
}

impl Sub<MonoNs> for MonoNs {
    type Output = Duration;
    fn sub(self, earlier: MonoNs) -> Duration {
        self.saturating_since(earlier)
    }
}

impl fmt::Display for MonoNs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

/// Tells the time and nothing else: waiting is the business of the engine or the driver that knows what it waits for.
pub trait Clock: Send + Sync {
    /// The present instant. Never decreases.
    fn now(&self) -> MonoNs;
}

/// The host's own `CLOCK_MONOTONIC`.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallClock;

impl Clock for WallClock {
    fn now(&self) -> MonoNs {
        let t = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
        // The monotonic clock starts at boot: both parts are non-negative and fit.
        MonoNs(t.tv_sec.unsigned_abs() * 1_000_000_000 + t.tv_nsec.unsigned_abs())
    }
}

/// A clock that moves only when it is set. Clones share the same time.
#[derive(Clone, Debug, Default)]
pub struct VirtualClock(Arc<AtomicU64>);

impl VirtualClock {
    /// A clock that stands at `start`.
    #[must_use]
    pub fn starting_at(start: MonoNs) -> VirtualClock {
        VirtualClock(Arc::new(AtomicU64::new(start.0)))
    }

    /// Moves to `instant`; does nothing if that is in the past.
    pub fn advance_to(&self, instant: MonoNs) {
        // Relaxed: the time is the only thing shared, and no other data is published through it.
        self.0.fetch_max(instant.0, Ordering::Relaxed);
    }
}

impl Clock for VirtualClock {
    fn now(&self) -> MonoNs {
        MonoNs(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_clock_never_goes_back() {
        let clock = VirtualClock::starting_at(MonoNs(5));
        let other = clock.clone();
        clock.advance_to(MonoNs(9));
        clock.advance_to(MonoNs(7));
        assert_eq!(other.now(), MonoNs(9));
    }

    #[test]
    fn the_wall_clock_is_the_kernels_monotonic_clock() {
        let earlier = WallClock.now();
        assert!(earlier.0 > 0);
        assert!(WallClock.now() >= earlier);
    }
}
