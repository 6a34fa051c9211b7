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

/// A program that leaves everything to the kernel.
pub const PASS: [u64; 2] = [(XDP_PASS as u64) << 32 | MOVE_CONSTANT as u64, EXIT as u64];

/// Ports that the table of a router has room for: all. A value is one byte, 1 for a port that was noted.
pub const PORTS: u32 = 1 << 16;

// Registers. A call keeps 6 to 9 and the frame's bounds stay valid; 10 is the stack's end.
const RESULT: u8 = 0;
const CONTEXT: u8 = 1;
const SECOND: u8 = 2;
const LIMIT: u8 = 4;
const VALUE: u8 = 5;
const PACKET: u8 = 6;
const END: u8 = 7;
const STACK: u8 = 10;

// Offsets in a frame without tags, IPv4 without options.
const ETHER_TYPE: i16 = 12;
const VERSION: i16 = 14;
const FRAGMENT: i16 = 20;
const TTL: i16 = 22;
const PROTOCOL: i16 = 23;
const IP_CHECKSUM: i16 = 24;
const SOURCE: i16 = 26;
const DESTINATION: i16 = 30;
const SOURCE_PORT: i16 = 34;
const DESTINATION_PORT: i16 = 36;
const UDP_CHECKSUM: i16 = 40;
const HEADERS_BYTES: i32 = 42;

// Operations (linux/bpf.h, linux/bpf_common.h): class, size or source, what.
const LOAD_BYTE: u8 = 0x71;
const LOAD_HALF: u8 = 0x69;
const LOAD_WORD: u8 = 0x61;
const LOAD_CONSTANT_64: u8 = 0x18;
const STORE_BYTE: u8 = 0x73;
const STORE_HALF: u8 = 0x6b;
const STORE_WORD: u8 = 0x63;
const STORE_BYTE_CONSTANT: u8 = 0x72;
const STORE_HALF_CONSTANT: u8 = 0x6a;
const STORE_WORD_CONSTANT: u8 = 0x62;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD: u8 = 0x0f;
const ADD_CONSTANT: u8 = 0x07;
const AND_CONSTANT: u8 = 0x57;
const XOR_CONSTANT: u8 = 0xa7;
const SHIFT_RIGHT_CONSTANT: u8 = 0x77;
const IF_GREATER: u8 = 0x2d;
const IF_BELOW_CONSTANT: u8 = 0xa5;
const IF_NOT_CONSTANT: u8 = 0x55;
const IF_CONSTANT: u8 = 0x15;
const IF_NOT_CONSTANT_32: u8 = 0x56;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// In the source register of [`LOAD_CONSTANT_64`]: the constant is the descriptor of a table.
const IS_TABLE: u8 = 1;
const HELPER_LOOK_UP: i32 = 1;
const HELPER_REDIRECT: i32 = 23;
const XDP_PASS: i32 = 2;
/// As it lies in a frame, read by a little-endian processor.
const IPV4: i32 = 0x0008;
const UDP: i32 = 17;
/// "More fragments" and the offset (RFC 791), as they lie in a frame.
const ANY_FRAGMENT: i32 = 0xff3f;

/// The program for the interface that receives; `table` is the descriptor of the router's ports ([`PORTS`]). The processor
/// must be little-endian, as x86-64 and AArch64 are.
#[must_use]
pub fn program(way: &Way, table: i32) -> Vec<u64> {
    let mut code = Code::default();
    code.is_whole_udp(way.own);
    match way.side {
        Side::Inside => {
            code.pass_unless(LOAD_WORD, SOURCE, in_frame(way.inside));
            code.pass_unless(LOAD_WORD, DESTINATION, in_frame(way.radio));
            code.port_entry(SOURCE_PORT, table);
            code.emit(STORE_BYTE_CONSTANT, RESULT, 0, 0, 1);
            code.translates(SOURCE, way.inside, way.outside);
        }
        Side::Outside => {
            code.pass_unless(LOAD_WORD, DESTINATION, in_frame(way.outside));
            code.port_entry(DESTINATION_PORT, table);
            code.emit(LOAD_BYTE, VALUE, RESULT, 0, 0);
            code.pass_if(IF_CONSTANT, VALUE, 0, 0);
            code.translates(DESTINATION, way.outside, way.inside);
        }
    }
    for (offset, half) in (0..).step_by(2).zip(halves(way.next).into_iter().chain(halves(way.out_own))) {
        code.emit(STORE_HALF_CONSTANT, PACKET, 0, offset, half);
    }
    code.emit(MOVE_CONSTANT, 1, 0, 0, i32::from_ne_bytes(way.out_index.to_ne_bytes()));
    code.emit(MOVE_CONSTANT, SECOND, 0, 0, 0);
    code.emit(CALL, 0, 0, 0, HELPER_REDIRECT);
    code.emit(EXIT, 0, 0, 0, 0);
    code.end()
}

/// Two bytes each, as a little-endian processor reads them.
fn halves(address: [u8; 6]) -> [i32; 3] {
    let [a, b, c, d, e, f] = address;
    [[a, b], [c, d], [e, f]].map(|half| u16::from_le_bytes(half).into())
}

/// An address in a frame, as a little-endian processor reads it.
fn in_frame(address: Ipv4Addr) -> i32 {
    i32::from_le_bytes(address.octets())
}

/// What RFC 1624 adds to a checksum's complement when one address takes another's place: `~m + m'`, in the byte order of
/// the frame read by a little-endian processor, which the sum does not care about.
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

/// Instructions, and which of them jump to the end.
#[derive(Default)]
struct Code {
    words: Vec<u64>,
    passes: Vec<usize>,
}

