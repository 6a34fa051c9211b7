//! Tests that need a network of their own: queues that are full, and a device that carries only short datagrams. Each
//! test runs again inside a fresh namespace, or is skipped.

use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, PortSpec, Wait};

use crate::support::{
    self, Open, addr, any, connected, inside_a_namespace, mmsg, mmsg_aggregated, recv_some, send_all, socket,
    unconnected, uring, uring_aggregated, uring_zero_copy, uring_zero_copy_aggregated,
};

/// A device that swallows what it is sent, behind a bucket of 80 Mbit/s that holds `queue` bytes.
fn slow_device(queue: &str) -> String {
    format!(
        "ip link add d0 type veth peer name d1 && ip addr add 10.9.8.1/24 dev d0 && ip link set d0 up && \
         ip link set d1 up && ip neigh add 10.9.8.2 lladdr 02:00:00:00:00:02 dev d0 nud permanent && \
         tc qdisc add dev d0 root tbf rate 80mbit burst 16kb limit {queue}"
    )
}

fn into_the_bucket(open: Open, send_buffer_bytes: usize) -> Box<dyn Engine> {
    let spec = PortSpec { bind: "10.9.8.1:0".parse().unwrap(), peer: Some("10.9.8.2:9".parse().unwrap()) };
    open(&Config { send_buffer_bytes, ..Config::new(vec![spec]) })
}

fn offer(engine: &mut dyn Engine, wait: Wait) -> (usize, usize) {
    let mut batch = engine.reserve(64);
    while batch.push(takt_packet::PortIndex(0), None, |_| 1000) {}
    let offered = batch.len();
    (offered, batch.send(wait).expect("the port lives"))
}

fn a_full_queue_is_never_an_error(send_buffer_bytes: usize, engines: &[Open]) {
    for open in engines {
        let mut engine = into_the_bucket(*open, send_buffer_bytes);
        let (mut offered, mut taken) = (0, 0);
        while offered == taken {
            let (o, t) = offer(&mut *engine, Wait::Poll);
            (offered, taken) = (offered + o, taken + t);
            assert!(offered < 100_000, "the queue never fills");
        }
        let counters = engine.counters();
        assert_eq!((counters.sent_datagrams, counters.unsent_datagrams), (taken as u64, (offered - taken) as u64));
        assert_eq!(counters.undeliverable_datagrams, 0);
        // With time enough all of a batch leaves: 64 kB at 10 MB/s.
        assert_eq!(offer(&mut *engine, support::soon()), (64, 64));
        // And with a little, a part: that it ends is the claim.
        while offer(&mut *engine, Wait::Until(WallClock.now() + Duration::from_millis(2))) == (64, 64) {}
        let counters = engine.counters();
        assert!(counters.unsent_datagrams > (offered - taken) as u64);
        assert_eq!(counters.sent_bytes, counters.sent_datagrams * 1000);
    }
}

#[test]
fn a_full_send_buffer_waits_as_long_as_it_may() {
    if inside_a_namespace("namespace::a_full_send_buffer_waits_as_long_as_it_may", &slow_device("20mb")) {
        a_full_queue_is_never_an_error(
            100_000,
            &[socket, mmsg, mmsg_aggregated, uring, uring_aggregated, uring_zero_copy],
        );
    }
}

#[test]
fn a_full_queue_below_the_socket_waits_as_long_as_it_may() {
    if inside_a_namespace("namespace::a_full_queue_below_the_socket_waits_as_long_as_it_may", &slow_device("80kb")) {
        // Such a queue keeps a part of an aggregate and calls that success: the sender can't see the rest go.
        a_full_queue_is_never_an_error(4 << 20, &[socket, mmsg, uring, uring_zero_copy]);
    }
}

#[test]
fn an_aggregate_the_route_can_not_carry_is_sent_singly_and_nothing_is_lost() {
    let name = "namespace::an_aggregate_the_route_can_not_carry_is_sent_singly_and_nothing_is_lost";
    if !inside_a_namespace(name, "ip link set lo mtu 1500 up") {
        return;
    }
    for (open, aggregated) in [
        (mmsg as Open, mmsg_aggregated as Open),
        (uring, uring_aggregated),
        (uring_zero_copy, uring_zero_copy_aggregated),
    ] {
        sent_singly(open, aggregated);
    }
}

fn sent_singly(open: Open, aggregated: Open) {
    let jumbo = |config| Config { max_payload_bytes: 9000, ..config };
    let mut server = open(&jumbo(unconnected(1)));
    let mut client = aggregated(&jumbo(connected(addr(&*server, 0))));
    for size in [1400, 2000, 1900, 1472, 1473, 100] {
        let sent: Vec<Vec<u8>> = (0..64_u8).map(|n| vec![n; size]).collect();
        send_all(&mut *client, None, &sent);
        let seen: Vec<Vec<u8>> = recv_some(&mut *server, 64).into_iter().map(|s| s.bytes).collect();
        assert_eq!(seen, sent, "{size}");
    }
    assert_eq!(client.counters().sent_datagrams, 6 * 64);
    assert!(client.limits().aggregates_sends, "short ones still go together");
    assert_ne!(addr(&*client, 0), any());
}

#[test]
fn no_route_is_counted_and_ends_nothing() {
    if !inside_a_namespace("namespace::no_route_is_counted_and_ends_nothing", "ip link set lo up") {
        return;
    }
    for open in [socket, mmsg, mmsg_aggregated, uring, uring_aggregated, uring_zero_copy] {
        let mut client = open(&Config::new(vec![PortSpec { bind: "0.0.0.0:0".parse().unwrap(), peer: None }]));
        send_all(&mut *client, Some("10.1.2.3:9".parse().unwrap()), &vec![vec![1; 10]; 70]);
        let counters = client.counters();
        assert_eq!((counters.sent_datagrams, counters.undeliverable_datagrams), (0, 70));
    }
}
