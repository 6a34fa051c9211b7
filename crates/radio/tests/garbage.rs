//! Garbage from the radio's own address between the datagrams of a stream: everything is counted, nothing is lost.

mod common;

use common::{Action, Ramp, Way, is_samples, ms, world};
use num_complex::Complex;
use proptest::prelude::*;
use takt_base::{Complex32, Ticks};
use takt_radio::n200::CLOCK;
use takt_radio::{Burst, TxEventKind, TxStream};
use takt_wire::n200::ports;

const RATE: f64 = 1e6;
const STEP: u64 = 100;
const SAMPLES: usize = 20_000;

/// What no radio means: any bytes, or the beginning of a datagram that it does.
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
            let want = (Ramp::at(start.0 + n as u64 * STEP + common::BORN_TICK).re * 32768.0) as i16;
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
