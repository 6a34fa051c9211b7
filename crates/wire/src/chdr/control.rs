//! Register accesses on control ports, their acknowledgements, and messages of a radio, which have the same form.
//!
//! x310.md 6.5 and 9. UHD sends writes and reads of one word only; more words are laid out as two a 64-bit word (only read about).

use super::header::{Header, PacketType, length_field};
use super::words::{self, bits};
use crate::WireError;

const WHAT: &str = "control packet";
const TIMED: u64 = 1 << 30;
const ACK: u64 = 1 << 31;

/// What is requested of a register.
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

/// What came of it.
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
    /// Of the CHDR header; nobody checks that of an acknowledgement.
    pub chdr_sequence: u16,
    /// Control port it is for, 10 bits. An acknowledgement has its request's, not swapped.
    pub to_port: u16,
    /// Control port it is from, 10 bits.
    pub from_port: u16,
    /// Of the port, 6 bits.
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
    /// What is requested.
    pub operation: ControlOperation,
    /// Of an acknowledgement.
    pub status: ControlStatus,
    /// What is written or was read; a read carries one word that means nothing.
    pub data: ControlData,
}

impl Control {
    /// Longest packet: with a time and 15 words.
    pub const MAX_BYTES: usize = 24 + 4 + 4 * ControlData::MAX;

    /// # Errors
    /// `Short` if the datagram ends before what it states; `Field` if it is no control packet, or one without data.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (header, body) = Header::expect(datagram, PacketType::Control, "4, control")?;
        let ([one], rest) = words::read::<1>(body, WHAT)?;
        let (tick, rest) = match one & TIMED {
            0 => (None, rest),
            _ => {
                let ([tick], rest) = words::read::<1>(rest, WHAT)?;
                (Some(tick), rest)
            }
        };
        let count = bits(one, 20, 4) as usize;
        let have = rest.len();
        let short = WireError::Short { what: WHAT, need: 4 + 4 * count, have };
        let (operation, rest) = rest.split_first_chunk::<4>().ok_or(short)?;
        let operation = u64::from(u32::from_le_bytes(*operation));
        let data = ControlData::from_bytes(rest.get(..4 * count).ok_or(short)?)?;
        Ok(Self {
            destination: header.destination,
            chdr_sequence: header.sequence,
            to_port: bits(one, 0, 10) as u16,
            from_port: bits(one, 10, 10) as u16,
            sequence: bits(one, 24, 6) as u8,
            tick,
            is_ack: one & ACK != 0,
            source: (one >> 32) as u16,
            address: bits(operation, 0, 20) as u32,
            byte_enables: bits(operation, 20, 4) as u8,
            operation: ControlOperation::from_code(bits(operation, 24, 4) as u8),
            status: ControlStatus::from_code(bits(operation, 30, 2) as u8),
            data,
        })
    }

    /// Writes the packet; returns its bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let data = self.data.as_slice();
        let before = if self.tick.is_some() { 24 } else { 16 };
        let need = before + 4 + 4 * data.len();
        let have = out.len();
        let packet = out.get_mut(..need).ok_or(WireError::Short { what: WHAT, need, have })?;
        let header = Header::plain(PacketType::Control, self.destination, self.chdr_sequence, length_field(need)?);
        let (front, back) = packet.split_at_mut(before);
        words::put(front, [header.word(), self.routing_word(data.len())].into_iter().chain(self.tick));
        let words = [self.operation_word()].into_iter().chain(data.iter().copied());
        for (bytes, word) in back.as_chunks_mut::<4>().0.iter_mut().zip(words) {
            *bytes = word.to_le_bytes();
        }
        Ok(need)
    }

    fn routing_word(&self, count: usize) -> u64 {
        u64::from(self.to_port & 0x3FF)
            | u64::from(self.from_port & 0x3FF) << 10
            | (count as u64) << 20
            | u64::from(self.sequence & 63) << 24
            | if self.tick.is_some() { TIMED } else { 0 }
            | if self.is_ack { ACK } else { 0 }
            | u64::from(self.source) << 32
    }

    fn operation_word(&self) -> u32 {
        self.address & 0xF_FFFF
            | u32::from(self.byte_enables & 15) << 20
            | u32::from(self.operation.code() & 15) << 24
            | u32::from(self.status.code() & 3) << 30
    }

    /// The answer of endpoint `source` to this request: the same ports, and what was read in the first word.
    #[must_use]
    pub fn ack(&self, source: u16, status: ControlStatus, read: u32) -> Control {
        let mut data = self.data;
        data.set_first(read);
        Control { destination: self.source, chdr_sequence: 0, is_ack: true, source, status, data, ..*self }
    }
}

/// The data words of a control packet: 1 to 15.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlData {
    words: [u32; ControlData::MAX],
    count: u8,
}

impl ControlData {
    /// As many as a packet holds.
    pub const MAX: usize = 15;

    /// One word, as UHD sends.
    #[must_use]
    pub const fn one(word: u32) -> ControlData {
        let mut words = [0; Self::MAX];
        words[0] = word;
        ControlData { words, count: 1 }
    }

    /// # Errors
    /// `Field` for none, or for more than 15.
    pub fn new(words: &[u32]) -> Result<ControlData, WireError> {
        let wrong = WireError::field("control data words", words.len() as u64, "1 to 15");
        let mut data = ControlData { words: [0; Self::MAX], count: words.len() as u8 };
        let room = data.words.get_mut(..words.len()).filter(|room| !room.is_empty()).ok_or(wrong)?;
        room.copy_from_slice(words);
        Ok(data)
    }

    fn from_bytes(bytes: &[u8]) -> Result<ControlData, WireError> {
        let mut words = [0; Self::MAX];
        let chunks = bytes.as_chunks::<4>().0;
        for (word, bytes) in words.iter_mut().zip(chunks) {
            *word = u32::from_le_bytes(*bytes);
        }
        ControlData::new(words.get(..chunks.len()).unwrap_or_default())
    }

    /// The words.
    #[must_use]
    pub fn as_slice(&self) -> &[u32] {
        self.words.get(..usize::from(self.count)).unwrap_or_default()
    }

    /// The first word.
    #[must_use]
    pub fn first(&self) -> u32 {
        self.words[0]
    }

    fn set_first(&mut self, word: u32) {
        self.words[0] = word;
    }
}
