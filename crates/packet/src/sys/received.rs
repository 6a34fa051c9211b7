//! Layout that a multishot receive writes into a buffer (`struct io_uring_recvmsg_out`,
//! io_uring_prep_recvmsg_multishot(3)): four lengths and flags, the source's address, control messages, the payload.
//! Lengths are claims until compared.

use super::addr;
use super::control;
use super::message::{Received, Wants};

/// Lengths of the name, the control messages and the payload, and `msg_flags`, 32 bits each.
const HEADER_BYTES: usize = 16;
/// Room for an address of either family, and for a time stamp and a segment size.
const NAME_BYTES: usize = 32;
const CONTROL_BYTES: usize = 64;

/// Offsets of the parts of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) name_bytes: usize,
    pub(crate) control_bytes: usize,
}

impl Layout {
    /// For what is wanted beside the payload.
    pub(crate) const fn of(wants: Wants) -> Layout {
        Layout {
            name_bytes: if wants.source { NAME_BYTES } else { 0 },
            control_bytes: if wants.ancillary { CONTROL_BYTES } else { 0 },
        }
    }

    /// Bytes before the payload.
    pub(crate) const fn before_payload(self) -> usize {
        HEADER_BYTES + self.name_bytes + self.control_bytes
    }

    /// Reads a buffer as far as it was filled; `None` if that is not even the front.
    pub(crate) fn read(self, filled: &[u8]) -> Option<Received> {
        let (&header, rest) = filled.split_first_chunk::<HEADER_BYTES>()?;
        let (name, rest) = rest.split_at_checked(self.name_bytes)?;
        let (messages, payload) = rest.split_at_checked(self.control_bytes)?;
        let [name_bytes, control_bytes, payload_bytes, flags] = words(header);
        Some(Received {
            len: payload.len().min(payload_bytes as usize),
            from: addr::read(name.get(..name_bytes as usize).unwrap_or(name)),
            ancillary: control::read(messages.get(..control_bytes as usize).unwrap_or(messages)),
            cut: flags & libc::MSG_TRUNC.cast_unsigned() != 0,
        })
    }
}

fn words(header: [u8; HEADER_BYTES]) -> [u32; 4] {
    std::array::from_fn(|word| u32::from_ne_bytes(std::array::from_fn(|byte| header[word * 4 + byte])))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::super::addr::RawAddr;
    use super::*;

    const FULL: Layout = Layout::of(Wants::ALL);

    fn buffer(lengths: [u32; 4], payload: &[u8]) -> Vec<u8> {
        let mut bytes: Vec<u8> = lengths.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.extend(RawAddr::of(SocketAddr::from(([10, 0, 0, 7], 49_152))).0.0);
        bytes.extend([0xa5; CONTROL_BYTES]);
        bytes.extend(payload);
        bytes
    }

    #[test]
    fn a_buffer_reads_as_source_and_payload() {
        let got = FULL.read(&buffer([16, 0, 5, 0], b"takt?")).unwrap();
        assert_eq!((got.len, got.cut, got.from), (5, false, Some(SocketAddr::from(([10, 0, 0, 7], 49_152)))));
        assert_eq!(FULL.before_payload(), 16 + 32 + 64);
        let bare = Layout::of(Wants { source: false, ancillary: false });
        assert_eq!(bare.read(&[0; 16]).map(|got| (got.len, got.from)), Some((0, None)));
    }

    #[test]
    fn lengths_that_lie_reach_no_further_than_the_buffer() {
        for lie in [6, 1 << 16, u32::MAX] {
            let got = FULL.read(&buffer([lie, lie, lie, libc::MSG_TRUNC as u32], b"takt?")).unwrap();
            assert_eq!((got.len, got.cut), (5, true));
        }
        let whole = buffer([16, 0, 5, 0], b"");
        assert!((0..whole.len()).all(|cut| FULL.read(&whole[..cut]).is_none()));
    }
}
