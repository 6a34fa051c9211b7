//! Where a driver lives: how it opens ports, tells the time and waits.
//!
//! On a real host that is the kernel ([`WallNet`]). In tests it is a world on a virtual clock, where waiting runs the
//! devices and takes no time. A driver cannot tell the two apart, so what is proved in the one holds in the other.

use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind};

/// What an engine is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A few small datagrams, each waited for.
    Control,
    /// Samples.
    Stream,
}

/// Ports, time and waiting.
pub trait Net: Clock {
    /// Opens an engine.
    ///
    /// # Errors
    /// The ports can't be had, or the configuration is out of range.
    fn open(&self, role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError>;

    /// Returns when the clock shows `instant`, or later.
    fn sleep_until(&self, instant: MonoNs);

    /// Whether another thread of this program may use the net while this one works. A virtual world has one thread, so
    /// what would be done in the background is done inside calls there.
    fn threads(&self) -> bool;

    /// Returns after `span`, or later.
    fn sleep(&self, span: Duration) {
        self.sleep_until(self.now() + span);
    }
}

/// The host's own network and clock. Control goes through the `socket` engine, samples through the one chosen.
#[derive(Clone, Copy, Debug)]
pub struct WallNet {
    stream: EngineKind,
}

impl WallNet {
    /// A net whose streams run on `stream`.
    #[must_use]
    pub fn new(stream: EngineKind) -> WallNet {
        WallNet { stream }
    }
}

impl Clock for WallNet {
    fn now(&self) -> MonoNs {
        WallClock.now()
    }
}

impl Net for WallNet {
    fn open(&self, role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        let kind = match role {
            Role::Control => EngineKind::Socket,
            Role::Stream => self.stream,
        };
        takt_packet::open(kind, config)
    }

    fn sleep_until(&self, instant: MonoNs) {
        std::thread::sleep(instant.saturating_since(self.now()));
    }

    fn threads(&self) -> bool {
        true
    }
}
