//! MAC PDUs: sub-headers, then their payloads. TS 36.321 section 6.1.2.
//!
//! A sub-header is `R R E LCID` and, unless the payload has a fixed size or is the last, a length of 7 or 15 bits. One or two
//! bytes of padding are sub-headers in front; more padding is at the end.

use crate::ParseError;

/// The kinds of payload, by logical channel identity: TS 36.321 tables 6.2.1-1 and 6.2.1-2.
pub(crate) mod channel {
    /// Common control: message 3, the configuration in message 4.
    pub(crate) const COMMON: u8 = 0;
    /// Control of an attached terminal.
    pub(crate) const CONTROL: u8 = 1;
    /// The default bearer.
    pub(crate) const BEARER: u8 = 3;
    /// Uplink: amount of data that waits.
    pub(crate) const BUFFER_STATUS: u8 = 29;
    /// Uplink: the terminal's identifier.
    pub(crate) const OWN_RNTI: u8 = 27;
    /// Downlink: echo of message 3.
    pub(crate) const RESOLUTION: u8 = 28;
    /// Downlink: timing advance.
    pub(crate) const TIMING: u8 = 29;
    /// Nothing.
    pub(crate) const PADDING: u8 = 31;
}

/// Which way a PDU goes: some identities mean something else each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Down,
    Up,
}

/// The size of a control element; `None` for a payload with a length, `Some(None)` for an identity without a meaning.
fn fixed_size(way: Way, id: u8) -> Option<Option<usize>> {
    match (way, id) {
        (_, 0..=10) => None,
        (Way::Down, channel::RESOLUTION) => Some(Some(6)),
        (Way::Down, channel::TIMING) | (Way::Up, channel::BUFFER_STATUS) => Some(Some(1)),
        (Way::Up, channel::OWN_RNTI) => Some(Some(2)),
        (_, channel::PADDING) => Some(Some(0)),
        _ => Some(None),
    }
}

/// A payload and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part<'a> {
    pub(crate) id: u8,
    pub(crate) bytes: &'a [u8],
}

/// Bytes of a sub-header with a length.
fn header_len(payload: usize) -> usize {
    if payload < 128 { 2 } else { 3 }
}

/// A PDU of a given size, filled part by part.
pub(crate) struct Builder {
    size: usize,
    used: usize,
    parts: Vec<(u8, usize, bool)>,
    payload: Vec<u8>,
}

impl Builder {
    /// An empty PDU of `size` bytes.
    pub(crate) fn new(size: usize) -> Builder {
        Builder { size, used: 0, parts: Vec::with_capacity(4), payload: Vec::with_capacity(size) }
    }

    /// Bytes that the payload of one more part with a length can have.
    pub(crate) fn room(&self) -> usize {
        let left = self.size - self.used;
        // A payload of 126 or 127 bytes is as large as a sub-header of two bytes allows.
        if left <= 129 { left.saturating_sub(2) } else { left - 3 }
    }

    /// Adds a payload with a length. Nothing happens, and the answer is false, if it does not fit.
    pub(crate) fn data(&mut self, id: u8, bytes: &[u8]) -> bool {
        self.part(id, bytes, header_len(bytes.len()), true)
    }

    /// Adds the only payload, which then needs no length.
    pub(crate) fn data_to_end(&mut self, id: u8, bytes: &[u8]) -> bool {
        let fits = self.parts.is_empty() && bytes.len() < self.size;
        let header = header_len(bytes.len());
        // Counted with its length, of which `finish` takes back what is not written.
        if fits {
            self.used = header + bytes.len();
            self.parts.push((id, bytes.len(), true));
            self.payload.extend_from_slice(bytes);
        }
        fits
    }

    /// Adds a control element, whose size both ends know.
    pub(crate) fn element(&mut self, id: u8, bytes: &[u8]) -> bool {
        self.part(id, bytes, 1, false)
    }

    fn part(&mut self, id: u8, bytes: &[u8], header: usize, has_length: bool) -> bool {
        let fits = self.used + header + bytes.len() <= self.size;
        if fits {
            self.used += header + bytes.len();
            self.parts.push((id, bytes.len(), has_length));
            self.payload.extend_from_slice(bytes);
        }
        fits
    }

