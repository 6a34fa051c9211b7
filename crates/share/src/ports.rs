//! The ports of a shared radio: datagrams in, and what the radio sends, kept until a batch leaves.

use std::net::{Ipv4Addr, SocketAddr};

use takt_base::Tick;
use takt_emulator::emulate::{PortWish, open_ports};
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_packet::{Counters, Engine, EngineError, EngineKind, PortIndex, Refusal, Wait};
use takt_wire::n200::ports;

use crate::error::ShareError;
use crate::front_end::{Outboxes, SharedFrontEnd};

/// Datagrams taken from a radio's hosts a block: more than the fastest stream brings, and no more, so that one who floods
/// its radio takes no time from the others.
const BATCH: usize = 64;
/// Requested from the kernel for each port, bytes.
const BUFFER_BYTES: usize = 4 << 20;
/// The longest datagram of an N200.
const FRAME_BYTES: usize = 9000;
/// Kept until they leave.
const QUEUE_BYTES: usize = 1 << 20;

pub(crate) struct HostPorts {
    addr: Ipv4Addr,
    engine: Box<dyn Engine>,
    ports: Vec<Port>,
    queue: Queue,
    /// Why the engine has ended.
    ended: Option<EngineError>,
}

/// Datagrams that are to leave.
struct Queue {
    bytes: Box<[u8]>,
    used: usize,
    entries: Vec<(Port, SocketAddr, usize)>,
    unsent: u64,
}

impl Queue {
    fn is_full(&self) -> bool {
        self.entries.len() == self.entries.capacity() || self.bytes.len() - self.used < FRAME_BYTES
    }
}

impl Outbox for Queue {
    fn send(&mut self, _due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        // To the device it has left: a host that is slow is no blocked wire.
        match self.bytes.get_mut(self.used..) {
            Some(room) if self.entries.len() < self.entries.capacity() && room.len() >= FRAME_BYTES => {
                let length = fill(room).min(room.len());
                self.entries.push((from, to, length));
                self.used += length;
            }
            _ => self.unsent += 1,
        }
        Sent::Taken
    }
}

impl HostPorts {
    pub(crate) fn open(kind: EngineKind, addr: Ipv4Addr, device: &dyn Device) -> Result<HostPorts, ShareError> {
        let wish = PortWish {
            ports: device.ports(),
            discovery_port: ports::CONTROL,
            buffer_bytes: BUFFER_BYTES,
            batch: BATCH,
        };
        let opened = open_ports(kind, false, addr, wish);
        let (engine, ports, _) = opened.map_err(|source| ShareError::Ports { addr, source })?;
        let queue = Queue { bytes: vec![0; QUEUE_BYTES].into(), used: 0, entries: Vec::with_capacity(1024), unsent: 0 };
        Ok(HostPorts { addr, engine, ports, queue, ended: None })
    }

    /// Gives the radio what its hosts have sent, at most a batch.
    pub(crate) fn serve(&mut self, radio: usize, core: &mut SharedFrontEnd) -> Result<(), ShareError> {
        let addr = self.addr;
        self.take(radio, core).map_err(|source| ShareError::Ports { addr, source })
    }

    fn take(&mut self, radio: usize, core: &mut SharedFrontEnd) -> Result<(), EngineError> {
        let HostPorts { engine, ports, queue, .. } = self;
        for datagram in engine.recv(Wait::Poll)?.iter() {
            if let Some(&port) = ports.get(usize::from(datagram.port.0)) {
                core.datagram(radio, port, datagram.source, datagram.bytes, queue);
            }
        }
        while let Some(Refusal { port, to }) = self.engine.refused() {
            if let Some(&port) = self.ports.get(usize::from(port.0)) {
                core.refused(radio, port, to);
            }
        }
        Ok(())
    }

    /// Has everything leave. Datagrams for which the kernel has no room are lost, as on a wire.
    pub(crate) fn flush(&mut self) -> Result<(), ShareError> {
        let addr = self.addr;
        self.leave().map_err(|source| ShareError::Ports { addr, source })
    }

    fn leave(&mut self) -> Result<(), EngineError> {
        if let Some(ended) = self.ended.take() {
            return Err(ended);
        }
        let HostPorts { engine, ports, queue, .. } = self;
        let (mut at, mut next) = (0, 0);
        while next < queue.entries.len() {
            let mut batch = engine.reserve(BATCH);
            if batch.room() == 0 {
                break;
            }
            while let Some(&(from, to, length)) = queue.entries.get(next).filter(|_| batch.room() > 0) {
                let bytes = queue.bytes.get(at..at + length).unwrap_or_default();
                let port = ports.iter().position(|port| *port == from).and_then(|n| u8::try_from(n).ok());
                (at, next) = (at + length, next + 1);
                let Some(port) = port else { continue };
                batch.push(PortIndex(port), Some(to), |frame| {
                    let Some(room) = frame.get_mut(..bytes.len()) else { return 0 };
                    room.copy_from_slice(bytes);
                    bytes.len()
                });
            }
            let pushed = batch.len();
            let sent = if pushed > 0 { batch.send(Wait::Poll)? } else { 0 };
            queue.unsent += (pushed - sent.min(pushed)) as u64;
        }
        queue.unsent += (queue.entries.len() - next) as u64;
        queue.entries.clear();
        queue.used = 0;
        Ok(())
    }

    pub(crate) fn counters(&self) -> Counters {
        self.engine.counters()
    }

    pub(crate) fn unsent(&self) -> u64 {
        self.queue.unsent
    }
}

impl Outbox for HostPorts {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        if self.queue.is_full()
            && let Err(error) = self.leave()
        {
            self.ended = Some(error);
        }
        self.queue.send(due, from, to, fill)
    }
}

/// The ports of all of them, by the numbers of the radios.
pub(crate) struct AllPorts {
    ports: Box<[Option<Box<HostPorts>>]>,
    nowhere: Nowhere,
}

/// Takes what a radio without ports sends.
struct Nowhere;

impl Outbox for Nowhere {
    fn send(&mut self, _: Tick, _: Port, _: SocketAddr, _: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        Sent::Taken
    }
}

impl AllPorts {
    pub(crate) fn new(most: usize) -> AllPorts {
        AllPorts { ports: (0..most).map(|_| None).collect(), nowhere: Nowhere }
    }

    /// Puts ports in their place, or takes them out; what was there before.
    pub(crate) fn put(&mut self, radio: usize, ports: Option<Box<HostPorts>>) -> Option<Box<HostPorts>> {
        self.ports.get_mut(radio).and_then(|place| std::mem::replace(place, ports))
    }

    pub(crate) fn each(&mut self) -> impl Iterator<Item = (usize, &mut HostPorts)> {
        self.ports.iter_mut().enumerate().filter_map(|(radio, ports)| Some((radio, ports.as_deref_mut()?)))
    }

    pub(crate) fn get(&self, radio: usize) -> Option<&HostPorts> {
        self.ports.get(radio)?.as_deref()
    }
}

impl Outboxes for AllPorts {
    fn of(&mut self, radio: usize) -> &mut dyn Outbox {
        match self.ports.get_mut(radio).and_then(Option::as_deref_mut) {
            Some(ports) => ports,
            None => &mut self.nowhere,
        }
    }
}
