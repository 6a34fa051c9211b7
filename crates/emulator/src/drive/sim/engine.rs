//! A packet engine whose wire is the virtual network.

use std::net::SocketAddr;

use takt_base::{Clock, MonoNs};
use takt_packet::{
    Config, Counters, Engine, EngineError, FramePath, Limits, PortIndex, Refusal, RxBatch, RxEntry, Transmit, TxBatch,
    TxEntry, Wait,
};

use super::World;
use super::network::EngineId;

/// Polls that find nothing before the same host is taken for one that spins for ever.
const EMPTY_POLLS: u32 = 1_000_000;

/// An [`Engine`] in a [`World`]: to receive is to let time pass.
///
/// `recv(Wait::Until(t))` runs the world until a datagram for this engine arrives or `t` is reached. `Wait::Poll` lets no
/// time pass. A datagram is never lost between hosts and devices but to a full receive buffer, which is counted.
///
/// # Panics
/// `recv` panics when it is to wait for ever and nothing will ever happen, and after a million polls in a row that
/// found nothing.
pub struct SimEngine {
    wire: Wire,
    limits: Limits,
    rx_arena: Vec<u8>,
    rx_entries: Vec<RxEntry>,
    tx_arena: Vec<u8>,
    tx_entries: Vec<TxEntry>,
    empty_polls: u32,
}

/// The part of the engine that a lent batch still needs.
struct Wire {
    world: World,
    id: EngineId,
    ports: Vec<(SocketAddr, Option<SocketAddr>)>,
    counters: Counters,
}

impl SimEngine {
    pub(super) fn open(world: World, config: &Config) -> Result<SimEngine, EngineError> {
        let id = world.lock().net.open();
        let mut wire = Wire { world, id, ports: Vec::new(), counters: Counters::default() };
        for (n, spec) in config.ports.iter().enumerate() {
            let index = u8::try_from(n).map_err(|_| EngineError::Config {
                what: "ports",
                got: config.ports.len() as u64,
                want: "at most 255",
            })?;
            let local = wire.world.lock().net.bind(id, PortIndex(index), *spec, config.recv_buffer_bytes)?;
            wire.ports.push((local, spec.peer));
        }
        wire.counters.receive_buffer_drops = Some(0);
        let limits = Limits {
            batch: config.batch,
            max_payload_bytes: config.max_payload_bytes,
            recv_buffer_bytes: config.recv_buffer_bytes,
            send_buffer_bytes: config.send_buffer_bytes,
            stamps: config.stamps,
            aggregates_sends: false,
            aggregates_receives: false,
            busy_poll: false,
            path: FramePath::Sockets,
        };
        let arena_bytes = config.batch * config.max_payload_bytes;
        Ok(SimEngine {
            wire,
            limits,
            rx_arena: vec![0; arena_bytes],
            rx_entries: Vec::with_capacity(config.batch),
            tx_arena: vec![0; arena_bytes],
            tx_entries: Vec::with_capacity(config.batch),
            empty_polls: 0,
        })
    }

    fn take(&mut self) {
        self.rx_entries.clear();
        let mut inner = self.wire.world.lock();
        while self.rx_entries.len() < self.limits.batch {
            let inbox = inner.net.inbox(self.wire.id);
            let Some(arrived) = inbox.and_then(|inbox| inbox.arrived.pop_front()) else { break };
            let offset = self.rx_entries.len() * self.limits.max_payload_bytes;
            let len = arrived.bytes.len().min(self.limits.max_payload_bytes);
            self.rx_arena[offset..offset + len].copy_from_slice(&arrived.bytes[..len]);
            let truncated = len < arrived.bytes.len();
            self.rx_entries.push(RxEntry {
                port: arrived.port,
                source: arrived.source,
                arrived: self.limits.stamps.then_some(arrived.at),
                offset,
                len,
                truncated,
            });
            self.wire.counters.received_datagrams += 1;
            self.wire.counters.received_bytes += len as u64;
            self.wire.counters.truncated_datagrams += u64::from(truncated);
            let local = self.wire.ports[usize::from(arrived.port.0)].0;
            inner.net.done(local, arrived.bytes);
        }
        if let Some(inbox) = inner.net.inbox(self.wire.id) {
            inbox.news = false;
        }
    }

