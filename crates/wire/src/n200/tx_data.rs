//! Sample packets, host to device: a sequence number, then VITA-49 IF data without stream id.
//!
//! The host's format register, not the packet, says whether samples are sc16 or sc8; only the odd sample of an sc8
//! packet is marked. A sender that converts straight into the datagram writes its samples at
//! [`TxHead::payload_at`] and calls [`TxHead::frame`].

use super::Destination;
use crate::{WireError, words};

const WHAT: &str = "TX data packet";
const TRAILER_PRESENT: u32 = 1 << 26;
const START_OF_BURST: u32 = 1 << 25;
const END_OF_BURST: u32 = 1 << 24;
const TIMED: u32 = 1 << 20;
const FIXED: u32 = 0xFCE0_0000; // bits of the header that no packet of ours varies
const TRAILER: u32 = 0x00C0_0000;
const ODD: u32 = 1 << 10;
const ODD_VALID: u32 = 1 << 22;

/// A sample packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxData<'a> {
    /// Everything but the samples.
    pub head: TxHead,
    /// Samples as sent, whole words; see [`sample`](crate::sample).
    pub payload: &'a [u8],
}

/// Head and tail around the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TxHead {
    /// Counts packets of a streamer from 0.
    pub sequence: u32,
    /// 0 to 15; a host sends the low bits of `sequence`.
    pub count: u8,
    /// When the first sample shall leave, or `None` for as soon as possible. Ignored inside a burst.
    pub tick: Option<u64>,
    /// The host says that a burst starts here. Hosts set it unreliably: a burst starts with the first packet after idle.
    pub start_of_burst: bool,
    /// The burst ends with this packet.
    pub end_of_burst: bool,
    /// sc8 only: the last word holds one sample.
    pub odd: bool,
}

impl<'a> TxData<'a> {
    /// Ignores what follows the stated length.
    ///
    /// # Errors
    /// `Short` if the datagram ends before the stated length; `Field` if it is no sample packet, among these one with
    /// length 0, which is a [`Destination`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let ([sequence, header], rest) = words::read(datagram, WHAT)?;
        let field = |what, want| WireError::field(what, header, want);
        if header & FIXED != TRAILER_PRESENT {
            return Err(field("TX data header", "0x04nnllll to 0x071nllll"));
        }
        let length = (header & 0xFFFF) as usize;
        let need = 4 + 4 * length;
        let short = WireError::Short { what: WHAT, need, have: datagram.len() };
        let timed = header & TIMED != 0;
        let overhead = TxHead::prologue(timed) + 4;
        let body = need.checked_sub(overhead).ok_or(field("TX data length", "2 words, 4 with a time"))?;
        let (tick, rest) = match timed {
            false => (None, rest),
            true => {
                let ([high, low], rest) = words::read(rest, WHAT).map_err(|_| short)?;
                (Some(words::join(high, low)), rest)
            }
        };
        let (payload, tail) = rest.split_at_checked(body).ok_or(short)?;
        let ([trailer], _) = words::read(tail, WHAT).map_err(|_| short)?;
        let head = TxHead {
            sequence,
            count: (header >> 16) as u8 & 15,
            tick,
            start_of_burst: header & START_OF_BURST != 0,
            end_of_burst: header & END_OF_BURST != 0,
            odd: trailer & ODD_VALID != 0 && trailer & ODD != 0,
        };
        Ok(Self { head, payload })
    }

    /// Writes the packet, payload included; returns its bytes.
    ///
    /// # Errors
    /// As [`TxHead::frame`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let total = self.head.frame(self.payload.len(), out)?;
        let at = self.head.payload_at();
        if let Some(room) = out.get_mut(at..at + self.payload.len()) {
            room.copy_from_slice(self.payload);
        }
        Ok(total)
    }

    /// Samples in the payload if it is sc16.
    #[must_use]
    pub fn samples_sc16(&self) -> usize {
        self.payload.len() / 4
    }

    /// Samples in the payload if it is sc8.
    #[must_use]
    pub fn samples_sc8(&self) -> usize {
        (self.payload.len() / 2).saturating_sub(usize::from(self.head.odd))
    }
}

impl TxHead {
    /// Most bytes around a payload: with a time.
    pub const MAX_OVERHEAD_BYTES: usize = 20;

    /// Bytes before the payload: 8, or 16 with a time.
    #[must_use]
    pub const fn payload_at(&self) -> usize {
        Self::prologue(self.tick.is_some())
    }

    /// Bytes before a payload: 8, or 16 if the packet carries a time.
    #[must_use]
    pub const fn prologue(timed: bool) -> usize {
        if timed { 16 } else { 8 }
    }

    /// Writes header and trailer around a payload that the caller puts at [`TxHead::payload_at`], before or after;
    /// returns the bytes of the packet.
    ///
    /// # Errors
    /// `Short` if `out` is smaller than the packet; `Field` if the payload is not whole words or too long for the
    /// 16-bit length.
    pub fn frame(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let overhead = self.payload_at() + 4;
        let length = super::length_in_words(payload_bytes, overhead - 4)?;
        let total = payload_bytes + overhead;
        let short = WireError::Short { what: WHAT, need: total, have: out.len() };
        let packet = out.get_mut(..total).ok_or(short)?;
        let header = self.header() | u32::from(length);
        match self.tick {
            None => words::write(packet, WHAT, [self.sequence, header])?,
            Some(tick) => {
                let [high, low] = words::split(tick);
                words::write(packet, WHAT, [self.sequence, header, high, low])?
            }
        };
        let trailer = TRAILER | if self.odd { ODD } else { 0 };
        words::write(packet.get_mut(total - 4..).ok_or(short)?, WHAT, [trailer])?;
        Ok(total)
    }

    fn header(&self) -> u32 {
        let bit = |set, bit| if set { bit } else { 0 };
        TRAILER_PRESENT
            | bit(self.start_of_burst, START_OF_BURST)
            | bit(self.end_of_burst, END_OF_BURST)
            | bit(self.tick.is_some(), TIMED)
            | u32::from(self.count & 15) << 16
    }
}

/// Either of the packets a transmit port receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxPacket<'a> {
    /// Samples.
    Data(TxData<'a>),
    /// Address to which reports shall go.
    Destination(Destination),
}

impl<'a> TxPacket<'a> {
    /// # Errors
    /// As [`Destination::parse`] if the VRT length field is 0, else as [`TxData::parse`].
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let ([_, header], _) = words::read(datagram, WHAT)?;
        if header & 0xFFFF == 0 {
            Destination::parse(datagram).map(Self::Destination)
        } else {
            TxData::parse(datagram).map(Self::Data)
        }
    }
}
