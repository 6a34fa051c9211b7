//! Ethernet, IPv4 and UDP around a payload: written for sending, taken off on arrival. Pure, and what arrives is hostile
//! until parsed.
//!
//! Ethernet II without tags; IPv4 without options (RFC 791); UDP (RFC 768). A fragment is refused, as the kernel alone puts
//! them together.

use std::net::{Ipv4Addr, SocketAddrV4};

/// Bytes before the payload.
pub(crate) const HEADERS_BYTES: usize = ETHERNET_BYTES + IP_BYTES + UDP_BYTES;
/// Bytes of a route's MTU that are no payload.
pub(crate) const PACKET_HEADERS_BYTES: usize = IP_BYTES + UDP_BYTES;

const ETHERNET_BYTES: usize = 14;
const IP_BYTES: usize = 20;
const UDP_BYTES: usize = 8;
const IPV4: [u8; 2] = [0x08, 0x00];
const UDP: u8 = 17;
/// "Don't fragment"; of an arriving packet every other bit of the field makes it a fragment.
const DONT_FRAGMENT: u16 = 0x4000;
/// RFC 1700's default, and Linux's.
const TTL: u8 = 64;

/// Hardware address.
pub(crate) type Mac = [u8; 6];

/// From whom to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Address and port of the sender.
    pub source: SocketAddrV4,
    /// Address and port it is for.
    pub destination: SocketAddrV4,
}

/// Contents of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried<'a> {
    /// From whom to whom.
    pub ends: Ends,
    /// Payload of the datagram.
    pub payload: &'a [u8],
}

/// Why a frame is no datagram.
#[allow(missing_docs, reason = "names and messages say it")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    #[error("the frame ends within its {what}: {have} bytes of {need}")]
    Short { what: &'static str, need: usize, have: usize },
    #[error("{what} is {got:#x}; expected: {want:#x}")]
    Field { what: &'static str, got: u32, want: u32 },
    #[error("the packet is a fragment")]
    Fragment,
    #[error("the {what} checksum is wrong")]
    Checksum { what: &'static str },
    /// The sender's kernel left it to a device that did not: a virtual interface whose transmit checksums are switched on.
    #[error("the sender left the UDP checksum unfinished (run ethtool -K INTERFACE tx off at the sender)")]
    Unfinished,
}

/// Takes a frame apart. Bytes behind the packet (Ethernet pads to 60) are ignored.
///
/// # Errors
/// It is no whole, sound UDP datagram over IPv4.
pub fn parse(frame: &[u8]) -> Result<Carried<'_>, FrameError> {
    let short = |what, need, have: &[u8]| FrameError::Short { what, need, have: have.len() };
    let (ethernet, packet) = frame.split_first_chunk::<ETHERNET_BYTES>().ok_or(short("Ethernet header", 14, frame))?;
    let ether_type = u16::from_be_bytes([ethernet[12], ethernet[13]]);
    expect("EtherType", ether_type.into(), 0x0800)?;
    let (&ip, _) = packet.split_first_chunk::<IP_BYTES>().ok_or(short("IPv4 header", 20, packet))?;
    expect("IPv4 version and header length", ip[0].into(), 0x45)?;
    expect("IPv4 protocol", ip[9].into(), UDP.into())?;
    if u16::from_be_bytes([ip[6], ip[7]]) & !DONT_FRAGMENT != 0 {
        return Err(FrameError::Fragment);
    }
    if fold(sum(0, &ip)) != 0xffff {
        return Err(FrameError::Checksum { what: "IPv4" });
    }
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let body = packet.get(IP_BYTES..total).ok_or(short("IPv4 packet", total.max(IP_BYTES), packet))?;
    let (&udp, rest) = body.split_first_chunk::<UDP_BYTES>().ok_or(short("UDP header", 8, body))?;
    let udp_bytes = usize::from(u16::from_be_bytes([udp[4], udp[5]]));
    let payload_bytes = udp_bytes.checked_sub(UDP_BYTES).ok_or(short("UDP header", 8, body))?;
    let payload = rest.get(..payload_bytes).ok_or(short("UDP datagram", udp_bytes, body))?;
    let ends = Ends {
        source: SocketAddrV4::new(address(&ip, 12), u16::from_be_bytes([udp[0], udp[1]])),
        destination: SocketAddrV4::new(address(&ip, 16), u16::from_be_bytes([udp[2], udp[3]])),
    };
    check(ends, u16::from_be_bytes([udp[6], udp[7]]), &udp, payload)?;
    Ok(Carried { ends, payload })
}

/// Destination of a UDP datagram in one piece, by headers that nobody has checked yet; `None` for any other frame.
#[cfg(feature = "dpdk")]
pub(crate) fn destination(frame: &[u8]) -> Option<SocketAddrV4> {
    let (front, _) = frame.split_first_chunk::<HEADERS_BYTES>()?;
    let fragment = u16::from_be_bytes([front[20], front[21]]) & !DONT_FRAGMENT;
    let plain = front[12..14] == IPV4 && front[14] == 0x45 && front[23] == UDP && fragment == 0;
    let address = Ipv4Addr::new(front[30], front[31], front[32], front[33]);
    plain.then(|| SocketAddrV4::new(address, u16::from_be_bytes([front[36], front[37]])))
}

/// Whether bytes that hold their own checksum (RFC 1071) are as it says.
pub(crate) fn is_sound(bytes: &[u8]) -> bool {
    fold(sum(0, bytes)) == 0xffff
}

/// RFC 768: zero says that there is no checksum.
fn check(ends: Ends, got: u16, udp: &[u8; UDP_BYTES], payload: &[u8]) -> Result<(), FrameError> {
    let pseudo = pseudo(ends, UDP_BYTES + payload.len());
    if got == 0 || fold(sum(sum(pseudo, udp), payload)) == 0xffff {
        return Ok(());
    }
    // Linux leaves the sum of the pseudo header, not its complement, to the device (`CHECKSUM_PARTIAL`).
    Err(if got == fold(pseudo) { FrameError::Unfinished } else { FrameError::Checksum { what: "UDP" } })
}

fn expect(what: &'static str, got: u32, want: u32) -> Result<(), FrameError> {
    if got == want { Ok(()) } else { Err(FrameError::Field { what, got, want }) }
}

fn address(ip: &[u8; IP_BYTES], at: usize) -> Ipv4Addr {
    Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|n| ip.get(at + n).copied().unwrap_or(0)))
}

