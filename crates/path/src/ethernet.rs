//! Length of a frame on an Ethernet cable (IEEE 802.3).

/// Preamble with start delimiter 8, frame check sequence 4, gap 12.
pub const OVERHEAD_BYTES: u16 = 24;
/// A frame without its check sequence is padded to this.
pub const MIN_FRAME_BYTES: usize = 60;
/// Header of a frame: two addresses and a type.
pub const HEADER_BYTES: usize = 14;
/// Header of IPv4 without options, and of UDP.
pub const IP_UDP_BYTES: usize = 28;

/// Bytes on the wire of a frame of `frame_bytes`, header and payload, padding and check sequence not counted.
#[must_use]
pub const fn wire_bytes(frame_bytes: usize) -> usize {
    let padded = if frame_bytes < MIN_FRAME_BYTES { MIN_FRAME_BYTES } else { frame_bytes };
    padded + OVERHEAD_BYTES as usize
}

/// Bytes on the wire of a UDP datagram over IPv4 that needs no fragments.
#[must_use]
pub const fn datagram_wire_bytes(payload_bytes: usize) -> usize {
    wire_bytes(payload_bytes + IP_UDP_BYTES + HEADER_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_megabits_carry_148810_of_the_smallest_and_8127_of_the_largest() {
        let per_s = |payload| 100e6 / 8.0 / datagram_wire_bytes(payload) as f64;
        assert_eq!((per_s(16).round(), per_s(1472).round()), (148_810.0, 8_127.0));
    }
}
