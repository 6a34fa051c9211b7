//! Between the first datagram and the last neither half of a load allocates. Counted by the global allocator of this binary,
//! which therefore holds this one test.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;

use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Config, EngineKind, PortIndex, PortSpec, Wait, open};
use takt_udp::Plan;
use takt_udp::halves::{Receiver, Sender};
use takt_udp::protocol::data::Data;

const PLAN: &[u8] = br#"{"direction":"to_server","payload_bytes":64,"sizes":[18,548,1472],"datagrams_per_s":2e6,
    "ramp_from_per_s":1e6,"burst":16,"duration_ns":1000000000,"interval_ns":10000000,"flows":1,"server_ahead_ns":0}"#;

#[test]
fn neither_half_allocates_under_load() {
    let plan = Plan::parse(PLAN).expect("a plan");
    let here = "127.0.0.1:0".parse().expect("an address");
    let config = |spec| Config { max_payload_bytes: 1472, ..Config::new(vec![spec]) };
    for kind in [EngineKind::Socket, EngineKind::Mmsg] {
        let mut server = open(kind, &config(PortSpec { bind: here, peer: None })).expect("loopback");
        let peer = server.local(PortIndex(0));
        let mut client = open(kind, &config(PortSpec { bind: here, peer })).expect("loopback");
        let start = WallClock.now();
        let mut sender = Sender::new(&plan, 1, start, vec![(PortIndex(0), None)]);
        let mut receiver = Receiver::new(&plan, 1, 0);
        let before = allocations::count();
        for step in 0..300 {
            // The schedule's own time: a step is ten microseconds of it, however long it takes.
            sender.pump(&mut *client, start + Duration::from_micros(step * 10)).expect("it goes on");
            for datagram in server.recv(Wait::Poll).expect("it goes on").iter() {
                if let Some(data) = Data::parse(datagram.bytes) {
                    receiver.data(&data, datagram.bytes.len(), datagram.arrived.unwrap_or(MonoNs(0)));
                }
            }
        }
        // Failures are free of it as well: gaps, repetition, late ones, another round's.
        for (round, sequence) in [(1, 9_000), (1, 9_000), (1, 8_000), (2, 1), (1, 1 << 30), (1, 3)] {
            receiver.data(&Data { flow: 0, round, sequence, intended: start }, 64, start);
        }
        assert_eq!(allocations::count() - before, 0);
        assert!(sender.done() > 100 && receiver.unique() > 100, "{} {}", sender.done(), receiver.unique());
    }
    let before = allocations::count();
    drop(vec![1_u8; 9]);
    assert_eq!(allocations::count() - before, 2, "the count counts");
}