    /// Whether nothing was added.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The PDU, with padding up to its size.
    pub(crate) fn finish(self) -> Vec<u8> {
        let saved = match self.parts.last() {
            Some(&(_, len, true)) => header_len(len) - 1,
            _ => 0,
        };
        let free = self.size + saved - self.used;
        let (front, tail) = if free <= 2 && !self.parts.is_empty() { (free, false) } else { (0, true) };
        let mut pdu = Vec::with_capacity(self.size);
        pdu.extend(std::iter::repeat_n(0x20 | channel::PADDING, front));
        for (at, &(id, len, has_length)) in self.parts.iter().enumerate() {
            let more = tail || at + 1 < self.parts.len();
            pdu.push(if more { 0x20 | id } else { id });
            match (more && has_length, len) {
                (true, 0..128) => pdu.push(len as u8),
                (true, _) => pdu.extend_from_slice(&(0x8000 | len as u16).to_be_bytes()),
                (false, _) => {}
            }
        }
        if tail && self.size > 0 {
            pdu.push(channel::PADDING);
        }
        pdu.extend_from_slice(&self.payload);
        pdu.resize(self.size, 0);
        pdu
    }
}

/// The parts of a PDU, without its padding.
///
/// # Errors
/// If it ends early, or has an identity without a meaning. Then nothing of it is used.
pub(crate) fn parse(pdu: &[u8], way: Way) -> Result<Vec<Part<'_>>, ParseError> {
    let short = || ParseError::Short { what: "a MAC PDU", have: pdu.len() };
    let mut sizes = Vec::new();
    let mut rest = pdu;
    loop {
        let (&[first], after) = rest.split_first_chunk::<1>().ok_or_else(short)?;
        let (id, more) = (first & 0x1f, first & 0x20 != 0);
        rest = after;
        let size = match (fixed_size(way, id), more) {
            (Some(None), _) => {
                let expected = "a logical channel or control element of this link";
                return Err(ParseError::Field { what: "LCID", value: u64::from(id), expected });
            }
            (Some(Some(size)), _) => Some(size),
            (None, false) => None,
            (None, true) => Some(length(&mut rest).ok_or_else(short)?),
        };
        sizes.push((id, size));
        if !more {
            break;
        }
    }
    let mut parts = Vec::with_capacity(sizes.len());
    for (id, size) in sizes {
        let (bytes, after) = rest.split_at_checked(size.unwrap_or(rest.len())).ok_or_else(short)?;
        rest = after;
        if id != channel::PADDING {
            parts.push(Part { id, bytes });
        }
    }
    Ok(parts)
}

fn length(rest: &mut &[u8]) -> Option<usize> {
    let (&first, after) = rest.split_first()?;
    *rest = after;
    if first & 0x80 == 0 {
        return Some(usize::from(first));
    }
    let (&second, after) = rest.split_first()?;
    *rest = after;
    Some(usize::from(first & 0x7f) << 8 | usize::from(second))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_pdu_as_the_standard_draws_it() {
        let mut one = Builder::new(12);
        assert!(one.element(channel::TIMING, &[31]) && one.data(channel::BEARER, &[1, 2, 3]));
        // E and LCID 29; E, LCID 3, length 3; LCID 31; payloads; padding.
        assert_eq!(one.finish(), [0x3d, 0x23, 3, 0x1f, 31, 1, 2, 3, 0, 0, 0, 0]);
        let mut last = Builder::new(5);
        assert!(last.data(channel::BEARER, &[1, 2, 3]));
        assert_eq!(last.finish(), [0x3f, 0x03, 1, 2, 3]);
    }

    proptest! {
        #[test]
        fn parts_come_back(size in 1usize..3000, lens in prop::collection::vec((0usize..400, any::<bool>()), 0..8)) {
            let mut builder = Builder::new(size);
            let mut sent = Vec::new();
            for (n, &(len, element)) in lens.iter().enumerate() {
                let bytes = vec![n as u8 + 1; if element { 1 } else { len }];
                let id = if element { channel::TIMING } else { channel::BEARER };
                let taken = if element { builder.element(id, &bytes) } else { builder.data(id, &bytes) };
                if taken {
                    sent.push((id, bytes));
                }
            }
            let pdu = builder.finish();
            prop_assert_eq!(pdu.len(), size);
            let heard = parse(&pdu, Way::Down).unwrap();
            let heard: Vec<_> = heard.iter().map(|part| (part.id, part.bytes.to_vec())).collect();
            prop_assert_eq!(heard, sent);
        }

        #[test]
        fn room_is_what_fits(size in 1usize..600, before in 0usize..300) {
            let mut builder = Builder::new(size);
            builder.data(channel::BEARER, &vec![0; before]);
            let room = builder.room();
            if room > 0 {
                prop_assert!(builder.data(channel::BEARER, &vec![0; room]));
            }
        }

        #[test]
        fn any_bytes_are_parsed_or_refused(pdu in prop::collection::vec(any::<u8>(), 0..200)) {
            for way in [Way::Down, Way::Up] {
                if let Ok(parts) = parse(&pdu, way) {
                    prop_assert!(parts.iter().map(|part| part.bytes.len()).sum::<usize>() < pdu.len());
                }
            }
        }
    }
}
