//! The one message of ICMP (RFC 792) that an engine without the kernel reports, "destination unreachable". Pure; what
//! arrives is hostile until parsed.

use std::net::{Ipv4Addr, SocketAddrV4};

use super::frame::is_sound;

const ETHERNET_BYTES: usize = 14;

/// An ICMP message about a datagram that was sent from one to the other and did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable {
    /// Sender of the datagram.
    pub from: SocketAddrV4,
    /// Destination of the datagram.
    pub to: SocketAddrV4,
    /// No socket has the port. Otherwise it found no way, or was not wanted.
    pub no_port: bool,
}

/// An ICMP message about a UDP datagram that `own` had sent: type 3, with the front of the packet it is about.
#[must_use]
pub fn unreachable(frame: &[u8], own: Ipv4Addr) -> Option<Unreachable> {
    let (ethernet, packet) = frame.split_first_chunk::<ETHERNET_BYTES>()?;
    let (ip, rest) = packet.split_first_chunk::<20>()?;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let message = rest.get(..total.checked_sub(20)?)?;
    let for_us = ethernet[12..] == [0x08, 0x00] && ip[0] == 0x45 && ip[9] == 1 && ip[16..20] == own.octets();
    if !for_us || !is_sound(ip) || !is_sound(message) {
        return None;
    }
    let (&[kind, code, ..], about) = message.split_first_chunk::<8>()?;
    let (inner, udp) = about.split_first_chunk::<20>()?;
    let &[a, b, c, d] = udp.first_chunk::<4>()?;
    if kind != 3 || inner[0] != 0x45 || inner[9] != 17 || inner[12..16] != own.octets() {
        return None;
    }
    let to = Ipv4Addr::from([inner[16], inner[17], inner[18], inner[19]]);
    let port = |high, low| u16::from_be_bytes([high, low]);
    Some(Unreachable {
        from: SocketAddrV4::new(own, port(a, b)),
        to: SocketAddrV4::new(to, port(c, d)),
        no_port: code == 3,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const US: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

    #[test]
    fn a_message_about_a_port_names_both_ends() {
        // From 10.0.0.2 about a datagram of 10.0.0.1:4096 to 10.0.0.2:9; checksums computed by another program from RFC 1071.
        let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
        frame.extend([0x45, 0, 0, 56, 0, 0, 0, 0, 64, 1, 0x66, 0xc3, 10, 0, 0, 2, 10, 0, 0, 1]);
        frame.extend([3, 3, 0x2f, 0xf4, 0, 0, 0, 0]);
        frame.extend([0x45, 0, 0, 33, 0, 0, 0x40, 0, 64, 17, 0x26, 0xca, 10, 0, 0, 1, 10, 0, 0, 2]);
        frame.extend([0x10, 0, 0, 9, 0, 13, 0xbc, 0xf2]);
        let (from, to) = ("10.0.0.1:4096".parse().unwrap(), "10.0.0.2:9".parse().unwrap());
        assert_eq!(unreachable(&frame, US), Some(Unreachable { from, to, no_port: true }));
        for cut in 0..frame.len() {
            assert_eq!(unreachable(&frame[..cut], US), None, "{cut}");
        }
        for bit in 26 * 8..frame.len() * 8 {
            let mut frame = frame.clone();
            frame[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(unreachable(&frame, US), None, "bit {bit}");
        }
        assert_eq!(unreachable(&frame, Ipv4Addr::new(10, 0, 0, 3)), None);
    }

    /// Has the 16 bits at `at` be the checksum of bytes that hold them (RFC 1071), as another program computes it.
    fn mend(bytes: &mut [u8], at: usize) {
        let Some(place) = bytes.get_mut(at..at + 2) else { return };
        place.fill(0);
        let word = |pair: &[u8]| u64::from(pair[0]) << 8 | u64::from(*pair.get(1).unwrap_or(&0));
        let sum: u64 = bytes.chunks(2).map(word).sum();
        // Ones' complement: modulo 65,535, where 0 is written as all ones unless every bit is 0.
        let folded = if sum == 0 { 0 } else { (sum - 1) % 0xffff + 1 };
        bytes[at..at + 2].copy_from_slice(&(!(folded as u16)).to_be_bytes());
    }

    /// A frame to us with an ICMP message of any bytes, whose checksums are right.
    fn any_message() -> impl Strategy<Value = Vec<u8>> {
        let bytes = prop::collection::vec(any::<u8>(), 34..120);
        (bytes, any::<bool>(), 0usize..4).prop_map(|(mut bytes, about, padding)| {
            bytes[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
            let total = (bytes.len() - ETHERNET_BYTES).saturating_sub(padding).max(20);
            bytes[16..18].copy_from_slice(&(total as u16).to_be_bytes());
            bytes[23] = 1;
            bytes[30..34].copy_from_slice(&US.octets());
            // Also one about a datagram of ours, which few random bytes are.
            if about && bytes.len() >= 62 {
                (bytes[34], bytes[42], bytes[51]) = (3, 0x45, 17);
                bytes[54..58].copy_from_slice(&US.octets());
            }
            let end = ETHERNET_BYTES + total;
            mend(&mut bytes[14..34], 10);
            mend(&mut bytes[34..end], 2);
            bytes
        })
    }

    proptest! {
        #[test]
        fn no_bytes_lead_it_astray(bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            let _message = unreachable(&bytes, US);
        }

        #[test]
        fn no_sound_message_leads_it_astray(bytes in any_message()) {
            let about = bytes.len() >= 66 && bytes[34] == 3 && bytes[42] == 0x45 && bytes[51] == 17 && bytes[54..58] == US.octets();
            let whole = usize::from(u16::from_be_bytes([bytes[16], bytes[17]])) + ETHERNET_BYTES >= 66;
            let message = unreachable(&bytes, US);
            prop_assert_eq!(message.is_some(), about && whole);
            if let Some(message) = message {
                prop_assert_eq!((message.from.ip(), message.no_port), (&US, bytes[35] == 3));
            }
        }
    }
}
