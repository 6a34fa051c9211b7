//! Management: how a host finds out what a device is made of, sets up routes, and writes registers of stream endpoints.
//!
//! A packet is a list of hops, each a list of operations for one node on the way (x310.md 6.3). A node's answer stands
//! at the end of the packet that it returns.

use super::Protocol;
use super::header::{Header, PacketType, length_field};
use super::words::{self, bits};
use crate::WireError;

const WHAT: &str = "management packet";

/// An operation for one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Nop,
    /// To a transport: whoever sent this is where packets for its source go.
    Advertise,
    /// To a crossbar: go on to the node behind this port, 10 bits.
    Select {
        /// Which.
        port: u16,
    },
    /// Send back what is left of the packet.
    Return,
    /// Say what you are.
    InfoRequest,
    /// Facts of a node.
    InfoResponse(NodeInfo),
    /// Write a register.
    Write {
        /// Byte address; of a crossbar, an endpoint id.
        address: u16,
        /// The value.
        data: u32,
    },
    /// Read a register.
    Read {
        /// Byte address.
        address: u16,
    },
    /// Value that was read.
    ReadResponse {
        /// Byte address.
        address: u16,
        /// The value.
        data: u32,
    },
    /// An operation without a name, and its 48 bits.
    Other {
        /// 9 or above.
        code: u8,
        /// 48 bits.
        payload: u64,
    },
}

impl Operation {
    fn from_word(word: u64) -> Operation {
        let (address, data) = ((word >> 16) as u16, (word >> 32) as u32);
        match (word >> 8) as u8 {
            0 => Operation::Nop,
            1 => Operation::Advertise,
            2 => Operation::Select { port: address & 0x3FF },
            3 => Operation::Return,
            4 => Operation::InfoRequest,
            5 => Operation::InfoResponse(NodeInfo::from_payload(word >> 16)),
            6 => Operation::Write { address, data },
            7 => Operation::Read { address },
            8 => Operation::ReadResponse { address, data },
            code => Operation::Other { code, payload: word >> 16 },
        }
    }

    /// The word on the wire, but for the count of operations behind it.
    fn word(self) -> u64 {
        let register = |address: u16, data: u32| u64::from(address) << 16 | u64::from(data) << 32;
        match self {
            Operation::Nop => 0,
            Operation::Advertise => 1 << 8,
            Operation::Select { port } => 2 << 8 | u64::from(port & 0x3FF) << 16,
            Operation::Return => 3 << 8,
            Operation::InfoRequest => 4 << 8,
            Operation::InfoResponse(info) => 5 << 8 | info.payload() << 16,
            Operation::Write { address, data } => 6 << 8 | register(address, data),
            Operation::Read { address } => 7 << 8 | register(address, 0),
            Operation::ReadResponse { address, data } => 8 << 8 | register(address, data),
            Operation::Other { code, payload } => u64::from(code.max(9)) << 8 | payload << 16,
        }
    }
}

/// Kind of the answering node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum NodeKind {
    Crossbar,
    StreamEndpoint,
    Transport,
    Other(u8),
}

crate::words::codes!(NodeKind: u8 { Crossbar = 1, StreamEndpoint = 2, Transport = 3 });

/// Facts of a node about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// As the host named the device.
    pub device: u16,
    /// Its kind.
    pub kind: NodeKind,
    /// Which of its kind, 10 bits; of a crossbar, the port by which the packet came in.
    pub instance: u16,
    /// 18 bits, with a meaning for each kind.
    pub extended: u32,
}

impl NodeInfo {
    fn from_payload(payload: u64) -> NodeInfo {
        NodeInfo {
            device: payload as u16,
            kind: NodeKind::from_code(bits(payload, 16, 4) as u8),
            instance: bits(payload, 20, 10) as u16,
            extended: bits(payload, 30, 18) as u32,
        }
    }

    fn payload(self) -> u64 {
        u64::from(self.device)
            | u64::from(self.kind.code() & 15) << 16
            | u64::from(self.instance & 0x3FF) << 20
            | u64::from(self.extended & 0x3_FFFF) << 30
    }
}

/// Operations in order, and where hops end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Operations {
    list: [(Operation, bool); Operations::MAX],
    count: usize,
}

impl std::fmt::Debug for Operations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.list.get(..self.count).unwrap_or_default()).finish()
    }
}

