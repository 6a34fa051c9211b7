//! Datagrams from anybody: nothing panics, nothing is amplified beyond what the protocol asks, nobody foreign is obeyed.

use std::net::SocketAddr;

use proptest::prelude::*;
use takt_base::{Tick, Ticks};
use takt_emulator::sink::Null;
use takt_emulator::source::Silence;
use takt_emulator::x310::{Signals, X310, X310Options};
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_wire::chdr::ControlOperation;
use takt_wire::x310::registers::{message, radio, shared};

use super::host::{CONTROL, ENDPOINTS, Host, RADIO, ms, us};

/// Datagrams a run may cause: a radio that is set to stream fast would otherwise fill the time.
const ENOUGH: usize = 20_000;

struct Wire {
    frame: Vec<u8>,
    sent: usize,
    latest: Tick,
    to: Vec<SocketAddr>,
}

impl Outbox for Wire {
    fn send(&mut self, due: Tick, _: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let bytes = fill(&mut self.frame);
        assert!(bytes <= self.frame.len());
        assert!(due <= self.latest, "sent {due:?} at {:?}", self.latest);
        self.sent += 1;
        self.to.push(to);
        Sent::Taken
    }
}

fn device() -> (X310, Wire) {
    let signals = || Signals { sources: [Box::new(Silence), Box::new(Silence)], sink: Box::new(Null) };
    let device = X310::new(X310Options::default(), [signals(), signals()]).unwrap();
    (device, Wire { frame: vec![0; 9000], sent: 0, latest: Tick(0), to: vec![] })
}

fn advance(device: &mut X310, wire: &mut Wire, span: Ticks) {
    let end = wire.latest + span;
    while let Some(due) = device.deadline().filter(|due| *due <= end) {
        assert!(due > wire.latest, "a deadline lies ahead");
        wire.latest = due;
        device.advance(due, wire);
        if wire.sent > ENOUGH {
            return;
        }
    }
    wire.latest = end;
    device.advance(end, wire);
}

/// Nearly good packets: each with a header of its own, and small words behind it.
fn chdr() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        0u64..0x8000,
        any::<u64>(),
        (0u64..9, 0u64..4, 0u64..64, any::<u32>())
            .prop_map(|(code, left, address, data)| { left | code << 8 | address << 16 | u64::from(data) << 32 }),
        // A write to a control port, of any register.
        (0u64..9, any::<u8>()).prop_map(|(port, bits)| port | 1 << 20 | u64::from(bits) << 24),
        (prop_oneof![Just(0x1014u64), Just(0x1028), Just(0x400), 0u64..0x2000], any::<u32>())
            .prop_map(|(address, data)| address | 0x1F0_0000 | u64::from(data) << 32),
    ];
    (0u64..8, 0u64..4, any::<u16>(), prop::collection::vec(word, 0..12)).prop_map(|(kind, to, sequence, words)| {
        let length = 8 + 8 * words.len() as u64;
        let header = to | length << 16 | u64::from(sequence) << 32 | kind << 53;
        let words = words.into_iter().enumerate().map(|(n, word)| match (n, kind) {
            (0, 0) => 0x0100_0000_0000_0001 | (word & 7) << 16,
            _ => word,
        });
        [header].into_iter().chain(words).flat_map(u64::to_le_bytes).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn nothing_a_host_sends_breaks_a_device(
        script in prop::collection::vec((0usize..3, 0u32..24, prop_oneof![chdr(), chdr(), prop::collection::vec(any::<u8>(), 0..64)]), 1..60),
    ) {
        let (mut device, mut wire) = device();
        let ports = device.ports().to_vec();
        let host: SocketAddr = "127.0.0.1:4000".parse().unwrap();
        for (port, wait, bytes) in script {
            // CHDR, mostly.
            let port = ports[if bytes.len() >= 16 && wait % 4 > 0 { 2 } else { port }];
            advance(&mut device, &mut wire, Ticks(1 << wait));
            if wire.sent > ENOUGH {
                break;
            }
            device.datagram(wire.latest, port, host, &bytes, &mut wire);
            if wait == 7 {
                device.refused(wire.latest, port, host);
            }
        }
        prop_assert!(wire.to.iter().all(|to| *to == host), "only to the one who requested it");
    }
}

#[test]
fn nobody_foreign_is_answered_or_obeyed() {
    let (mut device, mut wire) = device();
    let foreign: SocketAddr = "203.0.113.5:4000".parse().unwrap();
    let poke = [5u32, 1, shared::BASE + 4 * shared::CLAIM_TIME, 9].map(u32::to_be_bytes).concat();
    for port in device.ports().to_vec() {
        device.datagram(Tick(10), port, foreign, &poke, &mut wire);
    }
    assert_eq!(wire.sent, 0);
    let report = device.report();
    assert_eq!((report.hosts.refused_destinations, report.control.requests), (3, 0));
    assert_eq!(report.hosts.refused_addresses, [foreign.ip()]);
}

#[test]
fn what_makes_no_sense_is_counted_and_changes_nothing() {
    let mut host = Host::ready();
    for bytes in [&[][..], &[0; 7], &[0xFF; 40], b"nonsense of a length"] {
        host.send(CONTROL, bytes);
    }
    host.run(ms(1));
    assert_eq!(host.report().control.malformed_datagrams, 4);
    assert_eq!(host.read(0, 0), 0x12C6_0100, "it goes on");
}

#[test]
fn before_a_host_has_given_ids_no_endpoint_has_any() {
    let mut host = Host::new();
    host.request(0, ControlOperation::Read, 0, 0, None);
    host.run(ms(1));
    assert!(host.acks.is_empty());
    assert_eq!(host.report().control.malformed_datagrams, 1);
}

#[test]
fn starts_and_stops_without_credit_pile_up_no_more_than_a_stream_may() {
    const WAIT_AT_MOST: usize = 8192 + 1;
    let mut host = Host::ready();
    host.capacity_bytes = 40_000;
    host.open_rx(0, 100, 996);
    host.gives_credit = false;
    host.stream(0, 2, 0, None);
    host.run(ms(60));
    assert_eq!(
        (host.rx[0].len(), host.messages.len()),
        (10, 1),
        "an overrun, and no credit for the packet that ends it"
    );
    host.acks.clear();
    for _ in 0..20_000 {
        for word in [2, 0, 0] {
            host.request(RADIO[0], ControlOperation::Write, radio::CHANNELS + radio::RX_COMMAND, word, None);
            host.run(us(1));
        }
        host.acks.clear();
    }
    let messages = host.told();
    assert!(
        messages.len() >= 2 && messages.iter().all(|(_, code, _)| *code == message::RX_OVERRUN),
        "each is an overrun: {messages:?}"
    );
    host.capacity_bytes = 64 << 20;
    host.gives_credit = true;
    host.give_credit(0, ENDPOINTS[0]);
    host.run(ms(10));
    let packets = host.rx[0].len() - 10;
    let stops = host.report().rx[0].idle_stops as usize;
    assert!(packets > 1 && packets + stops <= WAIT_AT_MOST, "{packets} packets, {stops} stops");
}
