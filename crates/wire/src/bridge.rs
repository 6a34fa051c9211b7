//! Packets of a waveform between two nodes: VITA-49 signal data with stream id, both time stamps and trailer.
//!
//! A slot's packet is a sample frame in the sense of VITA-49.2: as many datagrams as it needs, marked first, middle and final in
//! their trailers. The integer time stamp is the slot (kind "other"), the fractional one counts the items of the slot before this
//! datagram. Payloads are big-endian, padded to whole words. A slot whose producer missed it is one datagram without items, not
//! marked as valid data. `docs/reference/cluster.md` draws it.

use crate::{WireError, words};

const WHAT: &str = "bridge packet";
/// Signal data with stream id and trailer; time stamps "other" and "sample count" (VITA-49.0, 6.1.1).
const HEADER: u32 = 0x14D0_0000;
const HEADER_MASK: u32 = 0xFFF0_0000;
/// Trailer, 6.1.7: an indicator counts where its enable, twelve bits above, is set.
const VALID: u32 = 1 << 18;
const VALID_ENABLE: u32 = 1 << 30;
/// Sample frame of VITA-49.2, 5.1.6: 0 alone, 1 first, 2 middle, 3 final.
const FRAME_AT: u32 = 10;
const FRAME_ENABLE: u32 = 3 << 22;
/// Bytes of padding, in the two bits left to users.
const PAD_AT: u32 = 8;
const PAD_ENABLE: u32 = 3 << 20;
const ENABLES: u32 = VALID_ENABLE | FRAME_ENABLE | PAD_ENABLE;

/// A datagram of a bridge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeData<'a> {
    /// Everything but the items.
    pub head: BridgeHead,
    /// Items as sent, without padding.
    pub payload: &'a [u8],
}

/// Head and tail around the items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BridgeHead {
    /// 0 to 15; +1 a datagram of the stream.
    pub count: u8,
    /// The stream, as the two nodes agreed.
    pub stream_id: u32,
    /// Logical slot of the producer, modulo 2^32.
    pub slot: u32,
    /// Items of the slot before those of this datagram.
    pub first_item: u64,
    /// Place of the datagram in its slot.
    pub part: Part,
    /// Whether the producer made the slot.
    pub valid: bool,
}

/// Place of a datagram among those of its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// It is the only one.
    Whole,
    /// The first of several.
    First,
    /// Neither the first nor the last.
    Middle,
    /// The last of several.
    Final,
}

impl Part {
    /// Part of the datagram `index` of `count`.
    #[must_use]
    pub fn of(index: usize, count: usize) -> Part {
        match (index, count) {
            (_, 0 | 1) => Part::Whole,
            (0, _) => Part::First,
            _ if index + 1 >= count => Part::Final,
            _ => Part::Middle,
        }
    }

    /// Whether nothing of its slot follows.
    #[must_use]
    pub fn is_last(self) -> bool {
        matches!(self, Part::Whole | Part::Final)
    }
}

impl<'a> BridgeData<'a> {
    /// Ignores what follows the stated length.
    ///
    /// # Errors
    /// `Short` if the datagram ends before the stated length; `Field` if it is no packet of a bridge, its length is below 7
    /// words, or there is more padding than payload.
    pub fn parse(datagram: &'a [u8]) -> Result<Self, WireError> {
        let ([header, stream_id, slot, high, low], rest) = words::read(datagram, WHAT)?;
        if header & HEADER_MASK != HEADER {
            return Err(WireError::field("bridge header", header, "0x14dnllll"));
        }
        let length = header & 0xFFFF;
        let need = length as usize * 4;
        let body = need.checked_sub(BridgeHead::OVERHEAD_BYTES);
        let body = body.ok_or(WireError::field("bridge length in words", length, "at least 6"))?;
        let short = WireError::Short { what: WHAT, need, have: datagram.len() };
        let (padded, tail) = rest.split_at_checked(body).ok_or(short)?;
        let ([trailer], _) = words::read(tail, WHAT).map_err(|_| short)?;
        if trailer & ENABLES != ENABLES {
            return Err(WireError::field("bridge trailer", trailer, "enables of valid data, frame and padding"));
        }
        let padding = (trailer >> PAD_AT & 3) as usize;
        let bytes = padded.len().checked_sub(padding);
        let payload = bytes.and_then(|bytes| padded.get(..bytes));
        let payload = payload.ok_or(WireError::field("bridge padding", padding as u64, "at most the payload"))?;
        let part = match trailer >> FRAME_AT & 3 {
            0 => Part::Whole,
            1 => Part::First,
            2 => Part::Middle,
            _ => Part::Final,
        };
        let head = BridgeHead {
            count: (header >> 16) as u8 & 15,
            stream_id,
            slot,
            first_item: words::join(high, low),
            part,
            valid: trailer & VALID != 0,
        };
        Ok(Self { head, payload })
    }

    /// Writes the packet, payload included; returns its bytes.
    ///
    /// # Errors
    /// As [`BridgeHead::frame`].
    pub fn write(&self, out: &mut [u8]) -> Result<usize, WireError> {
        let total = self.head.frame(self.payload.len(), out)?;
        if let Some(room) = out.get_mut(BridgeHead::BYTES..BridgeHead::BYTES + self.payload.len()) {
            room.copy_from_slice(self.payload);
        }
        Ok(total)
    }
}

