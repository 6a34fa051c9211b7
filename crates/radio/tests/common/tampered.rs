//! An engine behind a network that loses, doubles, swaps and damages what a script names.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use takt_emulator::drive::sim::SimEngine;
use takt_packet::{
    Config, Counters, Engine, EngineError, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch, TxEntry,
    Wait,
};

/// To the radio or from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Out,
    In,
}

/// Fate of a datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    Pass,
    Lose,
    Double,
    /// After the next datagram of the same port.
    Swap,
    /// With these bytes in its place.
    Become(Vec<u8>),
    /// After all of these.
    Follow(Vec<Vec<u8>>),
}

type Rule = Box<dyn FnMut(Way, u16, &[u8]) -> Action + Send>;

/// Called for every datagram: which way, the radio's port, the bytes.
#[derive(Default)]
pub struct Script {
    pub rule: Option<Rule>,
}

impl Script {
    fn ask(&mut self, way: Way, port: u16, bytes: &[u8]) -> Action {
        self.rule.as_mut().map_or(Action::Pass, |rule| rule(way, port, bytes))
    }
}

/// The way out: asks the script, then sends.
struct Sender {
    inner: SimEngine,
    ports: Vec<u16>,
    script: Arc<Mutex<Script>>,
}

pub struct Tampered {
    sender: Sender,
    stride: usize,
    arena: Vec<u8>,
    entries: Vec<RxEntry>,
    tx_arena: Vec<u8>,
    tx_entries: Vec<TxEntry>,
}

impl Tampered {
    pub fn new(inner: SimEngine, config: &Config, script: Arc<Mutex<Script>>) -> Tampered {
        let ports = config.ports.iter().map(|p| p.peer.map_or(0, |peer| peer.port())).collect();
        Tampered {
            sender: Sender { inner, ports, script },
            stride: config.max_payload_bytes,
            arena: Vec::new(),
            entries: Vec::new(),
            tx_arena: vec![0; config.batch * config.max_payload_bytes],
            tx_entries: Vec::with_capacity(config.batch),
        }
    }

    fn add(&mut self, entry: RxEntry, bytes: &[u8]) {
        self.entries.push(RxEntry { offset: self.arena.len(), len: bytes.len(), ..entry });
        self.arena.extend_from_slice(bytes);
    }
}

impl Engine for Tampered {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        self.arena.clear();
        self.entries.clear();
        let mut arrived = Vec::new();
        for d in self.sender.inner.recv(wait)?.iter() {
            let (port, source, arrived_at, truncated) = (d.port, d.source, d.arrived, d.truncated);
            let entry = RxEntry { port, source, arrived: arrived_at, offset: 0, len: 0, truncated };
            arrived.push((entry, d.bytes.to_vec()));
        }
        let mut held_back = Vec::new();
        for (entry, bytes) in arrived {
            match self.sender.ask(Way::In, entry.port, &bytes) {
                Action::Pass => self.add(entry, &bytes),
                Action::Lose => continue,
                Action::Double => {
                    self.add(entry, &bytes);
                    self.add(entry, &bytes);
                }
                Action::Swap => {
                    held_back.push((entry, bytes));
                    continue;
                }
                Action::Become(bytes) => self.add(entry, &bytes),
                Action::Follow(others) => {
                    others.iter().for_each(|other| self.add(entry, other));
                    self.add(entry, &bytes);
                }
            }
            for (entry, bytes) in held_back.drain(..) {
                self.add(entry, &bytes);
            }
        }
        for (entry, bytes) in held_back {
            self.add(entry, &bytes);
        }
        Ok(RxBatch::new(&self.arena, &self.entries))
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.arena, &self.entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let room = want.min(self.limits().batch);
        TxBatch::new(&mut self.tx_arena, self.stride, &mut self.tx_entries, room, &mut self.sender)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.sender.inner.refused()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.sender.inner.local(port)
    }

    fn limits(&self) -> Limits {
        self.sender.inner.limits()
    }

    fn counters(&self) -> Counters {
        self.sender.inner.counters()
    }
}

impl Sender {
    fn ask(&self, way: Way, port: PortIndex, bytes: &[u8]) -> Action {
        self.script.lock().unwrap().ask(way, self.ports[usize::from(port.0)], bytes)
    }
}

impl Transmit for Sender {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], wait: Wait) -> Result<usize, EngineError> {
        let mut order = Vec::new();
        let mut held_back = None;
        for entry in entries {
            let bytes = arena[entry.offset..entry.offset + entry.len].to_vec();
            match self.ask(Way::Out, entry.port, &bytes) {
                Action::Pass => order.push((*entry, bytes)),
                Action::Lose => continue,
                Action::Double => order.extend([(*entry, bytes.clone()), (*entry, bytes)]),
                Action::Swap => {
                    held_back = Some((*entry, bytes));
                    continue;
                }
                Action::Become(bytes) => order.push((*entry, bytes)),
                Action::Follow(others) => {
                    order.extend(others.into_iter().map(|other| (*entry, other)));
                    order.push((*entry, bytes));
                }
            }
            order.extend(held_back.take());
        }
        order.extend(held_back);
        for (entry, bytes) in order {
            let mut batch = self.inner.reserve(1);
            batch.push(entry.port, entry.to, |frame| {
                frame[..bytes.len()].copy_from_slice(&bytes);
                bytes.len()
            });
            batch.send(wait)?;
        }
        Ok(entries.len())
    }
}
