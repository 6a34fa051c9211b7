//! A router with address translation in the kernel's receive path: for each of its two interfaces an XDP program, written
//! out here, that sends UDP for the other side straight on.
//!
//! ```text
//!   frame --> to our hardware address, IPv4 with a 20-byte header, UDP, no fragment, lives on?
//!               | yes                                                                  | no
//!               v                                                                      v
//!        inside:  host to radio? the port is noted, the address becomes ours     the kernel's own stack
//!        outside: to our address, a port that was noted? it becomes the host's    (ARP, ICMP, the rest)
//!               v
//!        TTL - 1, checksums by the difference (RFC 1624), new hardware addresses
//!               v
//!        out by the other interface
//! ```
//!
//! One host is inside, so ports stay what they are, as netfilter leaves them, too, while they are free; what the programs
//! pass on to the kernel, it may translate as well (RFC 4787: endpoint-independent mapping and filtering). A noted port
//! stays noted until the programs go. Everything else about a path of two networks stands in the code as constants.

use std::net::Ipv4Addr;

pub use takt_host::bpf::code::PASS;
use takt_host::bpf::code::{
    ADD, ADD_CONSTANT, AND_CONSTANT, CALL, Code, DESTINATION, DESTINATION_PORT, EXIT, HELPER_LOOK_UP, HELPER_REDIRECT,
    IF_BELOW_CONSTANT, IF_CONSTANT, IF_NOT_CONSTANT, IP_CHECKSUM, LIMIT, LOAD_BYTE, LOAD_HALF, LOAD_WORD, MOVE,
    MOVE_CONSTANT, PACKET, RESULT, SECOND, SHIFT_RIGHT_CONSTANT, SOURCE, SOURCE_PORT, STACK, STORE_BYTE,
    STORE_BYTE_CONSTANT, STORE_HALF, STORE_HALF_CONSTANT, STORE_WORD, STORE_WORD_CONSTANT, TTL, UDP_CHECKSUM, VALUE,
    XOR_CONSTANT, halves, in_frame,
};

/// One interface's way to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    pub side: Side,
    /// Hardware address of the interface that receives.
    pub own: [u8; 6],
    pub inside: Ipv4Addr,
    pub outside: Ipv4Addr,
    pub radio: Ipv4Addr,
    /// The interface to send by, as the kernel numbers it.
    pub out_index: u32,
    pub out_own: [u8; 6],
    /// Hardware address of the neighbour there.
    pub next: [u8; 6],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// From the host: its source is translated.
    Inside,
    /// From the other side: its destination is.
    Outside,
}

/// Ports that the table of a router has room for: all. A value is one byte, 1 for a port that was noted.
pub const PORTS: u32 = 1 << 16;

/// As address translation needs it: the datagram is for this router, and may live on.
/// The program for the interface that receives; `table` is the descriptor of the router's ports ([`PORTS`]). The processor
/// must be little-endian, as x86-64 and AArch64 are.
#[must_use]
pub fn program(way: &Way, table: i32) -> Vec<u64> {
    let mut router = Router::default();
    router.is_for_us(way.own);
    match way.side {
        Side::Inside => {
            router.0.pass_unless(LOAD_WORD, SOURCE, in_frame(way.inside));
            router.0.pass_unless(LOAD_WORD, DESTINATION, in_frame(way.radio));
            router.port_entry(SOURCE_PORT, table);
            router.0.emit(STORE_BYTE_CONSTANT, RESULT, 0, 0, 1);
            router.translates(SOURCE, way.inside, way.outside);
        }
        Side::Outside => {
            router.0.pass_unless(LOAD_WORD, DESTINATION, in_frame(way.outside));
            router.port_entry(DESTINATION_PORT, table);
            router.0.emit(LOAD_BYTE, VALUE, RESULT, 0, 0);
            router.0.pass_if(IF_CONSTANT, VALUE, 0, 0);
            router.translates(DESTINATION, way.outside, way.inside);
        }
    }
    for (offset, half) in (0..).step_by(2).zip(halves(way.next).into_iter().chain(halves(way.out_own))) {
        router.0.emit(STORE_HALF_CONSTANT, PACKET, 0, offset, half);
    }
    router.0.emit(MOVE_CONSTANT, 1, 0, 0, i32::from_ne_bytes(way.out_index.to_ne_bytes()));
    router.0.emit(MOVE_CONSTANT, SECOND, 0, 0, 0);
    router.0.emit(CALL, 0, 0, 0, HELPER_REDIRECT);
    router.0.emit(EXIT, 0, 0, 0, 0);
    router.0.end()
}

