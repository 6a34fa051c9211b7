//! A wire that loses, damages, swaps and repeats, and a peer that dies, under every engine, as fast as the engine reads:
//! what arrives is what was whole, in the order of the wire, and counters are exact.

use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use takt_base::{Clock, WallClock};
use takt_packet::frame::{Ends, write};
use takt_packet::link::{LinkPort, NOTE_BYTES, Span};
use takt_packet::{Config, Engine, Refusal, Wait};

use crate::support::far::{FAR_MAC, NEAR_MAC, there};
use crate::support::{Open, P0, addr, nobody, send_all, soon, unconnected};

/// Datagrams before faults.
const COUNT: u32 = 20_000;
/// Frames that may be on their way: fewer than any buffer holds.
const AHEAD: u32 = 200;
const PAYLOAD_BYTES: usize = 300;
/// An X310's, in five chunks of AF_XDP.
const JUMBO_BYTES: usize = 8000;

/// Effect of the wire on one datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Lost,
    /// This bit of the frame is another.
    Damaged(usize),
    /// It comes after the next.
    Swapped,
    Repeated,
}

/// The same faults for the same seed: a linear congruential generator (Knuth, MMIX).
fn faults(mut seed: u64, payload_bytes: usize) -> Vec<Fault> {
    let mut next = |below: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % below
    };
    (0..COUNT)
        .map(|_| match next(20) {
            0 => Fault::Lost,
            // The destination's name stays: a frame for another host is none of ours.
            1 => Fault::Damaged(match next(3) {
                0 => 18 * 8 + next(16),
                1 => 24 * 8 + next(16),
                _ => 42 * 8 + next(payload_bytes * 8),
            }),
            2 => Fault::Swapped,
            3 => Fault::Repeated,
            _ => Fault::None,
        })
        .collect()
}

/// The numbers in the order in which they leave, each with the bit that is flipped.
fn on_the_wire(faults: &[Fault]) -> Vec<(u32, Option<usize>)> {
    let mut frames = Vec::new();
    let mut behind = None;
    for (number, fault) in (0..).zip(faults) {
        match fault {
            Fault::Lost => {}
            Fault::Damaged(bit) => frames.push((number, Some(*bit))),
            Fault::Swapped if behind.is_none() => {
                behind = Some((number, None));
                continue;
            }
            Fault::Repeated => frames.extend([(number, None); 2]),
            Fault::None | Fault::Swapped => frames.push((number, None)),
        }
        frames.extend(behind.take());
    }
    frames.extend(behind);
    frames
}

/// Sends them from the other end, with a window on what was read.
fn transmit(frames: &[(u32, Option<usize>)], payload_bytes: usize, ends: Ends, read: &AtomicU32) {
    let longest = payload_bytes + 42;
    let mut port = LinkPort::open("far", 64, longest, 1 << 20).expect("root at the other end");
    let (mut bytes, mut whole) = (vec![0; NOTE_BYTES + longest], 0);
    let mut payload = vec![0xa5; payload_bytes];
    for (number, damage) in frames {
        while read.load(Ordering::Relaxed) + AHEAD < whole {
            std::thread::yield_now();
        }
        payload[..4].copy_from_slice(&number.to_be_bytes());
        let frame = &mut bytes[NOTE_BYTES..];
        let len = write(frame, FAR_MAC, NEAR_MAC, ends, &payload).expect("it fits");
        if let Some(bit) = damage {
            frame[bit / 8] ^= 1 << (bit % 8);
        }
        whole += u32::from(damage.is_none());
        while port.send(&bytes, &[Span { offset: 0, len: NOTE_BYTES + len }]).expect("the interface lives") == 0 {
            std::thread::yield_now();
        }
    }
}

