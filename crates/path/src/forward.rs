//! A forwarder in the kernel's receive path: for each interface of a router an XDP program, written out here, that sends
//! what is for the other side straight on.
//!
//! ```text
//!   frame --> IPv4, 20-byte header, to our hardware address, of the other network, lives on?
//!               | yes                                                            | no
//!               v                                                                v
//!        TTL - 1, checksum + 1, new hardware addresses                the kernel's own stack
//!               v                                                     (ARP, DHCP, ICMP, the rest)
//!        out by the other interface
//! ```
//!
//! Everything about a path of two networks is known when it is built, so it stands in the code as constants: no table is
//! looked up, no helper called but the one that sends. Addresses are not translated: it forwards, as a router does.

use std::net::Ipv4Addr;

/// One interface's way to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Hardware address of the interface that receives.
    pub own: [u8; 6],
    /// The network on the other side.
    pub network: Ipv4Addr,
    /// Length of its prefix.
    pub prefix_len: u8,
    /// The interface to send by, as the kernel numbers it.
    pub out_index: u32,
    /// Its hardware address.
    pub out_own: [u8; 6],
    /// Hardware address of the host there.
    pub next: [u8; 6],
}

// Registers: the context comes in 1, the packet is kept in 2, its end in 3, values in 4 and 5.
const CONTEXT: u8 = 1;
const PACKET: u8 = 2;
const END: u8 = 3;
const LIMIT: u8 = 4;
const VALUE: u8 = 5;

// Offsets in a frame without tags, IPv4 without options.
const ETHER_TYPE: i16 = 12;
const VERSION: i16 = 14;
const TTL: i16 = 22;
const CHECKSUM: i16 = 24;
const DESTINATION: i16 = 30;
const HEADERS_BYTES: i32 = 34;

// Operations (linux/bpf.h, linux/bpf_common.h): class, size or source, what.
const LOAD_BYTE: u8 = 0x71;
const LOAD_HALF: u8 = 0x69;
const LOAD_WORD: u8 = 0x61;
const STORE_BYTE: u8 = 0x73;
const STORE_HALF: u8 = 0x6b;
const STORE_HALF_CONSTANT: u8 = 0x6a;
const MOVE: u8 = 0xbf;
const MOVE_CONSTANT: u8 = 0xb7;
const ADD_CONSTANT: u8 = 0x07;
const AND_CONSTANT_32: u8 = 0x54;
const IF_GREATER: u8 = 0x2d;
const IF_BELOW_CONSTANT: u8 = 0xa5;
const IF_NOT_CONSTANT_32: u8 = 0x56;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

const HELPER_REDIRECT: i32 = 23;
const XDP_PASS: i32 = 2;
/// As it lies in a frame, read by a little-endian processor.
const IPV4: i32 = 0x0008;

/// The program for the interface that receives. The processor must be little-endian, as x86-64 and AArch64 are.
#[must_use]
pub fn program(way: &Way) -> Vec<u64> {
    let mut code = Code::default();
    code.say(LOAD_WORD, PACKET, CONTEXT, 0, 0);
    code.say(LOAD_WORD, END, CONTEXT, 4, 0);
    code.say(MOVE, LIMIT, PACKET, 0, 0);
    code.say(ADD_CONSTANT, LIMIT, 0, 0, HEADERS_BYTES);
    code.pass_if(IF_GREATER, LIMIT, END, 0);
    code.pass_unless(LOAD_HALF, ETHER_TYPE, IPV4);
    code.pass_unless(LOAD_BYTE, VERSION, 0x45);
    for (offset, half) in (0..).step_by(2).zip(halves(way.own)) {
        code.pass_unless(LOAD_HALF, offset, half);
    }
    let mask = u32::MAX.checked_shl(32_u32.saturating_sub(way.prefix_len.into())).unwrap_or(0);
    code.say(LOAD_WORD, VALUE, PACKET, DESTINATION, 0);
    code.say(AND_CONSTANT_32, VALUE, 0, 0, in_frame(mask));
    code.pass_if(IF_NOT_CONSTANT_32, VALUE, 0, in_frame(way.network.to_bits() & mask));
    code.say(LOAD_BYTE, VALUE, PACKET, TTL, 0);
    code.pass_if(IF_BELOW_CONSTANT, VALUE, 0, 2);
    code.say(ADD_CONSTANT, VALUE, 0, 0, -1);
    code.say(STORE_BYTE, PACKET, VALUE, TTL, 0);
    // RFC 1624 for a word that fell by 0x0100, as the kernel's ip_decrease_ttl does it.
    code.say(LOAD_HALF, VALUE, PACKET, CHECKSUM, 0);
    code.say(ADD_CONSTANT, VALUE, 0, 0, 1);
    code.say(IF_BELOW_CONSTANT, VALUE, 0, 1, 0xffff);
    code.say(ADD_CONSTANT, VALUE, 0, 0, 1);
    code.say(STORE_HALF, PACKET, VALUE, CHECKSUM, 0);
    for (offset, half) in (0..).step_by(2).zip(halves(way.next).into_iter().chain(halves(way.out_own))) {
        code.say(STORE_HALF_CONSTANT, PACKET, 0, offset, half);
    }
    code.say(MOVE_CONSTANT, 1, 0, 0, i32::from_ne_bytes(way.out_index.to_ne_bytes()));
    code.say(MOVE_CONSTANT, 2, 0, 0, 0);
    code.say(CALL, 0, 0, 0, HELPER_REDIRECT);
    code.say(EXIT, 0, 0, 0, 0);
    code.end()
}

