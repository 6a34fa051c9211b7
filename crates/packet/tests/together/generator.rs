//! Datagrams made by the kernel arrive as a receiver of any kind expects them: each once, numbered, from the given address.
//! Each test runs over a cable of its own (`support/far.rs`).

use std::net::SocketAddr;

use takt_base::{Clock, WallClock};
use takt_packet::{EngineKind, Generator, GeneratorError, Missing, open};

use crate::support::far::{over_a_cable, shell, there};
use crate::support::{addr, any, any_far, keep_capabilities, recv_some, stranger, unconnected_far};

const PAYLOAD_BYTES: usize = 64;
const FIRST: u64 = 0xd301_0000_0000_0000;

/// Number and time of a datagram.
fn read(bytes: &[u8]) -> (u64, u64) {
    let word = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    (word(0), word(8))
}

fn local() -> SocketAddr {
    (any().ip(), 4000).into()
}

#[test]
fn each_arrives_once_in_order_with_its_number_and_time() {
    if !over_a_cable("generator::each_arrives_once_in_order_with_its_number_and_time") {
        return;
    }
    let mut server = there(|| open(EngineKind::XDP, &unconnected_far(1)).unwrap());
    for bytes in [16, 64, 1472] {
        let mut generator = Generator::open(local(), addr(&*server, 0), bytes).unwrap();
        generator.count_from(FIRST).unwrap();
        let begin = WallClock.now();
        let mut seen = Vec::new();
        // Batches of the kernel's, a part of one, nothing; always fewer than the driver's queue has places.
        for count in [128, 1, 0, 100, 63] {
            assert_eq!(generator.send(count).unwrap(), u64::from(count));
            seen.extend(recv_some(&mut *server, count as usize));
        }
        let end = WallClock.now();
        assert_eq!(generator.next().unwrap(), FIRST + 292);
        let numbers: Vec<u64> = seen.iter().map(|seen| read(&seen.bytes).0).collect();
        assert_eq!(numbers, (FIRST..FIRST + 292).collect::<Vec<_>>());
        assert!(seen.iter().all(|seen| seen.bytes.len() == bytes && seen.source == local()));
        let times: Vec<u64> = seen.iter().map(|seen| read(&seen.bytes).1).collect();
        assert!(times.is_sorted() && begin.0 <= times[0] && times[291] <= end.0, "{times:?}");
        assert!(seen.iter().all(|seen| seen.bytes[16..].iter().all(|&byte| byte == 0)));
    }
    let counters = server.counters();
    assert_eq!((counters.damaged_datagrams, counters.receive_buffer_drops), (0, Some(0)));
}

#[test]
fn the_kernels_own_sockets_take_them_where_the_other_end_takes_frames_of_xdp() {
    if !over_a_cable("generator::the_kernels_own_sockets_take_them_where_the_other_end_takes_frames_of_xdp") {
        return;
    }
    let socket = stranger();
    let to = socket.local_addr().unwrap();
    let refused = Generator::open(local(), to, PAYLOAD_BYTES).unwrap_err();
    assert!(matches!(&refused, GeneratorError::Driver { interface } if interface == "near"), "{refused}");
    assert!(refused.to_string().contains("gro on"), "{refused}");
    there(|| shell("ethtool -K far gro on"));
    let mut generator = Generator::open(local(), to, PAYLOAD_BYTES).unwrap();
    // Each takes a page of the socket's buffer.
    assert_eq!(generator.send(20).unwrap(), 20);
    let mut bytes = [0; 99];
    for number in 0..20 {
        assert_eq!(socket.recv_from(&mut bytes).unwrap(), (PAYLOAD_BYTES, local()));
        assert_eq!(read(&bytes).0, number);
    }
}

#[test]
fn what_is_missing_is_reported() {
    if !over_a_cable("generator::what_is_missing_is_reported") {
        return;
    }
    there(|| shell("ethtool -K far gro on"));
    let to: SocketAddr = (any_far().ip(), 9).into();
    let said = |local, to, bytes| Generator::open(local, to, bytes).unwrap_err().to_string();
    assert_eq!(said(local(), to, 15), "a generator can't send 15 bytes; expected: 16 to 3000");
    assert!(said(local(), to, 1473).ends_with("(run ip link set near mtu 1501)"));
    assert!(said("0.0.0.0:4000".parse().unwrap(), to, 64).contains("0.0.0.0 does not name one"));
    assert!(said("[::1]:9".parse().unwrap(), to, 64).contains("IPv4"));
    assert!(said(local(), "10.98.0.77:9".parse().unwrap(), 64).starts_with("near does not reach 10.98.0.77:9"));
    let lo = Generator::open("127.0.0.1:4000".parse().unwrap(), "127.0.0.1:9".parse().unwrap(), 64).unwrap_err();
    assert!(matches!(&lo, GeneratorError::Driver { interface } if interface == "lo"), "{lo}");
    keep_capabilities(rustix::thread::CapabilitySet::empty());
    let unprivileged = Generator::open(local(), to, 64).unwrap_err();
    assert!(matches!(unprivileged, GeneratorError::Missing(Missing::XdpPermission)), "{unprivileged}");
}

#[test]
fn a_neighbour_that_is_gone_ends_it_with_its_address() {
    if !over_a_cable("generator::a_neighbour_that_is_gone_ends_it_with_its_address") {
        return;
    }
    there(|| shell("ethtool -K far gro on"));
    let mut generator = Generator::open(local(), (any_far().ip(), 9).into(), PAYLOAD_BYTES).unwrap();
    assert_eq!(generator.send(5).unwrap(), 5);
    shell("ip link del near");
    let error = takt_testing::wait_for("the end of it", || generator.send(5).err());
    assert!(matches!(error, GeneratorError::Run { .. } | GeneratorError::Unreachable { .. }), "{error}");
}
