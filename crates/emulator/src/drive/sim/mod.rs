//! A world on a virtual clock: devices, a network, and packet engines for the host side.
//!
//! Nothing waits. A host that calls `recv(Wait::Until(t))` on a [`SimEngine`] moves the world to the next thing that
//! happens: a datagram reaches a device, a device's deadline passes, a datagram reaches the host. Seconds of radio time
//! take milliseconds, and on one thread the same calls give the same bytes.
//!
//! ```text
//!   host code ── SimEngine ──┐                         ┌── Device 192.0.2.1
//!   host code ── SimEngine ──┤  Network (one latency)  ├── Device 192.0.2.2
//!                            └────── VirtualClock ─────┘
//! ```
//!
//! The world never goes on for ever: a device that asks for the same instant again and again, or a host that polls
//! without letting time pass, ends in a panic that names the instant.

mod engine;
mod network;

use std::any::Any;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Tick, TickRate, VirtualClock};
use takt_packet::{Config, EngineError};

use crate::{Device, Outbox, Port, Sent};
use network::{Cargo, Network};

pub use engine::SimEngine;

/// How often the world may act at one instant before it is taken for a livelock.
const ACTS_AT_ONE_INSTANT: u32 = 1_000_000;

/// Devices and hosts that share one virtual clock. Clones are the same world.
#[derive(Clone)]
pub struct World {
    inner: Arc<Mutex<Inner>>,
    clock: VirtualClock,
}

impl World {
    /// An empty world whose clock stands at `start`, with a network that takes `latency` from end to end.
    #[must_use]
    pub fn starting_at(start: MonoNs, latency: Duration) -> World {
        let clock = VirtualClock::starting_at(start);
        let inner =
            Inner { clock: clock.clone(), net: Network::new(latency), devices: Vec::new(), acts: 0, acted_at: start };
        World { inner: Arc::new(Mutex::new(inner)), clock }
    }

    /// Puts a device at an address. Its tick counter is the world's clock, counted at `rate`.
    ///
    /// # Panics
    /// If the address is taken.
    pub fn add<D: Device + Any>(&self, addr: IpAddr, rate: TickRate, device: D) {
        let mut inner = self.lock();
        assert!(inner.devices.iter().all(|s| s.addr != addr), "two devices at {addr}");
        inner.devices.push(SimDevice { addr, rate, device: Box::new(device) });
    }

    /// Opens an engine for a host in this world. Unspecified addresses become 127.0.0.1, port 0 the next free port.
    /// Fails if a port is taken, or there is none.
    pub fn engine(&self, config: &Config) -> Result<SimEngine, EngineError> {
        SimEngine::open(self.clone(), config)
    }

    #[must_use]
    pub fn clock(&self) -> VirtualClock {
        self.clock.clone()
    }

    #[must_use]
    pub fn now(&self) -> MonoNs {
        self.clock.now()
    }

    /// Lets everything happen that is due up to and including `end`; the clock then stands there.
    pub fn run_until(&self, end: MonoNs) {
        self.lock().run_until(end);
    }

    pub fn run_for(&self, span: Duration) {
        self.run_until(self.now() + span);
    }

    /// Looks into the device at `addr`, or changes it.
    ///
    /// # Panics
    /// If there is no device of that type there.
    pub fn device<D: Device + Any, R>(&self, addr: IpAddr, look: impl FnOnce(&mut D) -> R) -> R {
        let mut inner = self.lock();
        let device = inner.devices.iter_mut().find(|s| s.addr == addr);
        let device = device.and_then(|s| s.device.as_any().downcast_mut::<D>());
        look(device.unwrap_or_else(|| panic!("no such device at {addr}")))
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // A panic of another thread inside the world is a failed test already; its state still helps to say why.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A device that can be looked into by its own type.
trait Hosted: Device {
    fn as_any(&mut self) -> &mut dyn Any;
}

impl<D: Device + Any> Hosted for D {
    fn as_any(&mut self) -> &mut dyn Any {
        self
    }
}

struct SimDevice {
    addr: IpAddr,
    rate: TickRate,
    device: Box<dyn Hosted>,
}

impl SimDevice {
    fn tick(&self, at: MonoNs) -> Tick {
        Tick(self.rate.ticks_in_ns(u128::from(at.0)).0)
    }

    /// When the device wants to be called, never before `now`.
    fn due(&self, now: MonoNs) -> Option<MonoNs> {
        let deadline = self.device.deadline()?;
        Some(MonoNs(self.rate.ns_of(deadline - Tick(0))).max(now))
    }
}

struct Inner {
    clock: VirtualClock,
    net: Network,
    devices: Vec<SimDevice>,
    acts: u32,
    acted_at: MonoNs,
}

impl Inner {
    fn run_until(&mut self, end: MonoNs) {
        while self.step(end) {}
        self.clock.advance_to(end);
    }

    /// Moves to the next instant at which something happens, if that is not after `limit`, and lets it happen.
    fn step(&mut self, limit: MonoNs) -> bool {
        let now = self.clock.now();
        let deadlines = self.devices.iter().filter_map(|s| s.due(now));
        let Some(at) = deadlines.chain(self.net.next_arrival()).min().filter(|&at| at <= limit) else {
            return false;
        };
        self.act(at);
        self.clock.advance_to(at);
        while let Some(cargo) = self.net.land(at) {
            self.deliver(at, cargo);
        }
        for device in &mut self.devices {
            if device.due(at).is_some_and(|due| due <= at) {
                let tick = device.tick(at);
                device.device.advance(tick, &mut SimOutbox { net: &mut self.net, now: at, ip: device.addr });
            }
        }
        true
    }

    fn deliver(&mut self, now: MonoNs, cargo: Cargo) {
        match cargo {
            Cargo::Datagram { from, to, bytes } => {
                let device = self.devices.iter_mut().find(|s| s.addr == to.ip());
                match device {
                    Some(device) if device.device.ports().contains(&Port(to.port())) => {
                        let tick = device.tick(now);
                        let mut out = SimOutbox { net: &mut self.net, now, ip: device.addr };
                        device.device.datagram(tick, Port(to.port()), from, &bytes, &mut out);
                        self.net.reuse(bytes);
                    }
                    _ => self.net.receive(now, from, to, bytes),
                }
            }
            Cargo::Unreachable { sender, by } => match self.devices.iter_mut().find(|s| s.addr == sender.ip()) {
                Some(device) => {
                    let tick = device.tick(now);
                    device.device.refused(tick, Port(sender.port()), by);
                }
                None => self.net.refuse(sender, by),
            },
        }
    }

    /// Notices a world that acts without letting time pass.
    fn act(&mut self, at: MonoNs) {
        self.acts = if at == self.acted_at { self.acts + 1 } else { 0 };
        self.acted_at = at;
        assert!(self.acts < ACTS_AT_ONE_INSTANT, "livelock: the world does not get past {at}");
    }
}

struct SimOutbox<'a> {
    net: &'a mut Network,
    now: MonoNs,
    ip: IpAddr,
}

impl Outbox for SimOutbox<'_> {
    fn send(&mut self, _due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        self.net.post(self.now, SocketAddr::new(self.ip, from.0), to, fill);
        Sent::Taken
    }
}