impl Operations {
    /// More than UHD puts into a packet, which is 8.
    pub const MAX: usize = 48;
    /// None.
    pub const NONE: Operations = Operations { list: [(Operation::Nop, false); Operations::MAX], count: 0 };

    /// Appends an operation; `last`: the hop ends with it.
    ///
    /// # Errors
    /// `Field` if there are 48 already.
    pub fn push(&mut self, operation: Operation, last: bool) -> Result<(), WireError> {
        let full = WireError::field("management operations", 1 + self.count as u64, "48 at most");
        *self.list.get_mut(self.count).ok_or(full)? = (operation, last);
        self.count += 1;
        Ok(())
    }

    /// Appends a hop.
    ///
    /// # Errors
    /// `Field` if there would be more than 48 operations.
    pub fn push_hop(&mut self, hop: &[Operation]) -> Result<(), WireError> {
        hop.iter().enumerate().try_for_each(|(n, operation)| self.push(*operation, n + 1 == hop.len()))
    }

    /// The hops, each its operations; operations after the last end of a hop are one too.
    pub fn hops(&self) -> impl Iterator<Item = impl Iterator<Item = Operation>> {
        let list = self.list.get(..self.count).unwrap_or_default();
        list.split_inclusive(|(_, last)| *last).map(|hop| hop.iter().map(|(operation, _)| *operation))
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        self.hops().map(Iterator::count).zip(self.hops()).flat_map(|(count, hop)| {
            hop.enumerate().map(move |(n, operation)| operation.word() | (count - 1 - n) as u64)
        })
    }
}

/// A management packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Management {
    /// As the sender speaks it. Nobody compares it: hosts learn the radio's from a register (x310.md 2.2).
    pub protocol: Protocol,
    /// Endpoint id of the receiver; 0 from a host, which does not know it yet.
    pub destination: u16,
    /// Comes back in the answer.
    pub sequence: u16,
    /// Endpoint id of whoever asks.
    pub source: u16,
    /// Operations for each node, or their answers.
    pub operations: Operations,
}

impl Management {
    /// # Errors
    /// `Short` if the datagram ends before its operations do; `Field` if it is no management packet of protocol 1.0 or 2.0
    /// and 64 bits, its counts contradict each other, or there are more than 48 operations.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (header, body) = Header::expect(datagram, PacketType::Management, "0, management")?;
        let ([head], mut rest) = words::read::<1>(body, WHAT)?;
        // The code of a width of 64 bits is 0.
        let version = head >> 45;
        let protocol = Protocol::ALL.into_iter().find(|protocol| u64::from(protocol.code()) << 3 == version);
        let wanted = "0x800 or 0x1000, version 1.0 or 2.0 and 64 bits";
        let protocol = protocol.ok_or(WireError::field("management protocol", version, wanted))?;
        let mut operations = Operations::NONE;
        for _ in 0..bits(head, 16, 10) {
            rest = read_hop(rest, &mut operations)?;
        }
        let Header { destination, sequence, .. } = header;
        Ok(Self { protocol, destination, sequence, source: head as u16, operations })
    }

    /// Writes the packet; returns its bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let need = 16 + 8 * self.operations.count;
        let have = out.len();
        let packet = out.get_mut(..need).ok_or(WireError::Short { what: WHAT, need, have })?;
        let header = Header::plain(PacketType::Management, self.destination, self.sequence, length_field(need)?);
        let hops = self.operations.hops().count() as u64;
        let head = u64::from(self.source) | hops << 16 | u64::from(self.protocol.code()) << 48;
        words::put(packet, [header.word(), head].into_iter().chain(self.operations.words()));
        Ok(need)
    }
}

/// The operations of one hop: each says how many follow it.
fn read_hop<'a>(mut bytes: &'a [u8], operations: &mut Operations) -> Result<&'a [u8], WireError> {
    let mut follow = None;
    loop {
        let ([word], rest) = words::read::<1>(bytes, WHAT)?;
        bytes = rest;
        let left = word as u8;
        if follow.is_some_and(|follow| follow != left) {
            return Err(WireError::field("management operations left", left, "one less than before"));
        }
        operations.push(Operation::from_word(word), left == 0)?;
        match left.checked_sub(1) {
            Some(one_less) => follow = Some(one_less),
            None => return Ok(bytes),
        }
    }
}
