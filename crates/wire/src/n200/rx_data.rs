//! Sample packets, device to host: VITA-49 IF data with stream id, fractional time and trailer.
//!
//! Everything that can be wrong is found by [`RxData::parse`]; reading the view cannot fail. A sender that converts its
//! samples straight into the datagram writes them at [`RxHead::BYTES`] and calls [`RxHead::frame`].

use crate::{WireError, words};

const WHAT: &str = "RX data packet";
const HEADER: u32 = 0x1410_0000;
const HEADER_END_OF_BURST: u32 = 1 << 24;
const ENABLE_END_OF_BURST: u32 = 1 << 20; // in the trailer: the indicator in bit 8 counts
const END_OF_BURST: u32 = 1 << 8;
const SC8: u32 = 1 << 22;
const ODD: u32 = 1 << 10;

/// A sample packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxData<'a> {
    /// Everything but the samples.
    pub head: RxHead,
    /// Samples as sent, whole words; see [`sample`](crate::sample).
    pub payload: &'a [u8],
}

/// Head and tail around the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RxHead {
    /// 0 to 15; +1 a data packet, inline messages repeat it and do not count.
    pub count: u8,
    /// The host's value of the stream id register.
    pub stream_id: u32,
    /// Tick of the first sample, on the master clock.
    pub tick: u64,
    /// The burst ends with this packet.
    pub end_of_burst: bool,
    /// How the samples are packed.
    pub packing: RxPacking,
}

/// How samples stand in the words of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxPacking {
    /// One sample a word.
    Sc16,
    /// Two samples a word.
    Sc8 {
        /// The last word holds only one.
        odd: bool,
    },
}

impl<'a> RxData<'a> {
    /// Ignores what follows the stated length, as UHD does.
    ///
    /// # Errors
    /// `Short` if the datagram ends before the stated length, or that is below 5 words; `Field` if it is no sample packet.
    #[inline]
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let ([header, stream_id, high, low], rest) = words::read(datagram, WHAT)?;
        if (header & !HEADER_END_OF_BURST) >> 20 != HEADER >> 20 {
            return Err(WireError::field("RX data header", header, "0x141nllll"));
        }
        let length = header & 0xFFFF;
        let need = length as usize * 4;
        let short = WireError::Short { what: WHAT, need, have: datagram.len() };
        let body = need.checked_sub(RxHead::OVERHEAD_BYTES);
        let body = body.ok_or(WireError::field("RX data length in words", length, "at least 5"))?;
        let (payload, tail) = rest.split_at_checked(body).ok_or(short)?;
        let ([trailer], _) = words::read(tail, WHAT).map_err(|_| short)?;
        let in_trailer = trailer & ENABLE_END_OF_BURST != 0 && trailer & END_OF_BURST != 0;
        let packing = match trailer & SC8 {
            0 => RxPacking::Sc16,
            _ => RxPacking::Sc8 { odd: trailer & ODD != 0 },
        };
        let head = RxHead {
            count: (header >> 16) as u8 & 15,
            stream_id,
            tick: words::join(high, low),
            end_of_burst: in_trailer || header & HEADER_END_OF_BURST != 0,
            packing,
        };
        Ok(Self { head, payload })
    }

    /// Writes the packet, payload included; returns its bytes.
    ///
    /// # Errors
    /// As [`RxHead::frame`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let total = self.head.frame(self.payload.len(), out)?;
        if let Some(room) = out.get_mut(RxHead::BYTES..RxHead::BYTES + self.payload.len()) {
            room.copy_from_slice(self.payload);
        }
        Ok(total)
    }

    /// Samples in the payload.
    #[must_use]
    #[inline]
    pub fn samples(&self) -> usize {
        match self.head.packing {
            RxPacking::Sc16 => self.payload.len() / 4,
            RxPacking::Sc8 { odd } => (self.payload.len() / 2).saturating_sub(usize::from(odd)),
        }
    }
}

impl RxHead {
    /// Bytes before the payload.
    pub const BYTES: usize = 16;
    /// Bytes around the payload: [`BYTES`](Self::BYTES) and the trailer.
    pub const OVERHEAD_BYTES: usize = 20;

    /// Writes header and trailer around a payload that the caller puts at [`RxHead::BYTES`], before or after; returns
    /// the bytes of the packet.
    ///
    /// # Errors
    /// `Short` if `out` is smaller than the packet; `Field` if the payload is not whole words or too long for the
    /// 16-bit length.
    pub fn frame(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let length = super::length_in_words(payload_bytes, Self::OVERHEAD_BYTES)?;
        let total = payload_bytes + Self::OVERHEAD_BYTES;
        let short = WireError::Short { what: WHAT, need: total, have: out.len() };
        let packet = out.get_mut(..total).ok_or(short)?;
        let header = HEADER | u32::from(self.count & 15) << 16 | u32::from(length);
        let [high, low] = words::split(self.tick);
        words::write(packet, WHAT, [header, self.stream_id, high, low])?;
        words::write(packet.get_mut(total - 4..).ok_or(short)?, WHAT, [self.trailer()])?;
        Ok(total)
    }

    fn trailer(&self) -> u32 {
        let burst = if self.end_of_burst { END_OF_BURST } else { 0 };
        let packing = match self.packing {
            RxPacking::Sc16 => 0,
            RxPacking::Sc8 { odd: false } => SC8,
            RxPacking::Sc8 { odd: true } => SC8 | ODD,
        };
        ENABLE_END_OF_BURST | burst | packing
    }
}
