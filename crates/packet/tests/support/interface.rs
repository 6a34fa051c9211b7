//! Tests that engines with an interface share: claims about it, its neighbours and its checksums, each over a cable of
//! the test's own.

use std::net::{SocketAddr, UdpSocket};
use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, EngineError, EngineKind, Missing, Wait, open};
use takt_testing::wait_for;

use super::far::{shell, there};
use super::{P0, addr, numbered, numbers, recv_some, send_all, soon, stranger};

/// Requirement of a configuration that an engine does not meet.
pub fn missing(kind: EngineKind, config: &Config) -> Missing {
    match open(kind, config) {
        Err(EngineError::Missing { engine, missing }) if engine == kind => missing,
        Err(error) => panic!("{error:?}"),
        Ok(engine) => panic!("it opened: {:?}", engine.limits()),
    }
}

/// Its interface goes down and comes up again, which ends nothing.
pub fn goes_down_and_up_again(server: &mut dyn Engine) {
    let peer = stranger();
    let client_port = peer.local_addr().unwrap();
    peer.send_to(&7_u32.to_be_bytes(), addr(server, 0)).unwrap();
    assert_eq!(numbers(&recv_some(server, 1)), [7]);
    send_all(server, Some(client_port), &numbered(0..3));
    shell("ip link set near down");
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    let moment = Wait::Until(WallClock.now() + Duration::from_millis(5));
    assert!(server.recv(moment).unwrap().is_empty(), "down is no error");
    let mut batch = server.reserve(4);
    while batch.push(P0, Some(client_port), |_| 4) {}
    let taken = batch.send(moment).expect("nor for a sender");
    let counters = server.counters();
    let dealt_with = counters.sent_datagrams + counters.undeliverable_datagrams;
    assert_eq!((dealt_with, counters.unsent_datagrams), (3 + taken as u64, 4 - taken as u64));
    shell("ip link set near up");
    // A route is there again at once, the neighbour when it has answered.
    wait_for("the first datagram after it", || {
        peer.send_to(&8_u32.to_be_bytes(), addr(server, 0)).unwrap();
        let moment = Wait::Until(WallClock.now() + Duration::from_millis(50));
        (!server.recv(moment).unwrap().is_empty()).then_some(())
    });
    send_all(server, Some(client_port), &numbered(9..10));
}

/// Its interface is removed, which ends it; what a send after that is answered.
pub fn is_removed(server: &mut dyn Engine) -> Result<usize, EngineError> {
    let alive = stranger();
    let peer = alive.local_addr().unwrap();
    send_all(server, Some(peer), &numbered(0..3));
    shell("ip link del near");
    let error = server.recv(soon()).unwrap_err();
    assert!(matches!(&error, EngineError::InterfaceGone { interface, .. } if interface == "near"), "{error:?}");
    assert_eq!(error.to_string(), "interface near is gone");
    let mut batch = server.reserve(1);
    batch.push(P0, Some(peer), |_| 4);
    let sent = batch.send(Wait::Poll);
    assert!(server.recv(Wait::Poll).is_err(), "and stays so");
    sent
}

/// A sender leaves its checksums to a device that makes none.
pub fn unfinished_checksums(server: &mut dyn Engine) {
    let (to, from) = (addr(server, 0), stranger());
    there(|| shell("ethtool -K far tx on >/dev/null"));
    for _ in 0..10 {
        from.send_to(b"unfinished", to).unwrap();
    }
    there(|| shell("ethtool -K far tx off >/dev/null"));
    from.send_to(b"whole", to).unwrap();
    assert_eq!(recv_some(server, 1)[0].bytes, b"whole");
    let counters = server.counters();
    assert_eq!((counters.unfinished_checksums, counters.damaged_datagrams), (10, 0));
}

/// Sends to a neighbour that is there, and between to one that is not.
pub fn silent_neighbour(engine: &mut dyn Engine, alive: &UdpSocket, silent: SocketAddr) {
    let there = alive.local_addr().unwrap();
    let mut batch = engine.reserve(4);
    for (to, byte) in [(there, 1_u8), (silent, 2), (there, 3)] {
        batch.push(P0, Some(to), |frame| {
            frame[0] = byte;
            1
        });
    }
    assert_eq!(batch.send(soon()).unwrap(), 3, "all are dealt with once nobody asks any more");
    let mut bytes = [0; 9];
    for byte in [1, 3] {
        assert_eq!((alive.recv(&mut bytes).unwrap(), bytes[0]), (1, byte));
    }
    let counters = engine.counters();
    assert_eq!((counters.sent_datagrams, counters.undeliverable_datagrams), (2, 1));
    // Another network, by no route.
    send_all(engine, Some("192.0.2.1:9".parse().unwrap()), &numbered(0..5));
    assert_eq!(engine.counters().undeliverable_datagrams, 6);
}

/// Sends to neighbours that are not there in turn, without waiting: each is given up.
pub fn silent_in_turn(engine: &mut dyn Engine, silent: [SocketAddr; 2]) {
    let mut given_up = [0; 2];
    wait_for("both to be given up", || {
        for (to, given_up) in silent.into_iter().zip(&mut given_up) {
            let before = engine.counters().undeliverable_datagrams;
            let mut batch = engine.reserve(1);
            assert!(batch.push(P0, Some(to), |_| 1));
            batch.send(Wait::Poll).expect("nor does that end anything");
            *given_up += engine.counters().undeliverable_datagrams - before;
        }
        given_up.iter().all(|&times| times > 0).then_some(())
    });
    assert_eq!(engine.counters().sent_datagrams, 0);
}

/// Files that this process has open.
pub fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// A line of `/proc/self/status`, kB.
pub fn memory_kib(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).unwrap()
}
