//! After opening, an engine allocates nothing. Counted by the global allocator of this binary, which therefore holds
//! this one test.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
mod support;

use std::net::SocketAddr;
use std::time::Duration;

use support::far::{mtu, over_a_jumbo_cable};
use support::{
    Open, P0, addr, connected, mmsg, mmsg_aggregated, nobody, socket, soon, unconnected, uring, uring_aggregated,
    uring_zero_copy, xdp, xdp_generic,
};
use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, Wait};

fn traffic(server: &mut dyn Engine, client: &mut dyn Engine, gone: SocketAddr) {
    let to = addr(server, 2);
    for n in 0..200 {
        let mut batch = client.reserve(64);
        while batch.push(P0, None, |frame| {
            frame[0] = n;
            if n % 3 == 0 { 1472 } else { frame.len() - usize::from(n % 2) }
        }) {}
        let mut missing = batch.send(Wait::Poll).unwrap();
        while missing > 0 {
            missing -= server.recv(soon()).unwrap().len();
        }
    }
    assert_eq!(addr(server, 2), to);
    // Failures must be free of it as well: waiting for nothing, refusals, dead ends.
    let end = WallClock.now() + Duration::from_millis(5);
    assert!(server.recv(Wait::Until(end)).unwrap().is_empty());
    let mut batch = server.reserve(8);
    for port in [0, gone.port()] {
        batch.push(P0, Some((gone.ip(), port).into()), |_| 9);
    }
    batch.send(Wait::Until(end)).unwrap();
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    while server.refused().is_some() {}
    server.counters();
}

#[test]
fn an_engine_allocates_nothing_after_opening() {
    // Engines that own an interface have a cable in a namespace, where this test runs again.
    if !over_a_jumbo_cable("an_engine_allocates_nothing_after_opening") {
        return count_over(&[socket, mmsg, mmsg_aggregated, uring, uring_aggregated, uring_zero_copy]);
    }
    count_over(&[xdp, xdp_generic]);
    #[cfg(feature = "dpdk")]
    count_over(&[support::dpdk]);
}

fn count_over(engines: &[Open]) {
    for open in engines {
        // Over a cable frames of one buffer and of several.
        let max_payload_bytes = mtu().map_or(1472, |mtu| mtu - 28);
        let longest = |config| Config { max_payload_bytes, ..config };
        let mut server = open(&longest(unconnected(3)));
        let mut client = open(&longest(connected(addr(&*server, 0))));
        let gone = nobody();
        let before = allocations::count();
        traffic(&mut *server, &mut *client, gone);
        assert_eq!(allocations::count() - before, 0);
        assert_eq!(client.counters().sent_datagrams, 200 * 64);
    }
    let before = allocations::count();
    drop(vec![1_u8; 9]);
    assert_eq!(allocations::count() - before, 2, "the count counts");
}