fn faulty_wire(open: Open, payload_bytes: usize) {
    let max_payload_bytes = payload_bytes.max(1472);
    let config = Config { max_payload_bytes, recv_buffer_bytes: 4 << 20, force_buffers: true, ..unconnected(1) };
    let mut server = open(&config);
    let peer = nobody();
    let (SocketAddr::V4(destination), SocketAddr::V4(source)) = (addr(&*server, 0), peer) else { panic!("IPv4") };
    let faults = faults(7, payload_bytes);
    let frames = on_the_wire(&faults);
    let damages: Vec<usize> = frames.iter().filter_map(|(_, damage)| *damage).collect();
    let expected: Vec<u32> = frames.iter().filter(|(_, damage)| damage.is_none()).map(|(number, _)| *number).collect();
    let read = Arc::new(AtomicU32::new(0));
    let mut got = Vec::with_capacity(expected.len());
    std::thread::scope(|scope| {
        let (read, sent) = (read.clone(), read);
        let sender =
            scope.spawn(move || there(move || transmit(&frames, payload_bytes, Ends { source, destination }, &sent)));
        while got.len() < expected.len() {
            let batch = server.recv(soon()).expect("a fault ends nothing");
            assert!(!batch.is_empty(), "{} of {} came", got.len(), expected.len());
            for datagram in batch.iter() {
                assert_eq!((datagram.source, datagram.bytes.len()), (source.into(), payload_bytes));
                assert!(datagram.bytes[4..].iter().all(|&byte| byte == 0xa5));
                got.push(u32::from_be_bytes(datagram.bytes[..4].try_into().expect("four bytes")));
            }
            read.store(got.len() as u32, Ordering::Relaxed);
        }
        sender.join().expect("the sender ends");
    });
    assert_eq!(got, expected);
    let counters = server.counters();
    assert_eq!((counters.received_datagrams, counters.truncated_datagrams), (expected.len() as u64, 0));
    // The kernel counts at the socket what it found damaged there, too: a wrong UDP checksum, not one of IPv4.
    let at_socket = damages.iter().filter(|&&bit| bit >= 42 * 8).count() as u64;
    let drops = match server.limits() {
        limits if !limits.path.is_sockets() => Some(0),
        limits => Some(at_socket).filter(|_| !limits.aggregates_receives),
    };
    assert_eq!(counters.receive_buffer_drops, drops);
    // If the kernel takes frames apart it has dropped those that were damaged.
    let seen = if server.limits().path.is_sockets() { 0 } else { damages.len() as u64 };
    // The checksum of one datagram in 65,536 is by chance what an unfinished one would be, and it is taken for that if it is
    // damaged. Which ones these are depends on the port that the kernel has given.
    assert_eq!(counters.damaged_datagrams + counters.unfinished_checksums, seen);
    is_dead(&mut *server, source);
}

/// The peer is gone: nothing comes, and what is sent to it is refused.
fn is_dead(server: &mut dyn Engine, peer: SocketAddrV4) {
    assert!(server.recv(Wait::Until(WallClock.now())).unwrap().is_empty());
    send_all(server, Some(peer.into()), &[vec![1; 9]]);
    assert!(server.recv(soon()).unwrap().is_empty());
    assert_eq!(server.refused(), Some(Refusal { port: P0, to: peer.into() }));
}

/// Each in a namespace of its own.
macro_rules! under {
    ($cable:ident, $bytes:ident, $module:ident: $($engine:ident)*) => {
        mod $module {
            $(#[test] fn $engine() {
                if crate::support::far::$cable(concat!("faults::", stringify!($module), "::", stringify!($engine))) {
                    super::faulty_wire(crate::support::$engine, super::$bytes);
                }
            })*
        }
    };
}

under! { over_a_cable, PAYLOAD_BYTES, under: socket mmsg mmsg_aggregated uring uring_aggregated uring_zero_copy xdp xdp_generic }
under! { over_a_jumbo_cable, JUMBO_BYTES, jumbo: mmsg xdp xdp_generic }

#[cfg(feature = "dpdk")]
mod by {
    #[test]
    fn dpdk() {
        if crate::support::far::over_a_cable("faults::by::dpdk") {
            super::faulty_wire(crate::support::dpdk, super::PAYLOAD_BYTES);
        }
    }
}

#[test]
fn the_wire_does_what_its_faults_state() {
    let wire =
        on_the_wire(&[Fault::None, Fault::Swapped, Fault::Repeated, Fault::Lost, Fault::Damaged(9), Fault::Swapped]);
    let numbers: Vec<u32> = wire.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 2, 2, 1, 4, 5]);
    assert_eq!(wire[4], (4, Some(9)));
    for (kind, count) in [(Fault::Lost, 800..1200), (Fault::Swapped, 800..1200), (Fault::Repeated, 800..1200)] {
        assert!(count.contains(&faults(7, PAYLOAD_BYTES).iter().filter(|fault| **fault == kind).count()));
    }
}
