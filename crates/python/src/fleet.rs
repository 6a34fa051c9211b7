//! Radios of one start: some of a model, or those of an air.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::Ipv4Addr;

use serde::Serialize;
use takt_emulator::air::{ModelName, Scene};
use takt_emulator::emulate::{EmulateError, EmulatorOptions, InAir, Notice, Radios};
use takt_emulator::n200::N200;
use takt_emulator::sink::Memory;
use takt_emulator::x310::X310;
use takt_packet::EngineError;

use crate::problem::Problem;

pub enum Fleet {
    N200(Radios<N200>),
    X310(Radios<X310>),
    Air(InAir),
}

/// How often another address is tried where one turns out to be taken.
const TRIES: u32 = 100;

impl Fleet {
    /// A radio; at a free address unless it is `addressed`.
    pub fn of_one(model: ModelName, mut options: EmulatorOptions, addressed: bool) -> Result<Fleet, EmulateError> {
        with_addresses(!addressed, |addr| {
            if let Some(addr) = addr {
                options.addrs = vec![addr()];
            }
            Ok(match model {
                ModelName::N200 => Fleet::N200(Radios::start(&options)?),
                ModelName::X310 => Fleet::X310(Radios::start(&options)?),
            })
        })
    }

    /// An air, of which the radios of these numbers get a free address.
    pub fn of_scene(mut scene: Scene, free: &[usize]) -> Result<Fleet, EmulateError> {
        with_addresses(!free.is_empty(), |addr| {
            if let Some(addr) = addr {
                for (_, radio) in scene.radios.iter_mut().enumerate().filter(|(n, _)| free.contains(n)) {
                    radio.addr = addr();
                    radio.options.addrs = vec![radio.addr];
                }
            }
            InAir::start(&scene).map(Fleet::Air)
        })
    }

    pub fn tend(&mut self, keep: bool, notify: &mut dyn FnMut(Notice)) -> Result<(), EmulateError> {
        match self {
            Fleet::N200(radios) => radios.tend(keep, notify),
            Fleet::X310(radios) => radios.tend(keep, notify),
            Fleet::Air(radios) => radios.tend(keep, notify),
        }
    }

    /// The model of each, and where it listens.
    pub fn addrs(&self) -> Vec<(ModelName, Ipv4Addr)> {
        match self {
            Fleet::N200(radios) => radios.addrs().map(|addr| (ModelName::N200, addr)).collect(),
            Fleet::X310(radios) => radios.addrs().map(|addr| (ModelName::X310, addr)).collect(),
            Fleet::Air(radios) => radios.addrs().collect(),
        }
    }

    pub fn memories(&self) -> Vec<Vec<Memory>> {
        match self {
            Fleet::N200(radios) => radios.memories(),
            Fleet::X310(radios) => radios.memories(),
            Fleet::Air(radios) => radios.memories(),
        }
    }

    /// Their counts so far, as JSON.
    pub fn summary(&self) -> Result<String, Problem> {
        match self {
            Fleet::N200(radios) => json(radios.snapshot()),
            Fleet::X310(radios) => json(radios.snapshot()),
            Fleet::Air(radios) => json(radios.snapshot()),
        }
    }

    /// Stops them, and returns their counts as JSON.
    pub fn stop(self) -> Result<String, Problem> {
        match self {
            Fleet::N200(radios) => json(radios.stop()),
            Fleet::X310(radios) => json(radios.stop()),
            Fleet::Air(radios) => json(radios.stop()),
        }
    }
}

fn json<S: Serialize>(summary: Result<S, EmulateError>) -> Result<String, Problem> {
    let summary = serde_json::to_string(&summary?);
    summary.map_err(|error| Problem { message: error.to_string(), ..Problem::default() })
}

/// Starts at addresses that nobody else has: the kernel gives each to one program, and whoever comes second tries others.
fn with_addresses(
    free: bool,
    mut start: impl FnMut(Option<&mut dyn FnMut() -> Ipv4Addr>) -> Result<Fleet, EmulateError>,
) -> Result<Fleet, EmulateError> {
    if !free {
        return start(None);
    }
    let mut tried = 0;
    loop {
        tried += 1;
        match start(Some(&mut anywhere)) {
            Err(EmulateError::Ports { source: EngineError::PortInUse { .. }, .. }) if tried < TRIES => {}
            started => return started,
        }
    }
}

/// An address of loopback: one of some four million, 127.192.0.0/10 without hosts 0 and 255.
fn anywhere() -> Ipv4Addr {
    let random = RandomState::new().build_hasher().finish().to_le_bytes();
    Ipv4Addr::new(127, 192 | random[0] & 63, random[1], 1 + random[2] % 254)
}
