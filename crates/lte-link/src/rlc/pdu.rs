//! RLC PDUs, in a form between those of TS 36.322 and TS 38.322.
//!
//! Each packet has one sequence number of 16 bits, whatever its segments. So a segment that is sent again can be cut anew: only
//! its offset matters. Packets share a block by sub-headers of MAC, which is the concatenation.
//!
//! ```text
//! data     1 P SI 0000 | number, 2 bytes | offset, 2 bytes, unless it is 0 | bytes of the packet
//! status   00000000    | number, 2 bytes | (number, begin, end), 2 bytes each, for each gap
//! ```
//!
//! SI is 0 for a whole packet, 1 its first part, 2 its last, 3 one between. P asks for a status. A status acknowledges all
//! packets before its number, except for its gaps, bytes `begin` to `end`, exclusive.

use crate::ParseError;

/// The largest packet, bytes.
pub(crate) const PACKET_LEN: usize = 1500;
/// Packets that a receiver holds at most before the first complete one.
pub(crate) const WINDOW: u64 = 2048;
/// The end of a packet whose length the receiver does not know.
pub(crate) const UNKNOWN_END: u16 = 0xffff;

/// The bytes of a packet that a data PDU holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub(crate) offset: u16,
    /// Whether the packet ends with it.
    pub(crate) last: bool,
}

impl Segment {
    /// Bytes of the header of a segment that begins there.
    pub(crate) fn header_len(offset: u16) -> usize {
        if offset == 0 { 3 } else { 5 }
    }
}

/// A PDU as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pdu<'a> {
    Data { number: u16, poll: bool, segment: Segment, bytes: &'a [u8] },
    Status(Status),
}

/// A receiver's report of packets that it has and lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Status {
    /// All before are there, except for the gaps.
    pub(crate) number: u16,
    pub(crate) gaps: Vec<Gap>,
}

/// Missing bytes of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    pub(crate) number: u16,
    pub(crate) begin: u16,
    pub(crate) end: u16,
}

pub(crate) fn data(number: u16, poll: bool, segment: Segment, bytes: &[u8]) -> Vec<u8> {
    let kind = match (segment.offset, segment.last) {
        (0, true) => 0,
        (0, false) => 1,
        (_, true) => 2,
        (_, false) => 3,
    };
    let mut pdu = Vec::with_capacity(5 + bytes.len());
    pdu.push(0x80 | u8::from(poll) << 6 | kind << 4);
    pdu.extend_from_slice(&number.to_be_bytes());
    if segment.offset != 0 {
        pdu.extend_from_slice(&segment.offset.to_be_bytes());
    }
    pdu.extend_from_slice(bytes);
    pdu
}

impl Status {
    /// Bytes with this many gaps.
    pub(crate) fn len(gaps: usize) -> usize {
        3 + 6 * gaps
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut pdu = vec![0];
        pdu.extend_from_slice(&self.number.to_be_bytes());
        for gap in &self.gaps {
            for field in [gap.number, gap.begin, gap.end] {
                pdu.extend_from_slice(&field.to_be_bytes());
            }
        }
        pdu
    }
}

/// # Errors
/// If the PDU ends early, has a reserved bit, or a segment or gap that no packet can have.
pub(crate) fn parse(pdu: &[u8]) -> Result<Pdu<'_>, ParseError> {
    let short = ParseError::Short { what: "an RLC PDU", have: pdu.len() };
    let (&[first, high, low], rest) = pdu.split_first_chunk::<3>().ok_or(short)?;
    let number = u16::from_be_bytes([high, low]);
    if first & 0x80 == 0 {
        return parse_status(first, number, rest);
    }
    if first & 0x0f != 0 {
        let expected = "reserved bits 0";
        return Err(ParseError::Field { what: "the first byte of an RLC PDU", value: first.into(), expected });
    }
    let has_offset = first & 0x20 != 0;
    let (offset, bytes) = match (has_offset, rest) {
        (false, _) => (0, rest),
        (true, &[high, low, ref bytes @ ..]) => (u16::from_be_bytes([high, low]), bytes),
        (true, _) => return Err(short),
    };
    let end = usize::from(offset) + bytes.len();
    if bytes.is_empty() || end > PACKET_LEN || has_offset == (offset == 0) {
        let expected = "bytes of a packet of up to 1500";
        return Err(ParseError::Field { what: "end of a segment", value: end as u64, expected });
    }
    let last = matches!(first >> 4 & 3, 0 | 2);
    Ok(Pdu::Data { number, poll: first & 0x40 != 0, segment: Segment { offset, last }, bytes })
}

fn parse_status(first: u8, number: u16, rest: &[u8]) -> Result<Pdu<'_>, ParseError> {
    let (gaps, odd) = rest.as_chunks::<6>();
    if first != 0 || !odd.is_empty() {
        let expected = "a first byte 0, and gaps of 6 bytes";
        return Err(ParseError::Field { what: "an RLC status", value: first.into(), expected });
    }
    let gap = |&[a, b, c, d, e, f]: &[u8; 6]| Gap {
        number: u16::from_be_bytes([a, b]),
        begin: u16::from_be_bytes([c, d]),
        end: u16::from_be_bytes([e, f]),
    };
    let gaps: Vec<Gap> = gaps.iter().map(gap).collect();
    match gaps.iter().find(|gap| gap.begin >= gap.end) {
        Some(wrong) => {
            Err(ParseError::Field { what: "end of a gap", value: wrong.end.into(), expected: "after its begin" })
        }
        None => Ok(Pdu::Status(Status { number, gaps })),
    }
}

/// The count that a number of 16 bits stands for, the nearest to `near`; `None` below 0.
pub(crate) fn unwrap(number: u16, near: u64) -> Option<u64> {
    let ahead = number.wrapping_sub(near as u16);
    if ahead < 0x8000 { Some(near + u64::from(ahead)) } else { near.checked_sub(0x1_0000 - u64::from(ahead)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_are_as_stated() {
        let middle = Segment { offset: 300, last: false };
        assert_eq!(data(5, true, middle, &[9, 9]), [0xf0, 0, 5, 1, 44, 9, 9]);
        assert_eq!(data(5, false, Segment { offset: 0, last: true }, &[9]), [0x80, 0, 5, 9]);
        let status = Status { number: 258, gaps: vec![Gap { number: 1, begin: 0, end: UNKNOWN_END }] };
        assert_eq!(status.bytes(), [0, 1, 2, 0, 1, 0, 0, 255, 255]);
        assert_eq!(parse(&status.bytes()), Ok(Pdu::Status(status)));
    }

    #[test]
    fn numbers_unwrap_to_the_nearest() {
        assert_eq!(unwrap(3, 0x1_fffe), Some(0x2_0003));
        assert_eq!(unwrap(0xffff, 0x2_0001), Some(0x1_ffff));
        assert_eq!((unwrap(0xffff, 1), unwrap(0, 1)), (None, Some(0)));
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            match parse(&bytes) {
                Ok(Pdu::Data { number, poll, segment, bytes: payload }) => {
                    prop_assert_eq!(data(number, poll, segment, payload), bytes.clone());
                }
                Ok(Pdu::Status(status)) => prop_assert_eq!(status.bytes(), bytes),
                Err(_) => {}
            }
        }
    }
}