/// Writes a frame to the front of `frame`; returns its length, `None` if it does not fit there or into a packet.
pub fn write(frame: &mut [u8], from: [u8; 6], to: [u8; 6], ends: Ends, payload: &[u8]) -> Option<usize> {
    let len = HEADERS_BYTES + payload.len();
    let (front, rest) = frame.get_mut(..len)?.split_first_chunk_mut::<HEADERS_BYTES>()?;
    *front = headers(from, to, ends, payload)?;
    rest.copy_from_slice(payload);
    Some(len)
}

/// Headers before a payload; `None` if that fits into no packet.
pub(crate) fn headers(from: Mac, to: Mac, ends: Ends, payload: &[u8]) -> Option<[u8; HEADERS_BYTES]> {
    let packet_bytes = u16::try_from(PACKET_HEADERS_BYTES + payload.len()).ok()?;
    let udp_bytes = packet_bytes - IP_BYTES as u16;
    let mut front = [0; HEADERS_BYTES];
    front[..6].copy_from_slice(&to);
    front[6..12].copy_from_slice(&from);
    front[12..14].copy_from_slice(&IPV4);
    let ip = &mut front[14..34];
    ip.copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0x40, 0, TTL, UDP, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    ip[2..4].copy_from_slice(&packet_bytes.to_be_bytes());
    ip[12..16].copy_from_slice(&ends.source.ip().octets());
    ip[16..20].copy_from_slice(&ends.destination.ip().octets());
    let checksum = !fold(sum(0, ip));
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let udp = &mut front[34..42];
    udp[..2].copy_from_slice(&ends.source.port().to_be_bytes());
    udp[2..4].copy_from_slice(&ends.destination.port().to_be_bytes());
    udp[4..6].copy_from_slice(&udp_bytes.to_be_bytes());
    udp[6..8].fill(0);
    // A checksum that comes out as zero is sent as its other form.
    let checksum = match !fold(sum(sum(pseudo(ends, udp_bytes.into()), udp), payload)) {
        0 => 0xffff,
        other => other,
    };
    udp[6..8].copy_from_slice(&checksum.to_be_bytes());
    Some(front)
}

/// RFC 768's pseudo header, summed.
fn pseudo(ends: Ends, udp_bytes: usize) -> u64 {
    let addresses = sum(sum(0, &ends.source.ip().octets()), &ends.destination.ip().octets());
    addresses + u64::from(UDP) + udp_bytes as u64
}

/// RFC 1071: adds 16-bit words, big-endian, the last one padded with zero; carries collect in the upper bits. Four words at
/// a time, since the order of additions does not matter (section 2 (B) and (C)): 65,507 bytes stay far below 2^64.
fn sum(start: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut total = start;
    for word in words {
        total += u64::from(u32::from_be_bytes(*word));
    }
    let (pairs, last) = rest.as_chunks::<2>();
    for pair in pairs {
        total += u64::from(u16::from_be_bytes(*pair));
    }
    last.iter().fold(total, |total, &byte| total + (u64::from(byte) << 8))
}

