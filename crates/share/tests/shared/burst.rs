//! A burst sent by one radio comes back to another at the stated sample, with the right phase: through filters of their own, and through
//! transforms that all radios share.

use std::f64::consts::TAU;
use std::time::Duration;

use proptest::prelude::*;
use takt_base::{Clock, Complex32, Ticks};
use takt_radio::{Burst, RxOptions, RxStream, TuneRequest, TxOptions, TxStream};

use crate::rig::{SharedWorld, addr, plan};

const SAMPLES: usize = 200;
const FRONT_END_HZ: f64 = 2.4e9;

/// A bell that fills a fifth of the band: what a filter of the whole band leaves alone.
fn bell(n: f64) -> Complex32 {
    let x = (n - SAMPLES as f64 / 2.0) / 16.0;
    let turn = 0.07 * n * TAU;
    Complex32::from_polar((0.5 * (-x * x / 2.0).exp()) as f32, turn as f32)
}

#[derive(Clone, Debug)]
struct Case {
    decimation: u32,
    offset_hz: i32,
    wait: u64,
    latency_samples: u64,
    /// Radios beside the two: with many, transforms are worth while.
    others: usize,
}

fn cases() -> impl Strategy<Value = Case> {
    let decimations = prop::sample::select(vec![20, 40, 50, 64, 100, 120, 250]);
    let others = prop::sample::select(vec![0, 8]);
    (decimations, -3_000_000..3_000_000, 4_000_000..5_000_000u64, 2000..20_000u64, others).prop_map(
        |(decimation, offset_hz, wait, latency_samples, others)| Case {
            decimation,
            offset_hz,
            wait,
            latency_samples,
            others,
        },
    )
}

/// The largest difference between what came and what was to come, full scale 1.0.
fn worst(case: &Case) -> f32 {
    let latency = Ticks(case.latency_samples * 10);
    let radios = [vec!["transmit = true", ""], vec!["rate = 1e6\ntransmit = true"; case.others]].concat();
    let net = SharedWorld::new(&plan(&radios), latency, Box::new(|_| Complex32::default()));
    let rate_sps = 100e6 / f64::from(case.decimation);
    let target_hz = FRONT_END_HZ + f64::from(case.offset_hz);
    let (mut sender, mut receiver) = (net.radio(addr(0)), net.radio(addr(1)));
    let mut tx = sender.tx_streamer(&TxOptions::new(rate_sps)).expect("a stream");
    sender.tune_tx(TuneRequest::new(target_hz)).expect("tuned");
    sender.flush().expect("an answer");
    let mut rx = receiver.rx_streamer(&RxOptions::new(rate_sps)).expect("a stream");
    receiver.tune_rx(0, TuneRequest::new(target_hz)).expect("tuned");
    receiver.flush().expect("an answer");
    let at = sender.time().expect("its time") + Ticks(case.wait);
    // Both were switched on at one tick, so one clock is the other.
    rx.start(Some(at + latency)).expect("it starts");
    let burst: Vec<Complex32> = (0..SAMPLES).map(|n| bell(n as f64)).collect();
    let until = net.now() + Duration::from_secs(1);
    assert_eq!(tx.send(&[&burst], Burst::at(at).ending(), until).expect("a stream"), SAMPLES);
    let mut samples = vec![Complex32::default(); SAMPLES];
    let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
    assert_eq!((received.samples, received.first, received.event), (SAMPLES, at + latency, None));
    let (offset, sent_hz, received_hz) = net.look(|rig| {
        let [sender, receiver] = [0, 1].map(|n| rig.core.device(n).expect("a radio"));
        let (tx_hz, rx_hz) = (sender.report().tuning.tx_hz, receiver.report().tuning.rx_hz[0]);
        (sender.clock_offset_ticks(), tx_hz, rx_hz)
    });
    let differences = samples.iter().enumerate().map(|(n, sample)| {
        // The oscillators turn with the ticks; the cable is so long.
        let sent = at.0.wrapping_sub(offset) + n as u64 * u64::from(case.decimation);
        let seconds = |tick: u64| tick as f64 / 1e8;
        let turns = (sent_hz - FRONT_END_HZ) * seconds(sent) - (received_hz - FRONT_END_HZ) * seconds(sent + latency.0);
        let want = bell(n as f64) * Complex32::from_polar(1.0, (turns.fract() * TAU) as f32);
        (*sample - want).norm()
    });
    differences.fold(0.0, f32::max)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_burst_comes_back_at_its_sample_with_its_phase(case in cases()) {
        let worst = worst(&case);
        prop_assert!(worst < 2e-3, "{worst} of {case:?}");
    }
}
