//! Garbage from the radio's own address between the datagrams of a stream: everything is counted, nothing is lost.

use std::sync::Arc;

use num_complex::Complex;
use proptest::prelude::*;
use takt_base::{Complex32, MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::signals::Signals;
use takt_emulator::x310 as device;
use takt_radio::n200::CLOCK;
use takt_radio::x310::{self, X310};
use takt_radio::{Burst, RxEvent, RxOptions, TxEventKind, TxOptions, TxStream};
use takt_wire::chdr::{Header, PacketType, StreamCommand, StreamOperation};
use takt_wire::n200::ports;
use takt_wire::x310::ports::CHDR;

use crate::common::{self, ADDR, Action, BORN_TICK, LATENCY, Ramp, Recorder, SimNet, Way, is_samples, ms, world};

const RATE: f64 = 1e6;
const STEP: u64 = 100;
const SAMPLES: usize = 20_000;

/// Bytes that no radio means: any, or the beginning of a datagram that it does.
fn garbage() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let noise = prop::collection::vec(any::<u8>(), 0..1500);
    let header = prop::collection::vec(any::<u8>(), 14..60).prop_map(|mut bytes| {
        bytes[..2].copy_from_slice(&[0x14, 0x10]);
        bytes
    });
    prop::collection::vec(prop_oneof![noise, header], 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_receive_stream_loses_nothing_to_garbage(garbage in garbage(), each in 1usize..6) {
        let net = world();
        let (mut radio, mut rx) = net.receiver(RATE);
        let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
        rx.start(Some(start)).unwrap();
        let (mut turn, pool) = (0, garbage);
        net.tamper(move |way, port, bytes| {
            if way != Way::In || port != ports::RX0 || !is_samples(bytes) {
                return Action::Pass;
            }
            turn += each;
            Action::Follow((0..each).map(|n| pool[(turn + n) % pool.len()].clone()).collect())
        });
        let mut buffer = vec![Complex::<i16>::default(); SAMPLES];
        let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(500))).unwrap();
        prop_assert_eq!((received.samples, received.first, received.event), (SAMPLES, start, None));
        for (n, sample) in buffer.iter().enumerate() {
            let want = Ramp::word(start.0 + n as u64 * STEP + common::BORN_TICK);
            prop_assert_eq!(sample.re, want);
        }
        let stats = rx.stats();
        prop_assert_eq!((stats.missing_datagrams, stats.reordered_datagrams), (0, 0));
        prop_assert!(stats.bad_datagrams + stats.stale_datagrams >= SAMPLES as u64 / 363 * each as u64, "{:?}", stats);
    }

    #[test]
    fn a_transmit_stream_is_not_misled_by_garbage(garbage in garbage()) {
        let net = world();
        let (mut radio, mut tx) = net.transmitter(RATE);
        net.tamper(move |way, port, _| match (way, port) {
            (Way::In, ports::TX) => Action::Follow(garbage.clone()),
            _ => Action::Pass,
        });
        let samples = vec![Complex32::new(0.5, 0.0); 400_000];
        let start = radio.time().unwrap() + CLOCK.ticks_in(ms(20));
        let taken = tx.send(&[&samples], Burst::at(start).ending(), net.after(ms(1000))).unwrap();
        prop_assert_eq!(taken, samples.len());
        let event = tx.event(net.after(ms(1000))).unwrap().unwrap();
        prop_assert_eq!((event.kind, event.tick), (TxEventKind::BurstAck, start + Ticks(400_000 * STEP)));
        prop_assert!(tx.stats().foreign_reports > 0);
        prop_assert_eq!(net.report().tx.samples, 400_000);
    }
}

/// A world with an X310 that receives a ramp, and the radio.
fn x310() -> (Arc<SimNet>, X310) {
    let start = MonoNs(10 * BORN_TICK);
    let world = World::starting_at(start, LATENCY);
    let signals = || Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) };
    let options = device::X310Options { born: Tick(start.0), ..device::X310Options::default() };
    let radio = device::X310::new(options, [signals(), signals()]).unwrap();
    world.add(ADDR, device::CLOCK, Faulty::new(radio, vec![], Tick(start.0), device::CLOCK));
    let net = Arc::new(SimNet { world, script: Arc::default() });
    let radio = X310::open(net.clone(), ADDR, &x310::OpenOptions::default()).unwrap();
    (net, radio)
}

/// To whom samples of an X310 go; `None` for anything else.
fn samples_for(way: Way, port: u16, bytes: &[u8]) -> Option<u16> {
    let (header, _) = Header::parse(bytes).ok().filter(|_| way == Way::In && port == CHDR)?;
    (header.kind == PacketType::TimedData).then_some(header.destination)
}

