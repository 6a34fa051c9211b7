//! Sample packets, both ways: a header, a time if it has one, samples.
//!
//! The length is not padded: the packet by which UHD ends a burst is 12 bytes long, one sample (x310.md 6.1, 15 trap 3).

use super::header::{Header, PacketType, length_field};
use super::words;
use crate::WireError;

const WHAT: &str = "CHDR data packet";

/// A sample packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    /// Everything but the samples.
    pub head: DataHead,
    /// Samples as sent: sc16 is I then Q, little-endian; see [`sample`](crate::sample).
    pub payload: &'a [u8],
}

/// Head before the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataHead {
    /// Endpoint id of the receiver.
    pub destination: u16,
    /// Counts data packets of a stream from 0; wraps.
    pub sequence: u16,
    /// Time of the first sample, ticks of the master clock. Host to device only a timed burst's first packet has one.
    pub tick: Option<u64>,
    /// The last packet of a burst.
    pub end_of_burst: bool,
    /// The last packet of a vector.
    pub end_of_vector: bool,
}

impl<'a> Data<'a> {
    /// Steps over metadata, and ignores what follows the stated length.
    ///
    /// # Errors
    /// `Short` if the datagram ends before the stated length, or that before the metadata do; `Field` if it is no data.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let (header, body) = Header::parse(datagram)?;
        let (tick, body) = match header.kind {
            PacketType::Data => (None, body),
            PacketType::TimedData => {
                let ([tick], body) = words::read::<1>(body, "CHDR time")?;
                (Some(tick), body)
            }
            other => return Err(WireError::field("CHDR packet type", other.code(), "6 or 7, data")),
        };
        let (need, have) = (8 * usize::from(header.metadata_words), body.len());
        let payload = body.get(need..).ok_or(WireError::Short { what: "CHDR metadata", need, have })?;
        let head = DataHead {
            destination: header.destination,
            sequence: header.sequence,
            tick,
            end_of_burst: header.end_of_burst,
            end_of_vector: header.end_of_vector,
        };
        Ok(Self { head, payload })
    }

    /// Writes the packet, payload included; returns its bytes.
    ///
    /// # Errors
    /// As [`DataHead::frame`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let total = self.head.frame(self.payload.len(), out)?;
        if let Some(room) = out.get_mut(self.head.payload_at()..total) {
            room.copy_from_slice(self.payload);
        }
        Ok(total)
    }

    /// Samples in the payload if it is sc16.
    #[must_use]
    pub fn samples_sc16(&self) -> usize {
        self.payload.len() / 4
    }
}

impl DataHead {
    /// Most bytes before a payload: with a time.
    pub const MAX_BYTES: usize = 16;

    /// Bytes before the payload: 8, or 16 with a time.
    #[must_use]
    pub const fn payload_at(&self) -> usize {
        if self.tick.is_some() { 16 } else { 8 }
    }

    /// Writes header and time before a payload that the caller puts at [`DataHead::payload_at`], before or after; returns
    /// the bytes of the packet.
    ///
    /// # Errors
    /// `Short` if `out` is smaller than the packet; `Field` if the packet is longer than 65535 bytes.
    pub fn frame(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let need = payload_bytes.saturating_add(self.payload_at());
        let length = length_field(need)?;
        let have = out.len();
        let packet = out.get_mut(..need).ok_or(WireError::Short { what: WHAT, need, have })?;
        let kind = if self.tick.is_some() { PacketType::TimedData } else { PacketType::Data };
        let header = Header {
            end_of_burst: self.end_of_burst,
            end_of_vector: self.end_of_vector,
            ..Header::plain(kind, self.destination, self.sequence, length)
        };
        match self.tick {
            None => words::put(packet.get_mut(..8).unwrap_or_default(), [header.word()]),
            Some(tick) => words::put(packet.get_mut(..16).unwrap_or_default(), [header.word(), tick]),
        }
        Ok(need)
    }
}
