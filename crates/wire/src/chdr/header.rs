//! The first word of every packet.

use super::words::{self, bits};
use crate::WireError;

/// Type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum PacketType {
    Management,
    StreamStatus,
    StreamCommand,
    Control,
    Data,
    TimedData,
    /// 3 and 5 have no meaning.
    Other(u8),
}

crate::words::codes!(PacketType: u8 {
    Management = 0, StreamStatus = 1, StreamCommand = 2, Control = 4, Data = 6, TimedData = 7
});

/// Destination, type and length of a packet (x310.md 6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Endpoint id of the receiver.
    pub destination: u16,
    /// Bytes of the whole packet: this word too, padding not.
    pub length_bytes: u16,
    /// Each kind of packet between two endpoints has a counter of its own.
    pub sequence: u16,
    /// Words of metadata in front of the payload, 0 to 31. UHD sends none.
    pub metadata_words: u8,
    /// Its type.
    pub kind: PacketType,
    /// The last packet of a vector.
    pub end_of_vector: bool,
    /// The last packet of a burst.
    pub end_of_burst: bool,
    /// 0 to 63; UHD uses 0 only.
    pub virtual_channel: u8,
}

impl Header {
    /// Size of the header.
    pub const BYTES: usize = 8;

    /// A packet of this type with `length_bytes` bytes, and nothing out of the ordinary.
    #[must_use]
    pub const fn plain(kind: PacketType, destination: u16, sequence: u16, length_bytes: u16) -> Header {
        Header {
            destination,
            length_bytes,
            sequence,
            metadata_words: 0,
            kind,
            end_of_vector: false,
            end_of_burst: false,
            virtual_channel: 0,
        }
    }

    /// The header, and what belongs to the packet after it. Bytes behind the stated length are ignored.
    ///
    /// # Errors
    /// `Short` if the datagram ends before the stated length; `Field` if that is below 8.
    pub fn parse(datagram: &[u8]) -> Result<(Header, &[u8]), WireError> {
        let ([word], _) = words::read::<1>(datagram, "CHDR header")?;
        let header = Header::from_word(word);
        let need = usize::from(header.length_bytes);
        let short = WireError::Short { what: "CHDR packet", need, have: datagram.len() };
        let packet = datagram.get(..need).ok_or(short)?;
        let Some((_, body)) = packet.split_at_checked(Self::BYTES) else {
            return Err(WireError::field("CHDR length", header.length_bytes, "8 bytes or more"));
        };
        Ok((header, body))
    }

    /// The header of a packet that must be of one kind, and what follows the header.
    pub(super) fn expect<'a>(
        datagram: &'a [u8],
        kind: PacketType,
        want: &'static str,
    ) -> Result<(Header, &'a [u8]), WireError> {
        let (header, body) = Header::parse(datagram)?;
        if header.kind != kind {
            return Err(WireError::field("CHDR packet type", header.kind.code(), want));
        }
        Ok((header, body))
    }

    fn from_word(word: u64) -> Header {
        Header {
            destination: word as u16,
            length_bytes: (word >> 16) as u16,
            sequence: (word >> 32) as u16,
            metadata_words: bits(word, 48, 5) as u8,
            kind: PacketType::from_code(bits(word, 53, 3) as u8),
            end_of_vector: bits(word, 56, 1) != 0,
            end_of_burst: bits(word, 57, 1) != 0,
            virtual_channel: bits(word, 58, 6) as u8,
        }
    }

    /// The word on the wire.
    #[must_use]
    pub fn word(&self) -> u64 {
        u64::from(self.destination)
            | u64::from(self.length_bytes) << 16
            | u64::from(self.sequence) << 32
            | u64::from(self.metadata_words & 31) << 48
            | u64::from(self.kind.code() & 7) << 53
            | u64::from(self.end_of_vector) << 56
            | u64::from(self.end_of_burst) << 57
            | u64::from(self.virtual_channel & 63) << 58
    }
}

/// The length field of a packet of so many bytes.
pub(super) fn length_field(bytes: usize) -> Result<u16, WireError> {
    u16::try_from(bytes).map_err(|_| WireError::field("CHDR packet", bytes as u64, "65535 bytes at most"))
}