impl Code {
    fn emit(&mut self, operation: u8, to: u8, from: u8, offset: i16, constant: i32) {
        let [o0, o1] = offset.to_le_bytes();
        let [c0, c1, c2, c3] = constant.to_le_bytes();
        self.words.push(u64::from_le_bytes([operation, to | from << 4, o0, o1, c0, c1, c2, c3]));
    }

    fn pass_if(&mut self, operation: u8, left: u8, right: u8, constant: i32) {
        self.passes.push(self.words.len());
        self.emit(operation, left, right, 0, constant);
    }

    fn pass_unless(&mut self, load: u8, offset: i16, constant: i32) {
        self.emit(load, VALUE, PACKET, offset, 0);
        self.pass_if(IF_NOT_CONSTANT_32, VALUE, 0, constant);
    }

    /// Goes on with a whole UDP datagram that is for this router and may live on.
    fn is_whole_udp(&mut self, own: [u8; 6]) {
        self.emit(LOAD_WORD, PACKET, CONTEXT, 0, 0);
        self.emit(LOAD_WORD, END, CONTEXT, 4, 0);
        self.emit(MOVE, LIMIT, PACKET, 0, 0);
        self.emit(ADD_CONSTANT, LIMIT, 0, 0, HEADERS_BYTES);
        self.pass_if(IF_GREATER, LIMIT, END, 0);
        for (offset, half) in (0..).step_by(2).zip(halves(own)) {
            self.pass_unless(LOAD_HALF, offset, half);
        }
        self.pass_unless(LOAD_HALF, ETHER_TYPE, IPV4);
        self.pass_unless(LOAD_BYTE, VERSION, 0x45);
        self.pass_unless(LOAD_BYTE, PROTOCOL, UDP);
        self.emit(LOAD_HALF, VALUE, PACKET, FRAGMENT, 0);
        self.emit(AND_CONSTANT, VALUE, 0, 0, ANY_FRAGMENT);
        self.pass_if(IF_NOT_CONSTANT, VALUE, 0, 0);
        self.emit(LOAD_BYTE, VALUE, PACKET, TTL, 0);
        self.pass_if(IF_BELOW_CONSTANT, VALUE, 0, 2);
    }

    /// Leaves in [`RESULT`] where the table has a datagram's port.
    fn port_entry(&mut self, port: i16, table: i32) {
        self.emit(LOAD_HALF, VALUE, PACKET, port, 0);
        self.emit(STORE_WORD, STACK, VALUE, -4, 0);
        self.emit(LOAD_CONSTANT_64, 1, IS_TABLE, 0, table);
        self.emit(0, 0, 0, 0, 0);
        self.emit(MOVE, SECOND, STACK, 0, 0);
        self.emit(ADD_CONSTANT, SECOND, 0, 0, -4);
        self.emit(CALL, 0, 0, 0, HELPER_LOOK_UP);
        // It is there for every port; the verifier wants to see it asked.
        self.pass_if(IF_CONSTANT, RESULT, 0, 0);
    }

    /// Puts one address in another's place, takes one from the TTL, and corrects both checksums.
    fn translates(&mut self, at: i16, old: Ipv4Addr, new: Ipv4Addr) {
        self.emit(STORE_WORD_CONSTANT, PACKET, 0, at, in_frame(new));
        self.emit(LOAD_BYTE, VALUE, PACKET, TTL, 0);
        self.emit(ADD_CONSTANT, VALUE, 0, 0, -1);
        self.emit(STORE_BYTE, PACKET, VALUE, TTL, 0);
        self.emit(LOAD_HALF, VALUE, PACKET, IP_CHECKSUM, 0);
        self.corrects(plus(difference(old, new), ONE_LESS));
        self.emit(STORE_HALF, PACKET, VALUE, IP_CHECKSUM, 0);
        // RFC 768: zero says that there is none, and a sum that is zero is sent as its other form.
        self.emit(LOAD_HALF, VALUE, PACKET, UDP_CHECKSUM, 0);
        self.emit(IF_CONSTANT, VALUE, 0, CORRECTION + 3, 0);
        self.corrects(difference(old, new));
        self.emit(IF_NOT_CONSTANT, VALUE, 0, 1, 0);
        self.emit(MOVE_CONSTANT, VALUE, 0, 0, 0xffff);
        self.emit(STORE_HALF, PACKET, VALUE, UDP_CHECKSUM, 0);
    }

    /// RFC 1624, equation 3, on [`VALUE`]: `~(~sum + difference)`, in [`CORRECTION`] instructions.
    fn corrects(&mut self, difference: u16) {
        self.emit(XOR_CONSTANT, VALUE, 0, 0, 0xffff);
        self.emit(ADD_CONSTANT, VALUE, 0, 0, difference.into());
        self.emit(MOVE, LIMIT, VALUE, 0, 0);
        self.emit(SHIFT_RIGHT_CONSTANT, LIMIT, 0, 0, 16);
        self.emit(ADD, VALUE, LIMIT, 0, 0);
        self.emit(XOR_CONSTANT, VALUE, 0, 0, 0xffff);
        self.emit(AND_CONSTANT, VALUE, 0, 0, 0xffff);
    }

    /// Fills in how far it is to the end, where the kernel's stack takes over.
    fn end(mut self) -> Vec<u64> {
        let end = self.words.len();
        for at in std::mem::take(&mut self.passes) {
            if let (Some(word), Ok(far)) = (self.words.get_mut(at), u16::try_from(end - at - 1)) {
                *word |= u64::from(far) << 16;
            }
        }
        self.words.extend(PASS);
        self.words
    }
}

#[cfg(test)]
mod tests {
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
        /// What the programs do to a checksum, against computing it anew.
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