impl BridgeHead {
    /// Bytes before the items.
    pub const BYTES: usize = 20;
    /// Bytes around the items: [`BYTES`](Self::BYTES) and the trailer. Padding comes on top.
    pub const OVERHEAD_BYTES: usize = 24;

    /// Writes header, padding and trailer around items that the caller puts at [`BridgeHead::BYTES`], before or after;
    /// returns the bytes of the packet.
    ///
    /// # Errors
    /// `Short` if `out` is smaller than the packet; `Field` if the packet is too long for its 16-bit length.
    pub fn frame(&self, payload_bytes: usize, out: &mut [u8]) -> Result<usize, WireError> {
        let padded = payload_bytes.saturating_add(3) & !3;
        let total = padded.saturating_add(Self::OVERHEAD_BYTES);
        let length = u32::try_from(total / 4).ok().filter(|&length| length <= 0xFFFF);
        let length = length.ok_or(WireError::field("bridge length in words", total as u64 / 4, "at most 65535"))?;
        let have = out.len();
        let room = out.get_mut(..total).ok_or(WireError::Short { what: WHAT, need: total, have })?;
        let header = HEADER | u32::from(self.count & 15) << 16 | length;
        let [high, low] = words::split(self.first_item);
        words::put(room, [header, self.stream_id, self.slot, high, low]);
        let (frame, padding) = (self.part as u32, (padded - payload_bytes) as u32);
        let valid = u32::from(self.valid) * VALID;
        if let Some(tail) = room.get_mut(Self::BYTES + payload_bytes..) {
            tail.fill(0);
        }
        if let Some(tail) = room.get_mut(Self::BYTES + padded..) {
            words::put(tail, [ENABLES | valid | frame << FRAME_AT | padding << PAD_AT]);
        }
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEAD: BridgeHead =
        BridgeHead { count: 9, stream_id: 0x7461_6b74, slot: 5, first_item: 1400, part: Part::Final, valid: true };

    #[test]
    fn a_packet_is_laid_out_as_documented() {
        let mut out = [0xa5; 40];
        let length = BridgeData { head: HEAD, payload: &[1, 2, 3, 4, 5, 6] }.write(&mut out).unwrap();
        let expected: [u8; 32] = [
            0x14, 0xd9, 0, 8, // signal data, trailer, "other", sample count, count 9, 8 words
            0x74, 0x61, 0x6b, 0x74, // stream
            0, 0, 0, 5, // slot
            0, 0, 0, 0, 0, 0, 0x05, 0x78, // items before
            1, 2, 3, 4, 5, 6, 0, 0, // items and padding
            0x40, 0xf4, 0x0e, 0, // valid data, final, two bytes of padding
        ];
        assert_eq!((length, &out[..32]), (32, &expected[..]));
        assert_eq!(out[32..], [0xa5; 8], "nothing beyond");
        let read = BridgeData::parse(&out[..32]).unwrap();
        assert_eq!((read.head, read.payload), (HEAD, &[1_u8, 2, 3, 4, 5, 6][..]));
    }

    #[test]
    fn a_slot_in_n_datagrams_has_one_first_and_one_last() {
        assert_eq!(Part::of(0, 1), Part::Whole);
        let parts: Vec<Part> = (0..4).map(|index| Part::of(index, 4)).collect();
        assert_eq!(parts, [Part::First, Part::Middle, Part::Middle, Part::Final]);
    }

    #[test]
    fn what_is_no_bridge_packet_is_refused_by_name() {
        let mut good = [0; 64];
        let length = BridgeData { head: HEAD, payload: &[7; 8] }.write(&mut good).unwrap();
        let with = |at: usize, byte: u8| {
            let mut bad = good;
            bad[at] = byte;
            BridgeData::parse(&bad[..length]).unwrap_err().to_string()
        };
        assert!(with(0, 0x18).contains("bridge header"));
        assert!(with(3, 5).contains("length in words"));
        assert!(with(3, 200).contains("800 bytes"));
        assert!(with(length - 4, 0).contains("trailer"));
        let mut empty = [0; 24];
        BridgeData { head: HEAD, payload: &[] }.write(&mut empty).unwrap();
        empty[22] |= 2;
        assert!(BridgeData::parse(&empty).unwrap_err().to_string().contains("padding"));
        assert!(BridgeData { head: HEAD, payload: &[0; 1 << 18] }.write(&mut vec![0; 1 << 19]).is_err());
    }

    proptest! {
        #[test]
        fn every_packet_reads_back_and_no_prefix_does(
            (count, stream_id, slot, first_item) in (0..16_u8, any::<u32>(), any::<u32>(), any::<u64>()),
            (index, of, valid) in (0..4_usize, 1..5_usize, any::<bool>()),
            payload in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let head = BridgeHead { count, stream_id, slot, first_item, part: Part::of(index.min(of - 1), of), valid };
            let mut out = [0xa5; 160];
            let length = BridgeData { head, payload: &payload }.write(&mut out).unwrap();
            prop_assert_eq!(BridgeData::parse(&out[..length]), Ok(BridgeData { head, payload: &payload }));
            for end in 0..length {
                prop_assert!(BridgeData::parse(&out[..end]).is_err());
            }
        }
    }
}
