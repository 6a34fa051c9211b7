#![no_main]
//! An Ethernet frame of any bytes is an ICMP message about a datagram of ours or is none, never a panic. Its checksums are mended
//! as well, so that what they guard is reached.

use std::net::Ipv4Addr;

use takt_packet::icmp::unreachable;

const US: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// Has the 16 bits at `at` be the checksum of bytes that hold them (RFC 1071).
fn mend(bytes: &mut [u8], at: usize) {
    let Some(place) = bytes.get_mut(at..at + 2) else { return };
    place.fill(0);
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    bytes[at..at + 2].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}

fn look(frame: &[u8]) {
    let Some(message) = unreachable(frame, US) else { return };
    assert_eq!(*message.from.ip(), US);
    assert!(frame.len() >= 66, "what it is about is in it");
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    look(bytes);
    let mut frame = bytes.to_vec();
    let Some(&[high, low]) = frame.get(16..18) else { return };
    let end = (14 + usize::from(u16::from_be_bytes([high, low]))).min(frame.len());
    if let Some(ip) = frame.get_mut(14..34) {
        mend(ip, 10);
    }
    if let Some(message) = frame.get_mut(34..end) {
        mend(message, 2);
    }
    look(&frame);
});
