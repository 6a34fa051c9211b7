//! Socket addresses as the kernel lays them out (`sockaddr_in`, `sockaddr_in6`), written and read as bytes.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

/// Long enough for both families. Aligned as the kernel's structures are.
#[repr(C, align(8))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawAddr(pub(crate) [u8; 32]);

/// Bytes of a `sockaddr_in` and a `sockaddr_in6`.
const V4_BYTES: usize = 16;
const V6_BYTES: usize = 28;

impl RawAddr {
    pub(crate) const EMPTY: RawAddr = RawAddr([0; 32]);

    /// The layout of `addr` and how many bytes of it count.
    pub(crate) fn of(addr: SocketAddr) -> (RawAddr, usize) {
        let mut raw = RawAddr::EMPTY;
        raw.0[2..4].copy_from_slice(&addr.port().to_be_bytes());
        match addr {
            SocketAddr::V4(v4) => {
                raw.0[..2].copy_from_slice(&family(libc::AF_INET));
                raw.0[4..8].copy_from_slice(&v4.ip().octets());
                (raw, V4_BYTES)
            }
            SocketAddr::V6(v6) => {
                raw.0[..2].copy_from_slice(&family(libc::AF_INET6));
                raw.0[4..8].copy_from_slice(&v6.flowinfo().to_ne_bytes());
                raw.0[8..24].copy_from_slice(&v6.ip().octets());
                raw.0[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
                (raw, V6_BYTES)
            }
        }
    }

    /// The address in the first `len` bytes, as the kernel claims; `None` if that is none we know.
    pub(crate) fn read(&self, len: usize) -> Option<SocketAddr> {
        read(self.0.get(..len.min(self.0.len()))?)
    }
}

/// Reads a socket address from bytes.
pub(crate) fn read(bytes: &[u8]) -> Option<SocketAddr> {
    let (&[f0, f1, p0, p1, a, b, c, d], rest) = bytes.split_first_chunk::<8>()?;
    let port = u16::from_be_bytes([p0, p1]);
    if [f0, f1] == family(libc::AF_INET) {
        return Some(SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), port).into());
    }
    if [f0, f1] != family(libc::AF_INET6) {
        return None;
    }
    let (&ip, rest) = rest.split_first_chunk::<16>()?;
    let (&scope, _) = rest.split_first_chunk::<4>()?;
    let flow = u32::from_ne_bytes([a, b, c, d]);
    Some(SocketAddrV6::new(Ipv6Addr::from(ip), port, flow, u32::from_ne_bytes(scope)).into())
}

/// The family field. Address families are small and positive.
fn family(family: i32) -> [u8; 2] {
    u16::try_from(family).unwrap_or(0).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_the_kernels_layout() {
        for text in ["127.0.2.1:49152", "255.255.255.255:0", "[::1]:1", "[fe80::1%3]:65535"] {
            let addr: SocketAddr = text.parse().unwrap();
            let (raw, len) = RawAddr::of(addr);
            assert_eq!(raw.read(len), Some(addr));
        }
    }

    #[test]
    fn what_is_too_short_or_of_another_family_is_no_address() {
        let (raw, len) = RawAddr::of("[::1]:1".parse().unwrap());
        assert!((0..len).all(|n| raw.read(n).is_none()));
        assert_eq!(RawAddr([0; 32]).read(28), None);
        assert_eq!(RawAddr([0xa5; 32]).read(usize::MAX), None);
    }
}
