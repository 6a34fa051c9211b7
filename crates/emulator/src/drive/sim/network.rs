//! The virtual network: datagrams in flight, and the host ports they fly to.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_base::MonoNs;
use takt_packet::{EngineError, PortIndex, PortSpec, Refusal};

pub(super) const MAX_DATAGRAM_BYTES: usize = 9000;

pub(super) enum Cargo {
    Datagram {
        from: SocketAddr,
        to: SocketAddr,
        bytes: Vec<u8>,
    },
    /// "Port unreachable" on its way back to `sender`, about something sent to `by`.
    Unreachable {
        sender: SocketAddr,
        by: SocketAddr,
    },
}

pub(super) struct Arrived {
    pub(super) port: PortIndex,
    pub(super) source: SocketAddr,
    pub(super) at: MonoNs,
    pub(super) bytes: Vec<u8>,
}

#[derive(Default)]
pub(super) struct Inbox {
    pub(super) arrived: VecDeque<Arrived>,
    pub(super) refusals: VecDeque<Refusal>,
    /// Datagrams that found their port's buffer full.
    pub(super) drops: u64,
    pub(super) refused: u64,
    /// A refusal came since the last receive call returned.
    pub(super) news: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct EngineId(u64);

struct HostPort {
    engine: EngineId,
    index: PortIndex,
    peer: Option<SocketAddr>,
    room_bytes: usize,
}

pub(super) struct Network {
    latency: Duration,
    /// By when they land, and in the order in which they left.
    flights: BTreeMap<(MonoNs, u64), Cargo>,
    sent: u64,
    ports: BTreeMap<SocketAddr, HostPort>,
    inboxes: BTreeMap<EngineId, Inbox>,
    engines: u64,
    next_port: u16,
    /// Buffers of datagrams that were read, for the next ones.
    spare: Vec<Vec<u8>>,
}

impl Network {
    pub(super) fn new(latency: Duration) -> Network {
        Network {
            latency,
            flights: BTreeMap::new(),
            sent: 0,
            ports: BTreeMap::new(),
            inboxes: BTreeMap::new(),
            engines: 0,
            next_port: 40_000,
            spare: Vec::new(),
        }
    }

    pub(super) fn next_arrival(&self) -> Option<MonoNs> {
        self.flights.first_key_value().map(|((at, _), _)| *at)
    }

    /// The next cargo that has arrived by `now`.
    pub(super) fn land(&mut self, now: MonoNs) -> Option<Cargo> {
        if self.next_arrival()? > now {
            return None;
        }
        self.flights.pop_first().map(|(_, cargo)| cargo)
    }

    pub(super) fn post(
        &mut self,
        now: MonoNs,
        from: SocketAddr,
        to: SocketAddr,
        fill: &mut dyn FnMut(&mut [u8]) -> usize,
    ) {
        let mut bytes = self.spare.pop().unwrap_or_default();
        bytes.resize(MAX_DATAGRAM_BYTES, 0);
        let len = fill(&mut bytes);
        bytes.truncate(len);
        self.launch(now, Cargo::Datagram { from, to, bytes });
    }

    fn launch(&mut self, now: MonoNs, cargo: Cargo) {
        self.sent += 1;
        self.flights.insert((now + self.latency, self.sent), cargo);
    }

    /// A datagram reached the host side: into its engine's inbox, or back as "unreachable".
    pub(super) fn receive(&mut self, now: MonoNs, from: SocketAddr, to: SocketAddr, bytes: Vec<u8>) {
        let port = self.ports.get_mut(&to).filter(|p| p.peer.is_none_or(|peer| peer == from));
        let Some(port) = port else {
            self.reuse(bytes);
            return self.launch(now, Cargo::Unreachable { sender: from, by: to });
        };
        let Some(inbox) = self.inboxes.get_mut(&port.engine) else { return };
        match port.room_bytes.checked_sub(bytes.len()) {
            Some(rest) => {
                port.room_bytes = rest;
                inbox.arrived.push_back(Arrived { port: port.index, source: from, at: now, bytes });
            }
            None => {
                inbox.drops += 1;
                self.reuse(bytes);
            }
        }
    }

    pub(super) fn refuse(&mut self, sender: SocketAddr, by: SocketAddr) {
        let Some(port) = self.ports.get(&sender) else { return };
        let Some(inbox) = self.inboxes.get_mut(&port.engine) else { return };
        inbox.refused += 1;
        inbox.news = true;
        let refusal = Refusal { port: port.index, to: by };
        if !inbox.refusals.contains(&refusal) {
            inbox.refusals.push_back(refusal);
        }
    }

    pub(super) fn reuse(&mut self, bytes: Vec<u8>) {
        self.spare.push(bytes);
    }

    /// Gives a read datagram's room in its port's buffer back, and its memory.
    pub(super) fn done(&mut self, local: SocketAddr, bytes: Vec<u8>) {
        if let Some(port) = self.ports.get_mut(&local) {
            port.room_bytes += bytes.len();
        }
        self.reuse(bytes);
    }

    pub(super) fn inbox(&mut self, engine: EngineId) -> Option<&mut Inbox> {
        self.inboxes.get_mut(&engine)
    }

    pub(super) fn open(&mut self) -> EngineId {
        self.engines += 1;
        let id = EngineId(self.engines);
        self.inboxes.insert(id, Inbox::default());
        id
    }

    pub(super) fn close(&mut self, engine: EngineId) {
        self.ports.retain(|_, p| p.engine != engine);
        self.inboxes.remove(&engine);
    }

    pub(super) fn bind(
        &mut self,
        engine: EngineId,
        index: PortIndex,
        spec: PortSpec,
        room_bytes: usize,
    ) -> Result<SocketAddr, EngineError> {
        let ip = if spec.bind.ip().is_unspecified() { IpAddr::V4(Ipv4Addr::LOCALHOST) } else { spec.bind.ip() };
        let addr = match spec.bind.port() {
            0 => self.ephemeral(ip),
            port => SocketAddr::new(ip, port),
        };
        if self.ports.contains_key(&addr) {
            return Err(EngineError::PortInUse { addr });
        }
        self.ports.insert(addr, HostPort { engine, index, peer: spec.peer, room_bytes });
        Ok(addr)
    }

    /// The next port nobody has, counting up so that an old datagram never meets a new socket.
    fn ephemeral(&mut self, ip: IpAddr) -> SocketAddr {
        loop {
            let addr = SocketAddr::new(ip, self.next_port);
            self.next_port = self.next_port.checked_add(1).unwrap_or(40_000);
            if !self.ports.contains_key(&addr) {
                return addr;
            }
        }
    }
}