/// Term that RFC 1624 adds to a checksum's complement when one address takes another's place: `~m + m'`. It has the
/// byte order of the frame read by a little-endian processor, which the sum does not care about.
fn difference(old: Ipv4Addr, new: Ipv4Addr) -> u16 {
    let words = |address: Ipv4Addr| {
        let [a, b, c, d] = address.octets();
        [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])]
    };
    words(old).map(|word| !word).into_iter().chain(words(new)).fold(0, plus)
}

/// In one's complement.
fn plus(a: u16, b: u16) -> u16 {
    let (sum, carry) = a.overflowing_add(b);
    sum + u16::from(carry)
}

/// Instructions of a correction.
const CORRECTION: i16 = 7;

/// A TTL that is one less: the low byte of its word, as a little-endian processor reads it.
const ONE_LESS: u16 = !1;

/// The instructions of a router.
#[derive(Default)]
struct Router(Code);

impl Router {
    /// Goes on with a whole UDP datagram that is for this router and may live on.
    fn is_for_us(&mut self, own: [u8; 6]) {
        self.0.is_whole_udp();
        for (offset, half) in (0..).step_by(2).zip(halves(own)) {
            self.0.pass_unless(LOAD_HALF, offset, half);
        }
        self.0.emit(LOAD_BYTE, VALUE, PACKET, TTL, 0);
        self.0.pass_if(IF_BELOW_CONSTANT, VALUE, 0, 2);
    }

    /// Leaves in [`RESULT`] where the table has a datagram's port.
    fn port_entry(&mut self, port: i16, table: i32) {
        self.0.emit(LOAD_HALF, VALUE, PACKET, port, 0);
        self.0.emit(STORE_WORD, STACK, VALUE, -4, 0);
        self.0.argument_table(table);
        self.0.emit(MOVE, SECOND, STACK, 0, 0);
        self.0.emit(ADD_CONSTANT, SECOND, 0, 0, -4);
        self.0.emit(CALL, 0, 0, 0, HELPER_LOOK_UP);
        // It is there for every port; the verifier wants to see the check.
        self.0.pass_if(IF_CONSTANT, RESULT, 0, 0);
    }

    /// Puts one address in another's place, takes one from the TTL, and corrects both checksums.
    fn translates(&mut self, at: i16, old: Ipv4Addr, new: Ipv4Addr) {
        self.0.emit(STORE_WORD_CONSTANT, PACKET, 0, at, in_frame(new));
        self.0.emit(LOAD_BYTE, VALUE, PACKET, TTL, 0);
        self.0.emit(ADD_CONSTANT, VALUE, 0, 0, -1);
        self.0.emit(STORE_BYTE, PACKET, VALUE, TTL, 0);
        self.0.emit(LOAD_HALF, VALUE, PACKET, IP_CHECKSUM, 0);
        self.corrects(plus(difference(old, new), ONE_LESS));
        self.0.emit(STORE_HALF, PACKET, VALUE, IP_CHECKSUM, 0);
        // RFC 768: zero says that there is none, and a sum that is zero is sent as its other form.
        self.0.emit(LOAD_HALF, VALUE, PACKET, UDP_CHECKSUM, 0);
        self.0.emit(IF_CONSTANT, VALUE, 0, CORRECTION + 3, 0);
        self.corrects(difference(old, new));
        self.0.emit(IF_NOT_CONSTANT, VALUE, 0, 1, 0);
        self.0.emit(MOVE_CONSTANT, VALUE, 0, 0, 0xffff);
        self.0.emit(STORE_HALF, PACKET, VALUE, UDP_CHECKSUM, 0);
    }