/// Two bytes each, as a little-endian processor reads them.
fn halves(address: [u8; 6]) -> [i32; 3] {
    let [a, b, c, d, e, f] = address;
    [[a, b], [c, d], [e, f]].map(|half| u16::from_le_bytes(half).into())
}

/// Four bytes of a frame, as a little-endian processor reads them.
fn in_frame(word: u32) -> i32 {
    i32::from_le_bytes(word.to_be_bytes())
}

/// Instructions, and which of them jump to the end.
#[derive(Default)]
struct Code {
    words: Vec<u64>,
    passes: Vec<usize>,
}

impl Code {
    fn say(&mut self, operation: u8, to: u8, from: u8, offset: i16, constant: i32) {
        let [o0, o1] = offset.to_le_bytes();
        let [c0, c1, c2, c3] = constant.to_le_bytes();
        self.words.push(u64::from_le_bytes([operation, to | from << 4, o0, o1, c0, c1, c2, c3]));
    }

    fn pass_if(&mut self, operation: u8, left: u8, right: u8, constant: i32) {
        self.passes.push(self.words.len());
        self.say(operation, left, right, 0, constant);
    }

    fn pass_unless(&mut self, load: u8, offset: i16, constant: i32) {
        self.say(load, VALUE, PACKET, offset, 0);
        self.pass_if(IF_NOT_CONSTANT_32, VALUE, 0, constant);
    }

    /// Fills in how far it is to the end, where the kernel's stack takes over.
    fn end(mut self) -> Vec<u64> {
        let end = self.words.len();
        for at in std::mem::take(&mut self.passes) {
            if let (Some(word), Ok(far)) = (self.words.get_mut(at), u16::try_from(end - at - 1)) {
                *word |= u64::from(far) << 16;
            }
        }
        self.say(MOVE_CONSTANT, 0, 0, 0, XDP_PASS);
        self.say(EXIT, 0, 0, 0, 0);
        self.words
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAY: Way = Way {
        own: [2, 0, 0, 0, 1, 1],
        network: Ipv4Addr::new(192, 168, 10, 0),
        prefix_len: 24,
        out_index: 3,
        out_own: [2, 0, 0, 0, 1, 2],
        next: [2, 0, 0, 0, 2, 1],
    };

    #[test]
    fn every_way_out_ends_at_the_kernels_stack() {
        let code = program(&WAY);
        let end = code.len() - 2;
        let jumps = code.iter().enumerate().filter(|(_, word)| {
            matches!(**word as u8, IF_GREATER | IF_NOT_CONSTANT_32)
                || (**word as u8 == IF_BELOW_CONSTANT && **word >> 32 == 2)
        });
        let targets: Vec<usize> = jumps.map(|(at, word)| at + 1 + usize::from((word >> 16) as u16)).collect();
        assert_eq!(targets, [end; 8]);
        assert_eq!(code[end..], [0x0000_0002_0000_00b7, 0x95]);
    }

    #[test]
    fn the_kernels_verifier_takes_it() {
        match takt_host::bpf::load_xdp(&program(&WAY)) {
            Ok(_) => {}
            Err(error) => {
                assert!(!matches!(error, takt_host::bpf::BpfError::Refused { .. }), "{error}");
                takt_testing::skip(format_args!("{error}   (run as root)"));
            }
        }
    }
}
