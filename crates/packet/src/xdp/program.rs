//! The program in front of an interface: it takes the datagrams of an engine's ports and leaves all else to the kernel,
//! ARP and ICMP among it.
//!
//! ```text
//!   frame --> IPv4 with a 20-byte header, UDP, no fragment, to one of the ports, from its peer if it has one?
//!               | yes                                              | no
//!               v                                                  v
//!        the time into 8 bytes before the frame             the kernel's own stack
//!               v
//!        to the socket of the queue it came by
//! ```
//!
//! A datagram of a stranger for a connected port goes to the kernel, which answers it as it answers for such a socket.

use takt_host::bpf::code::{
    ADD_CONSTANT, CALL, CONTEXT, CONTEXT_DATA, CONTEXT_METADATA, CONTEXT_QUEUE, Code, DESTINATION, DESTINATION_PORT,
    END, EXIT, HELPER_MAKE_METADATA, HELPER_REDIRECT_BY_TABLE, HELPER_TIME, IF_GREATER, IF_NOT_CONSTANT,
    IF_NOT_CONSTANT_32, JUMP, LOAD_HALF, LOAD_WORD, MOVE, MOVE_CONSTANT, PACKET, RESULT, SECOND, SOURCE, SOURCE_PORT,
    STORE_LONG, VALUE, XDP_PASS, in_frame,
};

use crate::network::Wanted;

/// Bytes before a frame that hold its arrival, ns of the monotonic clock, as this processor writes it.
pub(crate) const STAMP_BYTES: usize = 8;

/// Keeps the context over calls.
const KEPT: u8 = 9;
const THIRD: u8 = 3;
/// Registers that [`Code::is_whole_udp`] uses for a frame's bounds.
const FRONT: u8 = PACKET;

/// The program for `ports`; `sockets` is the descriptor of a table with the socket of each queue.
pub(crate) fn program(ports: &[Wanted], stamps: bool, sockets: i32) -> Vec<u64> {
    let mut code = Code::default();
    code.emit(MOVE, KEPT, CONTEXT, 0, 0);
    code.is_whole_udp();
    let hits: Vec<usize> = ports.iter().map(|port| matches(&mut code, port)).collect();
    code.pass_if(JUMP, 0, 0, 0);
    hits.into_iter().for_each(|hit| code.land(hit));
    if stamps {
        stamp(&mut code);
    }
    code.argument_table(sockets);
    code.emit(LOAD_WORD, SECOND, KEPT, CONTEXT_QUEUE, 0);
    code.emit(MOVE_CONSTANT, THIRD, 0, 0, XDP_PASS);
    code.emit(CALL, 0, 0, 0, HELPER_REDIRECT_BY_TABLE);
    code.emit(EXIT, 0, 0, 0, 0);
    code.end()
}

/// Goes on with the next port unless this one is meant; returns the jump of a frame that it is.
fn matches(code: &mut Code, port: &Wanted) -> usize {
    let ends = [(DESTINATION, DESTINATION_PORT, Some(port.local)), (SOURCE, SOURCE_PORT, port.peer)];
    let mut others = Vec::new();
    for (address, number, end) in ends {
        let Some(end) = end else { continue };
        code.emit(LOAD_WORD, VALUE, PACKET, address, 0);
        others.push(code.jump(IF_NOT_CONSTANT_32, VALUE, 0, in_frame(*end.ip())));
        code.emit(LOAD_HALF, VALUE, PACKET, number, 0);
        others.push(code.jump(IF_NOT_CONSTANT, VALUE, 0, u16::from_ne_bytes(end.port().to_be_bytes()).into()));
    }
    let hit = code.jump(JUMP, 0, 0, 0);
    others.into_iter().for_each(|other| code.land(other));
    hit
}

/// Writes the time before the frame, where the driver leaves room for it.
fn stamp(code: &mut Code) {
    let bytes = STAMP_BYTES as i32;
    code.emit(MOVE, CONTEXT, KEPT, 0, 0);
    code.emit(MOVE_CONSTANT, SECOND, 0, 0, -bytes);
    code.emit(CALL, 0, 0, 0, HELPER_MAKE_METADATA);
    let no_room = code.jump(IF_NOT_CONSTANT, RESULT, 0, 0);
    code.emit(LOAD_WORD, FRONT, KEPT, CONTEXT_METADATA, 0);
    code.emit(LOAD_WORD, END, KEPT, CONTEXT_DATA, 0);
    code.emit(MOVE, SECOND, FRONT, 0, 0);
    code.emit(ADD_CONSTANT, SECOND, 0, 0, bytes);
    // It is there; the verifier wants to see the check.
    let not_there = code.jump(IF_GREATER, SECOND, END, 0);
    code.emit(CALL, 0, 0, 0, HELPER_TIME);
    code.emit(STORE_LONG, FRONT, RESULT, 0, 0);
    code.land(no_room);
    code.land(not_there);
}

#[cfg(all(test, target_endian = "little"))]
mod tests {
    use std::net::SocketAddrV4;

    use takt_host::bpf::{BpfError, Table, load_xdp};

    use super::*;

    #[test]
    fn the_kernels_verifier_takes_one_port_and_sixteen_with_peers_and_without() {
        let local = |n: u16| SocketAddrV4::new([10, 0, 0, 1].into(), n);
        let peer = Some(SocketAddrV4::new([250, 251, 252, 253].into(), 65_535));
        for (ports, stamps) in [(1, true), (16, true), (16, false)] {
            let ports: Vec<Wanted> =
                (0..ports).map(|n| Wanted { local: local(n), peer: peer.filter(|_| n % 2 == 0) }).collect();
            let loaded = Table::of_sockets(64)
                .and_then(|sockets| load_xdp(&program(&ports, stamps, sockets.descriptor()), false));
            if let Err(error) = loaded {
                assert!(!matches!(error, BpfError::Refused { .. }), "{error}");
                takt_testing::skip(format_args!("{error}   (run as root)"));
            }
        }
    }
}
