//! Register accesses on control ports, their acknowledgements, and messages of a radio, which have the same form.
//!
//! x310.md 6.5 and 9. In protocol 1.0 UHD sends writes and reads of one word only; more words are laid out as two a 64-bit word
//! (only read about). Protocol 2.0 differs in one word, and in which packets carry data (18.2): `_as` names the protocol.

use super::Protocol;
use super::header::{Header, PacketType, length_field};
use super::routing::Routing;
use super::words::{self, bits};
use crate::WireError;

const WHAT: &str = "control packet";

/// Request to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ControlOperation {
    Sleep,
    Write,
    Read,
    ReadWrite,
    BlockWrite,
    BlockRead,
    Poll,
    Other(u8),
}

crate::words::codes!(ControlOperation: u8 {
    Sleep = 0, Write = 1, Read = 2, ReadWrite = 3, BlockWrite = 4, BlockRead = 5, Poll = 6
});

/// Result of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum ControlStatus {
    Okay,
    CommandError,
    TimeError,
    Warning,
    Other(u8),
}

crate::words::codes!(ControlStatus: u8 { Okay = 0, CommandError = 1, TimeError = 2, Warning = 3 });

/// A register access, or the answer to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Control {
    /// Endpoint id of the receiver.
    pub destination: u16,
    /// Number in the CHDR header; nobody checks that of an acknowledgement.
    pub chdr_sequence: u16,
    /// Control port it is for, 10 bits. An acknowledgement has its request's, not swapped.
    pub to_port: u16,
    /// Control port it is from, 10 bits.
    pub from_port: u16,
    /// The sequence number of the port: 6 bits, in protocol 2.0 all 8.
    pub sequence: u8,
    /// When it shall be done, ticks of the master clock; `None`: at once.
    pub tick: Option<u64>,
    /// It answers a request.
    pub is_ack: bool,
    /// Endpoint id of the sender.
    pub source: u16,
    /// Byte address, 20 bits.
    pub address: u32,
    /// One bit a byte of the word.
    pub byte_enables: u8,
    /// The request.
    pub operation: ControlOperation,
    /// Status of an acknowledgement.
    pub status: ControlStatus,
    /// The words that are written or were read; in protocol 1.0 a read carries one word that means nothing.
    pub data: ControlData,
}

impl Control {
    /// Longest packet: with a time and 15 words.
    pub const MAX_BYTES: usize = 24 + 4 + 4 * ControlData::MAX;

    /// A packet of protocol 1.0.
    ///
    /// # Errors
    /// As [`Control::parse_as`].
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        Self::parse_as(Protocol::V1, datagram)
    }

    /// # Errors
    /// `Short` if the datagram ends before what it states; `Field` if it is no control packet, or one of protocol 1.0 without
    /// data.
    pub fn parse_as(protocol: Protocol, datagram: &[u8]) -> Result<Self, WireError> {
        let (header, body) = Header::expect(datagram, PacketType::Control, "4, control")?;
        let ([word], rest) = words::read::<1>(body, WHAT)?;
        let routing = Routing::from_word(protocol, word);
        let (tick, rest) = if routing.timed {
            let ([tick], rest) = words::read::<1>(rest, WHAT)?;
            (Some(tick), rest)
        } else {
            (None, rest)
        };
        let bytes = 4 * usize::from(routing.words);
        let short = WireError::Short { what: WHAT, need: 4 + bytes, have: rest.len() };
        let (operation, rest) = rest.split_first_chunk::<4>().ok_or(short)?;
        let operation = u64::from(u32::from_le_bytes(*operation));
        let data = ControlData::from_bytes(rest.get(..bytes).ok_or(short)?, routing.requested);
        if protocol == Protocol::V1 && data.is_empty() {
            return Err(WireError::field("control data words", 0_u64, "1 to 15"));
        }
        Ok(Self {
            destination: header.destination,
            chdr_sequence: header.sequence,
            to_port: routing.to_port,
            from_port: routing.from_port,
            sequence: routing.sequence,
            tick,
            is_ack: routing.is_ack,
            source: routing.source,
            address: bits(operation, 0, 20) as u32,
            byte_enables: bits(operation, 20, 4) as u8,
            operation: ControlOperation::from_code(bits(operation, 24, 4) as u8),
            status: ControlStatus::from_code(bits(operation, 30, 2) as u8),
            data,
        })
    }

    /// Writes the packet in protocol 1.0; returns its bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        self.write_as(Protocol::V1, out)
    }

    /// Writes the packet; returns its bytes. `Short` if `out` is smaller.
    pub fn write_as(&self, protocol: Protocol, out: &mut [u8]) -> Result<usize, WireError> {
        let data = self.data.carried(protocol);
        let before = if self.tick.is_some() { 24 } else { 16 };
        let need = before + 4 + 4 * data.len();
        let have = out.len();
        let packet = out.get_mut(..need).ok_or(WireError::Short { what: WHAT, need, have })?;
        let header = Header::plain(PacketType::Control, self.destination, self.chdr_sequence, length_field(need)?);
        let (front, back) = packet.split_at_mut(before);
        let routing = self.routing(data.len()).word(protocol);
        words::put(front, [header.word(), routing].into_iter().chain(self.tick));
        let words = [self.operation_word()].into_iter().chain(data.iter().copied());
        for (bytes, word) in back.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        Ok(need)
    }

    fn routing(&self, words: usize) -> Routing {
        Routing {
            to_port: self.to_port,
            from_port: self.from_port,
            words: words as u8,
            requested: self.data.requested,
            sequence: self.sequence,
            timed: self.tick.is_some(),
            is_ack: self.is_ack,
            source: self.source,
        }
    }

    fn operation_word(&self) -> u32 {
        self.address & 0xF_FFFF
            | u32::from(self.byte_enables & 15) << 20
            | u32::from(self.operation.code() & 15) << 24
            | u32::from(self.status.code() & 3) << 30
    }

    /// The answer of endpoint `source` to this request in protocol 1.0: the same ports, and what was read in the first word.
    #[must_use]
    pub fn ack(&self, source: u16, status: ControlStatus, read: u32) -> Control {
        self.ack_as(Protocol::V1, source, status, ControlData::one(read))
    }

    /// The answer of endpoint `source` to this request: the same ports, and the words that were read, if any. In protocol 1.0 it
    /// is as long as the request, in 2.0 it carries what was read and nothing else.
    #[must_use]
    pub fn ack_as(&self, protocol: Protocol, source: u16, status: ControlStatus, read: ControlData) -> Control {
        let data = match protocol {
            Protocol::V1 if read.is_empty() => self.data,
            Protocol::V1 => self.data.with_first(read.first()),
            Protocol::V2 => ControlData { requested: self.data.requested, ..read },
        };
        Control { destination: self.source, chdr_sequence: 0, is_ack: true, source, status, data, ..*self }
    }
}