/// Bytes that no X310 means: any, or the header of a packet of any kind. None of it is for an endpoint that this host
/// has.
fn x310_garbage() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let header = (prop::collection::vec(any::<u8>(), 8..100), 0u8..8).prop_map(|(mut bytes, kind)| {
        let len = bytes.len() as u16;
        bytes[2..4].copy_from_slice(&len.to_le_bytes());
        bytes[6] = kind << 5;
        bytes
    });
    let noise = prop::collection::vec(any::<u8>(), 0..8000);
    let foreign = prop_oneof![noise, header].prop_map(|mut bytes| {
        bytes.iter_mut().skip(1).take(1).for_each(|high| *high |= 0x80);
        bytes
    });
    prop::collection::vec(foreign, 1..12)
}

/// Any counts, most of them close to where 64 bits end.
fn claim() -> impl Strategy<Value = (u64, u64)> {
    (
        prop_oneof![any::<u64>(), (0u64..9).prop_map(|n| u64::MAX - 8 * n)],
        prop_oneof![any::<u64>(), Just((1 << 40) - 1)],
    )
}

const X310_STEP: u64 = 2;
const X310_RATE: f64 = 100e6;

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_receive_stream_of_an_x310_loses_nothing_to_garbage(garbage in x310_garbage(), each in 1usize..6) {
        let (net, mut radio) = x310();
        let mut rx = radio.rx_streamer(&RxOptions::new(X310_RATE)).unwrap();
        let start = radio.time().unwrap() + x310::CLOCK.ticks_in(ms(20));
        rx.start(Some(start)).unwrap();
        let mut turn = 0;
        net.tamper(move |way, port, bytes| {
            if samples_for(way, port, bytes).is_none() {
                return Action::Pass;
            }
            turn += each;
            Action::Follow((0..each).map(|n| garbage[(turn + n) % garbage.len()].clone()).collect())
        });
        let mut buffer = vec![Complex::<i16>::default(); SAMPLES];
        let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(500))).unwrap();
        prop_assert_eq!((received.samples, received.first, received.event), (SAMPLES, start, None));
        for (n, sample) in buffer.iter().enumerate() {
            let want = Ramp::word(start.0 + n as u64 * X310_STEP + 2 * BORN_TICK);
            prop_assert_eq!(sample.re, want);
        }
        let stats = rx.stats();
        prop_assert_eq!((stats.missing_datagrams, stats.reordered_datagrams), (0, 0));
        prop_assert!(stats.bad_datagrams >= SAMPLES as u64 / 1996 * each as u64, "{:?}", stats);
    }

    /// The radio's count of what it has sent is adopted, whatever it is. Nothing may come of that but credit that is
    /// wrong for a while.
    #[test]
    fn a_receive_stream_of_an_x310_outlives_any_count_of_the_radio((bytes, packets) in claim(), every in 1usize..9) {
        let (net, mut radio) = x310();
        let mut rx = radio.rx_streamer(&RxOptions::new(X310_RATE)).unwrap();
        let start = radio.time().unwrap() + x310::CLOCK.ticks_in(ms(20));
        rx.start(Some(start)).unwrap();
        let mut seen = 0;
        net.tamper(move |way, port, datagram| {
            let Some(destination) = samples_for(way, port, datagram) else { return Action::Pass };
            seen += 1;
            let operation = StreamOperation::Resync;
            let command = StreamCommand { destination, sequence: 0, source: 20, operation, operation_data: 0, packets, bytes };
            let mut claim = vec![0; StreamCommand::BYTES];
            command.write(&mut claim).unwrap();
            if seen % every == 0 { Action::Follow(vec![claim]) } else { Action::Pass }
        });
        let mut buffer = vec![Complex::<i16>::default(); SAMPLES];
        let mut next = start;
        for _ in 0..20 {
            let received = rx.recv_integers(&mut [&mut buffer], net.after(ms(500))).unwrap();
            prop_assert_eq!(received.first, next);
            let lost = match received.event {
                Some(RxEvent::Dropped { lost, .. } | RxEvent::Overflow { lost, .. }) => lost,
                _ => 0,
            };
            next += Ticks((received.samples as u64 + lost) * X310_STEP);
        }
        prop_assert!(next > start);
    }

    #[test]
    fn a_transmit_stream_of_an_x310_is_not_misled_by_garbage(garbage in x310_garbage()) {
        let (net, mut radio) = x310();
        let mut tx = radio.tx_streamer(&TxOptions::new(X310_RATE)).unwrap();
        net.tamper(move |way, port, _| match (way, port) {
            (Way::In, CHDR) => Action::Follow(garbage.clone()),
            _ => Action::Pass,
        });
        let samples = vec![Complex32::new(0.5, 0.0); 400_000];
        let start = radio.time().unwrap() + x310::CLOCK.ticks_in(ms(20));
        let taken = tx.send(&[&samples], Burst::at(start).ending(), net.after(ms(1000))).unwrap();
        prop_assert_eq!(taken, samples.len());
        let event = tx.event(net.after(ms(1000))).unwrap().unwrap();
        prop_assert_eq!((event.kind, event.tick), (TxEventKind::BurstAck, start + Ticks(400_000 * X310_STEP)));
        prop_assert!(tx.stats().foreign_reports > 0);
    }
}
