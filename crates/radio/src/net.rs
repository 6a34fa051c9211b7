//! Environment of a driver: how it opens ports, tells the time and waits.
//!
//! On a real host that is the kernel ([`WallNet`]). In tests it is a world on a virtual clock, where waiting runs the
//! devices and takes no time. A driver cannot tell the two apart, so what is proved in the one holds in the other.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Speed, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortSpec};

/// Purpose for which an engine is opened.
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

    /// How fast the time of takt's own radio at `addr` passes beside this clock; `None`: it does not say. Hardware has one
    /// speed and no port to say so, and is not asked.
    fn speed_of(&self, _addr: IpAddr) -> Option<Speed> {
        None
    }
}

/// The host's own network and clock. Control goes through the `socket` engine, samples through the one chosen; both through
/// that one where its device is not the kernel's too.
pub struct WallNet {
    stream: EngineKind,
    /// Keeps such a device from the first engine on: a tap that is closed is gone, and a card takes seconds to be up again.
    keeper: Mutex<Option<Box<dyn Engine>>>,
}

impl WallNet {
    /// A net whose streams run on `stream`.
    #[must_use]
    pub fn new(stream: EngineKind) -> WallNet {
        WallNet { stream, keeper: Mutex::new(None) }
    }

    fn keep(&self, config: &Config) -> Result<(), EngineError> {
        let mut keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner);
        if keeper.is_none() {
            let ports = config.ports.iter().take(1).map(|port| PortSpec { bind: (port.bind.ip(), 0).into(), ..*port });
            *keeper = Some(takt_packet::open(self.stream, &Config { ports: ports.collect(), ..config.clone() })?);
        }
        Ok(())
    }
}

impl Clock for WallNet {
    fn now(&self) -> MonoNs {
        WallClock.now()
    }
}

impl Net for WallNet {
    fn open(&self, role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        match role {
            Role::Stream => takt_packet::open(self.stream, config),
            Role::Control if self.stream.is_beside_sockets() => takt_packet::open(EngineKind::Socket, config),
            Role::Control => {
                // Frames of a device may be shorter than the longest answer that a socket could take.
                let config = Config { shorter_payloads: true, ..config.clone() };
                self.keep(&config)?;
                takt_packet::open(self.stream, &config)
            }
        }
    }

    fn sleep_until(&self, instant: MonoNs) {
        std::thread::sleep(instant.saturating_since(self.now()));
    }

    fn threads(&self) -> bool {
        true
    }

    fn speed_of(&self, addr: IpAddr) -> Option<Speed> {
        crate::speed::ask(self, addr)
    }
}