/// Carries added back in, until one word is left.
fn fold(mut total: u64) -> u16 {
    while total > 0xffff {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// "takt?" from 10.0.0.1:4096 to 10.0.0.2:9; checksums computed by another program from RFC 1071.
    const FRAME: [u8; 47] = [
        2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, // Ethernet
        0x45, 0, 0, 33, 0, 0, 0x40, 0, 64, 17, 0x26, 0xca, 10, 0, 0, 1, 10, 0, 0, 2, // IPv4
        0x10, 0, 0, 9, 0, 13, 0xbc, 0xf2, // UDP
        b't', b'a', b'k', b't', b'?',
    ];

    fn ends() -> Ends {
        Ends { source: "10.0.0.1:4096".parse().unwrap(), destination: "10.0.0.2:9".parse().unwrap() }
    }

    /// Both checksums anew.
    fn mended(mut frame: Vec<u8>) -> Vec<u8> {
        frame[24..26].fill(0);
        let checksum = !fold(sum(0, &frame[14..34]));
        frame[24..26].copy_from_slice(&checksum.to_be_bytes());
        frame
    }

    #[test]
    fn a_frame_is_written_as_it_looks_on_the_wire_and_read_again() {
        let mut frame = [0xa5; 100];
        let len = write(&mut frame, [2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], ends(), b"takt?").unwrap();
        assert_eq!(frame[..len], FRAME);
        assert!(frame[len..].iter().all(|&byte| byte == 0xa5));
        assert_eq!(parse(&FRAME), Ok(Carried { ends: ends(), payload: b"takt?" }));
        let padded = [&FRAME[..], &[0; 13]].concat();
        assert_eq!(parse(&padded).unwrap().payload, b"takt?", "Ethernet pads to sixty bytes");
    }

    #[test]
    fn every_prefix_of_a_frame_is_refused() {
        for cut in 0..FRAME.len() {
            assert!(matches!(parse(&FRAME[..cut]), Err(FrameError::Short { .. })), "{cut}");
        }
    }

    #[test]
    fn any_bit_that_is_flipped_behind_the_hardware_addresses_is_found() {
        for bit in 12 * 8..FRAME.len() * 8 {
            let mut frame = FRAME;
            frame[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&frame).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn what_is_no_whole_datagram_is_told_apart() {
        let changed = |at: usize, to: &[u8]| {
            let mut frame = FRAME.to_vec();
            frame[at..at + to.len()].copy_from_slice(to);
            mended(frame)
        };
        let field = |what, got, want| Err(FrameError::Field { what, got, want });
        assert_eq!(parse(&changed(12, &[0x81, 0])), field("EtherType", 0x8100, 0x0800));
        assert_eq!(parse(&changed(14, &[0x46])), field("IPv4 version and header length", 0x46, 0x45));
        assert_eq!(parse(&changed(23, &[6])), field("IPv4 protocol", 6, 17));
        for fragment in [[0x20, 0], [0, 1], [0x5f, 0xff]] {
            assert_eq!(parse(&changed(20, &fragment)), Err(FrameError::Fragment));
        }
        assert_eq!(parse(&changed(38, &[0, 7])), Err(FrameError::Short { what: "UDP header", need: 8, have: 13 }));
        assert_eq!(parse(&changed(38, &[0, 14])), Err(FrameError::Short { what: "UDP datagram", need: 14, have: 13 }));
        assert_eq!(
            parse(&changed(16, &[0xff, 0xff])).unwrap_err(),
            FrameError::Short { what: "IPv4 packet", need: 0xffff, have: 33 }
        );
        assert_eq!(parse(&changed(40, &[0, 0])).unwrap().payload, b"takt?", "zero: no checksum (RFC 768)");
        let unfinished = fold(pseudo(ends(), 13)).to_be_bytes();
        assert_eq!(parse(&changed(40, &unfinished)), Err(FrameError::Unfinished));
    }

    #[test]
    fn what_fits_into_no_packet_or_buffer_is_not_written() {
        assert_eq!(write(&mut [0; 46], [0; 6], [0; 6], ends(), b"takt?"), None);
        assert_eq!(write(&mut vec![0; 70_000], [0; 6], [0; 6], ends(), &vec![0; 65_508]), None);
        assert_eq!(write(&mut vec![0; 70_000], [0; 6], [0; 6], ends(), &vec![0; 65_507]), Some(65_549));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(
            source: ([u8; 4], u16), destination: ([u8; 4], u16), payload in prop::collection::vec(any::<u8>(), 0..2000),
        ) {
            let end = |(ip, port): ([u8; 4], u16)| SocketAddrV4::new(ip.into(), port);
            let ends = Ends { source: end(source), destination: end(destination) };
            let mut frame = vec![0xa5; 3000];
            let len = write(&mut frame, [1; 6], [2; 6], ends, &payload).unwrap();
            prop_assert_eq!(parse(&frame[..len]), Ok(Carried { ends, payload: &payload }));
        }

        #[test]
        fn no_bytes_lead_it_astray(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(carried) = parse(&bytes) {
                prop_assert!(carried.payload.len() + HEADERS_BYTES <= bytes.len());
            }
        }

        /// RFC 1071's own way: word by word, each carry at once.
        #[test]
        fn a_sum_is_the_same_word_by_word(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let slow = bytes.chunks(2).fold(0_u32, |total, pair| {
                let total = total + u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]));
                (total & 0xffff) + (total >> 16)
            });
            prop_assert_eq!(u32::from(fold(sum(0, &bytes))), slow);
        }
    }
}
