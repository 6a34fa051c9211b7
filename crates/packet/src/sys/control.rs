//! Control messages beside a datagram (`struct cmsghdr`, cmsg(3)), written and read as bytes: length of header and
//! data (a machine word), level, type, data, padded to a machine word. Lengths are claims until compared.

use super::option::{SO_TIMESTAMPNS_NEW, UDP_GRO, UDP_SEGMENT};

/// Room for all that is requested: a time stamp and a segment size, or an ICMP error with its sender.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Control(pub(crate) [u8; 128]);

const WORD: usize = size_of::<usize>();
const HEADER: usize = WORD + 8;

impl Control {
    pub(crate) const EMPTY: Control = Control([0; 128]);

    /// One message that asks for segments of `bytes` each, and how many bytes of the buffer it takes.
    pub(crate) fn segment(bytes: u16) -> (Control, usize) {
        let mut control = Control::EMPTY;
        control.0[..WORD].copy_from_slice(&(HEADER + 2).to_ne_bytes());
        control.0[WORD..WORD + 4].copy_from_slice(&libc::SOL_UDP.to_ne_bytes());
        control.0[WORD + 4..HEADER].copy_from_slice(&UDP_SEGMENT.to_ne_bytes());
        control.0[HEADER..HEADER + 2].copy_from_slice(&bytes.to_ne_bytes());
        (control, (HEADER + 2).next_multiple_of(WORD))
    }

    /// Reads the first `len` bytes.
    pub(crate) fn read(&self, len: usize) -> Ancillary {
        read(self.0.get(..len.min(self.0.len())).unwrap_or(&[]))
    }
}

/// Reads control messages from bytes.
pub(crate) fn read(bytes: &[u8]) -> Ancillary {
    let mut found = Ancillary::default();
    for (level, kind, data) in Walk(bytes) {
        found.note(level, kind, data);
    }
    found
}

/// Data that the kernel wrote beside a datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ancillary {
    /// Arrival, ns of the real-time clock since 1970.
    pub(crate) arrived_real_ns: Option<i128>,
    /// Bytes of each datagram of an aggregate.
    pub(crate) segment: Option<usize>,
    /// An error about something sent earlier.
    pub(crate) error: Option<SentError>,
}

/// `struct sock_extended_err`: why, and who reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentError {
    pub(crate) errno: i32,
    /// Whether ICMP (of either version) brought it.
    pub(crate) icmp: bool,
}

impl Ancillary {
    fn note(&mut self, level: i32, kind: i32, data: &[u8]) {
        match (level, kind) {
            (libc::SOL_SOCKET, SO_TIMESTAMPNS_NEW) => {
                if let Some((&seconds, rest)) = data.split_first_chunk::<8>()
                    && let Some((&nanos, _)) = rest.split_first_chunk::<8>()
                {
                    let seconds = i128::from(i64::from_ne_bytes(seconds));
                    self.arrived_real_ns = Some(seconds * 1_000_000_000 + i128::from(i64::from_ne_bytes(nanos)));
                }
            }
            (libc::SOL_UDP, UDP_GRO) => {
                let size = data.first_chunk::<4>().map(|&bytes| i32::from_ne_bytes(bytes));
                self.segment = size.and_then(|size| usize::try_from(size).ok()).filter(|&size| size > 0);
            }
            (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
                if let Some(&[a, b, c, d, origin, ..]) = data.first_chunk::<16>() {
                    let icmp = origin == libc::SO_EE_ORIGIN_ICMP || origin == libc::SO_EE_ORIGIN_ICMP6;
                    self.error = Some(SentError { errno: i32::from_ne_bytes([a, b, c, d]), icmp });
                }
            }
            _ => {}
        }
    }
}

/// The messages of a control buffer: level, type, data. Ends at the first that is not whole.
struct Walk<'a>(&'a [u8]);

impl<'a> Iterator for Walk<'a> {
    type Item = (i32, i32, &'a [u8]);
    fn next(&mut self) -> Option<Self::Item> {
        let (&len, rest) = self.0.split_first_chunk::<WORD>()?;
        let (&level, rest) = rest.split_first_chunk::<4>()?;
        let (&kind, rest) = rest.split_first_chunk::<4>()?;
        let data_len = usize::from_ne_bytes(len).checked_sub(HEADER)?;
        let data = rest.get(..data_len)?;
        self.0 = rest.get(data_len.next_multiple_of(WORD)..).unwrap_or(&[]);
        Some((i32::from_ne_bytes(level), i32::from_ne_bytes(kind), data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(len: usize, level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = len.to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(WORD), 0);
        bytes
    }

    fn found_in(parts: &[Vec<u8>]) -> Ancillary {
        let bytes = parts.concat();
        let mut control = Control([0xa5; 128]);
        control.0[..bytes.len()].copy_from_slice(&bytes);
        control.read(bytes.len())
    }

    fn stamp() -> Vec<u8> {
        let time: Vec<u8> = [7_i64.to_ne_bytes(), 9_i64.to_ne_bytes()].concat();
        message(HEADER + 16, libc::SOL_SOCKET, SO_TIMESTAMPNS_NEW, &time)
    }

    #[test]
    fn a_stamp_and_a_segment_size_are_read_past_a_stranger() {
        let stranger = message(HEADER + 1, 1234, 5, &[1]);
        let size = message(HEADER + 4, libc::SOL_UDP, UDP_GRO, &1472_i32.to_ne_bytes());
        let found = found_in(&[stamp(), stranger, size]);
        assert_eq!(found.arrived_real_ns, Some(7_000_000_009));
        assert_eq!(found.segment, Some(1472));
    }

    #[test]
    fn lengths_that_lie_end_the_walk_and_never_reach_outside() {
        for len in [0, 1, HEADER - 1, 129, usize::MAX, usize::MAX - 7] {
            let mut bytes = stamp();
            bytes[..WORD].copy_from_slice(&len.to_ne_bytes());
            let found = found_in(&[bytes, stamp()]);
            assert_eq!(found.error, None);
            assert_eq!(found.arrived_real_ns, None, "{len}");
        }
        let whole = stamp();
        for cut in 0..whole.len() {
            let mut control = Control::EMPTY;
            control.0[..whole.len()].copy_from_slice(&whole);
            assert_eq!(control.read(cut), Ancillary::default(), "{cut}");
        }
    }

    #[test]
    fn a_size_of_nothing_is_no_aggregate() {
        for size in [0_i32, -1] {
            assert_eq!(found_in(&[message(HEADER + 4, libc::SOL_UDP, UDP_GRO, &size.to_ne_bytes())]).segment, None);
        }
    }

    #[test]
    fn an_icmp_error_carries_its_reason() {
        let mut error = [0_u8; 16];
        error[..4].copy_from_slice(&libc::ECONNREFUSED.to_ne_bytes());
        error[4] = libc::SO_EE_ORIGIN_ICMP;
        let found = found_in(&[message(HEADER + 16, libc::SOL_IP, libc::IP_RECVERR, &error)]);
        assert_eq!(found.error, Some(SentError { errno: libc::ECONNREFUSED, icmp: true }));
    }
}