    /// Lets the world go on until something is there for this engine, or until `end`.
    fn wait(&mut self, end: MonoNs) {
        let mut inner = self.wire.world.lock();
        loop {
            let inbox = inner.net.inbox(self.wire.id);
            if inbox.is_some_and(|inbox| !inbox.arrived.is_empty() || inbox.news) {
                return;
            }
            if !inner.step(end) {
                assert!(end != MonoNs::NEVER, "a host waits for ever at {}: nothing will happen", inner.clock.now());
                return inner.clock.advance_to(end);
            }
        }
    }
}

impl Engine for SimEngine {
    fn recv(&mut self, wait: Wait) -> Result<RxBatch<'_>, EngineError> {
        self.wire.counters.receive_calls += 1;
        // All that is due at this very instant has happened, whether or not a caller waits for it.
        let now = self.wire.world.now();
        self.wire.world.lock().run_until(now);
        if let Wait::Until(end) = wait {
            self.wait(end);
        }
        self.take();
        self.empty_polls = match wait {
            Wait::Poll if self.rx_entries.is_empty() => self.empty_polls + 1,
            _ => 0,
        };
        assert!(self.empty_polls < EMPTY_POLLS, "livelock: a host polls and lets no time pass at {now}");
        Ok(RxBatch::new(&self.rx_arena, &self.rx_entries))
    }

    fn last_batch(&self) -> RxBatch<'_> {
        RxBatch::new(&self.rx_arena, &self.rx_entries)
    }

    fn reserve(&mut self, want: usize) -> TxBatch<'_> {
        let room = want.min(self.limits.batch);
        let stride = self.limits.max_payload_bytes;
        TxBatch::new(&mut self.tx_arena, stride, &mut self.tx_entries, room, &mut self.wire)
    }

    fn refused(&mut self) -> Option<Refusal> {
        self.wire.world.lock().net.inbox(self.wire.id)?.refusals.pop_front()
    }

    fn local(&self, port: PortIndex) -> Option<SocketAddr> {
        self.wire.ports.get(usize::from(port.0)).map(|p| p.0)
    }

    fn limits(&self) -> Limits {
        self.limits
    }

    fn counters(&self) -> Counters {
        let mut counters = self.wire.counters;
        if let Some(inbox) = self.wire.world.lock().net.inbox(self.wire.id) {
            counters.receive_buffer_drops = Some(inbox.drops);
            counters.refusals = inbox.refused;
        }
        counters
    }
}

impl Transmit for Wire {
    fn transmit(&mut self, arena: &[u8], entries: &[TxEntry], _wait: Wait) -> Result<usize, EngineError> {
        let now = self.world.clock.now();
        let mut inner = self.world.lock();
        self.counters.send_calls += 1;
        for entry in entries {
            let Some(&(local, peer)) = self.ports.get(usize::from(entry.port.0)) else { continue };
            let Some(to) = entry.to.or(peer) else {
                let want = "a destination for a port that is not connected";
                return Err(EngineError::Config { what: "destination", got: 0, want });
            };
            let bytes = arena.get(entry.offset..entry.offset + entry.len).unwrap_or(&[]);
            inner.net.post(now, local, to, &mut |frame| {
                let len = bytes.len().min(frame.len());
                frame[..len].copy_from_slice(&bytes[..len]);
                len
            });
            self.counters.sent_datagrams += 1;
            self.counters.sent_bytes += bytes.len() as u64;
        }
        Ok(entries.len())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.world.lock().net.close(self.id);
    }
}