    /// RFC 1624, equation 3, on [`VALUE`]: `~(~sum + difference)`, in [`CORRECTION`] instructions.
    fn corrects(&mut self, difference: u16) {
        self.0.emit(XOR_CONSTANT, VALUE, 0, 0, 0xffff);
        self.0.emit(ADD_CONSTANT, VALUE, 0, 0, difference.into());
        self.0.emit(MOVE, LIMIT, VALUE, 0, 0);
        self.0.emit(SHIFT_RIGHT_CONSTANT, LIMIT, 0, 0, 16);
        self.0.emit(ADD, VALUE, LIMIT, 0, 0);
        self.0.emit(XOR_CONSTANT, VALUE, 0, 0, 0xffff);
        self.0.emit(AND_CONSTANT, VALUE, 0, 0, 0xffff);
    }
}

#[cfg(test)]
mod tests {
    use takt_host::bpf::code::{IF_GREATER, IF_NOT_CONSTANT_32};

    use super::*;

    const WAY: Way = Way {
        side: Side::Inside,
        own: [2, 0, 0, 0, 1, 1],
        inside: Ipv4Addr::new(10, 0, 1, 2),
        outside: Ipv4Addr::new(192, 168, 10, 1),
        radio: Ipv4Addr::new(192, 168, 10, 2),
        out_index: 3,
        out_own: [2, 0, 0, 0, 1, 2],
        next: [2, 0, 0, 0, 2, 1],
    };
    const BACK: Way = Way { side: Side::Outside, ..WAY };

    #[test]
    fn jumps_land_in_the_program_and_most_at_the_kernels_stack() {
        for way in [WAY, BACK] {
            let code = program(&way, 5);
            let end = code.len() - 2;
            let is_jump = |word: u64| {
                matches!(
                    word as u8,
                    IF_GREATER | IF_NOT_CONSTANT_32 | IF_BELOW_CONSTANT | IF_CONSTANT | IF_NOT_CONSTANT
                )
            };
            let jumps = code.iter().enumerate().filter(|(_, word)| is_jump(**word));
            let targets: Vec<usize> = jumps.map(|(at, word)| at + 1 + usize::from((word >> 16) as u16)).collect();
            let (at_end, skips): (Vec<_>, Vec<_>) = targets.into_iter().partition(|target| *target == end);
            // The bounds, six fields, the fragment, the TTL, then two addresses and a port, or one and a port that is noted.
            assert_eq!((at_end.len(), skips.len()), (12, 2), "{way:?}");
            let store = code.iter().rposition(|word| *word as u8 == STORE_HALF).unwrap();
            assert_eq!(skips, [store + 1, store]);
            assert_eq!(code[end..], PASS);
        }
    }

    /// RFC 1071: the sum of all words, and its complement, as a receiver computes it.
    fn sum(words: &[u16]) -> u16 {
        words.iter().copied().fold(0, plus)
    }

    proptest::proptest! {
        /// Compares the programs' change of a checksum with computing it anew.
        #[test]
        fn a_corrected_checksum_is_the_one_of_the_new_header(rest: [u16; 4], old: [u8; 4], new: [u8; 4]) {
            let words = |[a, b, c, d]: [u8; 4]| [u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d])];
            let header = |address| [rest.as_slice(), &words(address)].concat();
            let corrected = !plus(sum(&header(old)), difference(old.into(), new.into()));
            // Both forms of zero are the same sum.
            proptest::prop_assert_eq!(sum(&[header(new), vec![corrected]].concat()), 0xffff);
        }
    }

    #[test]
    fn the_kernels_verifier_takes_both() {
        for way in [WAY, BACK] {
            let loaded = takt_host::bpf::Table::of_bytes(PORTS)
                .and_then(|ports| takt_host::bpf::load_xdp(&program(&way, ports.descriptor()), false));
            if let Err(error) = loaded {
                assert!(!matches!(error, takt_host::bpf::BpfError::Refused { .. }), "{error}");
                takt_testing::skip(format_args!("{error}   (run as root)"));
            }
        }
    }
}
