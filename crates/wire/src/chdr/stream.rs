//! Credits: what a receiver of samples has room for, and what their sender has sent.
//!
//! Counts of bytes are of lengths rounded up to 8; the sender's commands count too, as 24 bytes and a packet each
//! (x310.md 10.2 to 10.4).

use super::header::{Header, PacketType};
use super::words::{self, bits};
use crate::WireError;

/// Largest count of bytes that a status or a command holds as a capacity or an interval.
pub const MAX_CAPACITY_BYTES: u64 = (1 << 40) - 1;
/// Largest count of packets that a status holds as a capacity.
pub const MAX_CAPACITY_PACKETS: u32 = (1 << 24) - 1;

/// Bytes as which a length counts.
#[must_use]
pub const fn counted_bytes(length: usize) -> u64 {
    length.next_multiple_of(8) as u64
}

/// A receiver's view of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum Status {
    Okay,
    CommandError,
    SequenceError,
    DataError,
    RoutingError,
    Other(u8),
}

crate::words::codes!(Status: u8 {
    Okay = 0, CommandError = 1, SequenceError = 2, DataError = 3, RoutingError = 4
});

/// Receiver to sender: how much there is room for, and how much has been taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamStatus {
    /// Endpoint id of the sender of samples.
    pub destination: u16,
    /// Counts statuses of a stream; nobody checks it.
    pub sequence: u16,
    /// Endpoint id of the receiver of samples.
    pub source: u16,
    /// The fault, if any.
    pub status: Status,
    /// 40 bits.
    pub capacity_bytes: u64,
    /// 24 bits.
    pub capacity_packets: u32,
    /// Packets taken since the stream was set up, 40 bits.
    pub taken_packets: u64,
    /// Bytes taken since the stream was set up.
    pub taken_bytes: u64,
    /// Fill of the buffer; means nothing here.
    pub buffer: u16,
    /// After a sequence error: what was expected and what came; 48 bits.
    pub info: u64,
}

impl StreamStatus {
    /// Size of the packet.
    pub const BYTES: usize = 40;

    /// # Errors
    /// `Short` if the datagram or its stated length is below 40 bytes; `Field` if it is no stream status.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (header, body) = Header::expect(datagram, PacketType::StreamStatus, "1, stream status")?;
        let ([one, two, taken_bytes, four], _) = words::read::<4>(body, "stream status")?;
        Ok(Self {
            destination: header.destination,
            sequence: header.sequence,
            source: one as u16,
            status: Status::from_code(bits(one, 16, 4) as u8),
            capacity_bytes: bits(one, 24, 40),
            capacity_packets: bits(two, 0, 24) as u32,
            taken_packets: bits(two, 24, 40),
            taken_bytes,
            buffer: four as u16,
            info: four >> 16,
        })
    }

    /// Writes 40 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let have = out.len();
        let short = WireError::Short { what: "stream status", need: Self::BYTES, have };
        let packet = out.get_mut(..Self::BYTES).ok_or(short)?;
        let header = Header::plain(PacketType::StreamStatus, self.destination, self.sequence, Self::BYTES as u16);
        let one = u64::from(self.source)
            | u64::from(self.status.code() & 15) << 16
            | self.capacity_bytes.min(MAX_CAPACITY_BYTES) << 24;
        let two = u64::from(self.capacity_packets.min(MAX_CAPACITY_PACKETS)) | self.taken_packets << 24;
        let four = u64::from(self.buffer) | self.info << 16;
        words::put(packet, [header.word(), one, two, self.taken_bytes, four]);
        Ok(Self::BYTES)
    }
}

/// Request of a stream command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum StreamOperation {
    /// A stream begins: answer with a status. Counts are the wanted interval between statuses.
    Init,
    /// Answer with a status.
    Ping,
    /// Counts are what was sent so far: take them for what was received, so that what was lost does not cost credit.
    Resync,
    Other(u8),
}

crate::words::codes!(StreamOperation: u8 { Init = 0, Ping = 1, Resync = 2 });

/// Sender to receiver of samples, in order with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCommand {
    /// Endpoint id of the receiver of samples.
    pub destination: u16,
    /// Counts commands of a stream; nobody checks it.
    pub sequence: u16,
    /// Endpoint id of the sender of samples.
    pub source: u16,
    /// The request.
    pub operation: StreamOperation,
    /// 4 bits; means nothing yet.
    pub operation_data: u8,
    /// 40 bits.
    pub packets: u64,
    /// See [`StreamOperation`].
    pub bytes: u64,
}

impl StreamCommand {
    /// Size of the packet, which counts as sent.
    pub const BYTES: usize = 24;

    /// # Errors
    /// `Short` if the datagram or its stated length is below 24 bytes; `Field` if it is no stream command.
    pub fn parse(datagram: &[u8]) -> Result<Self, WireError> {
        let (header, body) = Header::expect(datagram, PacketType::StreamCommand, "2, stream command")?;
        let ([one, bytes], _) = words::read::<2>(body, "stream command")?;
        Ok(Self {
            destination: header.destination,
            sequence: header.sequence,
            source: one as u16,
            operation: StreamOperation::from_code(bits(one, 16, 4) as u8),
            operation_data: bits(one, 20, 4) as u8,
            packets: bits(one, 24, 40),
            bytes,
        })
    }

    /// Writes 24 bytes. `Short` if `out` is smaller.
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let have = out.len();
        let short = WireError::Short { what: "stream command", need: Self::BYTES, have };
        let packet = out.get_mut(..Self::BYTES).ok_or(short)?;
        let header = Header::plain(PacketType::StreamCommand, self.destination, self.sequence, Self::BYTES as u16);
        let one = u64::from(self.source)
            | u64::from(self.operation.code() & 15) << 16
            | u64::from(self.operation_data & 15) << 20
            | self.packets << 24;
        words::put(packet, [header.word(), one, self.bytes]);
        Ok(Self::BYTES)
    }
}