/// The data words of a control packet, and how many a read requests: up to 15 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlData {
    words: [u32; ControlData::MAX],
    count: u8,
    requested: u8,
}

impl ControlData {
    /// As many as a packet holds.
    pub const MAX: usize = 15;
    /// No words: what a write is answered with in protocol 2.0.
    pub const NONE: ControlData = ControlData { words: [0; Self::MAX], count: 0, requested: 0 };

    /// One word, as UHD sends.
    #[must_use]
    pub const fn one(word: u32) -> ControlData {
        let mut words = [0; Self::MAX];
        words[0] = word;
        ControlData { words, count: 1, requested: 0 }
    }

    /// The data of a read that requests this many words, 15 at most: in protocol 2.0 their number, in 1.0 as many zeros.
    #[must_use]
    pub const fn request(words: u8) -> ControlData {
        let requested = if words > Self::MAX as u8 { Self::MAX as u8 } else { words };
        ControlData { requested, ..Self::NONE }
    }

    /// # Errors
    /// `Field` for none, or for more than 15.
    pub fn new(words: &[u32]) -> Result<ControlData, WireError> {
        let wrong = WireError::field("control data words", words.len() as u64, "1 to 15");
        let mut data = ControlData { count: words.len() as u8, ..Self::NONE };
        let room = data.words.get_mut(..words.len()).filter(|room| !room.is_empty()).ok_or(wrong)?;
        room.copy_from_slice(words);
        Ok(data)
    }

    /// Up to 15 words, none included.
    fn from_bytes(bytes: &[u8], requested: u8) -> ControlData {
        let mut data = ControlData { requested, ..Self::NONE };
        bytes.as_chunks::<4>().0.iter().for_each(|bytes| data.push(u32::from_le_bytes(*bytes)));
        data
    }

    /// Appends a word; the sixteenth is forgotten.
    pub fn push(&mut self, word: u32) {
        if let Some(place) = self.words.get_mut(usize::from(self.count)) {
            *place = word;
            self.count += 1;
        }
    }

    /// The words.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        self.words.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// Whether there is no word.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many words a read of protocol 2.0 requests; 0 in 1.0, where that is the number of its words.
    #[must_use]
    pub const fn requested(&self) -> u8 {
        self.requested
    }

    /// The first word; 0 without one.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.words[0]
    }

    fn with_first(mut self, word: u32) -> ControlData {
        self.words[0] = word;
        self
    }

    /// The words of a packet. One of protocol 1.0 has at least one, and a read as many as it requests.
    fn carried(&self, protocol: Protocol) -> &[u32] {
        let count = match protocol {
            Protocol::V1 => self.count.max(self.requested).max(1),
            Protocol::V2 => self.count,
        };
        self.words.get(..usize::from(count)).unwrap_or_default()
    }
}
