//! The shared transform gives what a filter of its own gives, and it is used.

use std::time::Duration;

use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_radio::{RxOptions, RxStream, TuneRequest};

use crate::rig::{Antenna, SharedWorld, addr, plan};

/// Two tones of the radio's band, and one outside of it.
fn tones() -> Antenna {
    Box::new(|tick: Tick| {
        let turn = |hz: f64| (hz / 1e8 * tick.0 as f64).fract() * std::f64::consts::TAU;
        let tone = |hz: f64, amplitude: f32| Complex32::from_polar(amplitude, turn(hz) as f32);
        tone(1.1e6, 0.2) + tone(0.7e6, 0.3) + tone(-3e6, 0.3)
    })
}

/// A long reception at 1 MS/s around 1 MHz above the middle, and how it was cut out. Others make the transform worth while.
fn received(others: usize) -> (Vec<Complex32>, String) {
    let radios = vec!["rate = 1e6"; 1 + others];
    let net = SharedWorld::new(&plan(&radios), Ticks(0), tones());
    let mut radio = net.radio(addr(0));
    let mut rx = radio.rx_streamer(&RxOptions::new(1e6)).expect("a stream");
    radio.tune_rx(0, TuneRequest::new(2401e6)).expect("tuned");
    radio.flush().expect("an answer");
    rx.start(Some(Tick(50_000_033))).expect("it starts");
    let mut samples = vec![Complex32::default(); 20_000];
    let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(2)).expect("a stream");
    assert_eq!((received.samples, received.first, received.event), (20_000, Tick(50_000_033), None));
    (samples, net.look(|rig| rig.core.report().swap_remove(0).receive_way))
}

#[test]
fn both_ways_receive_the_same() {
    let ((filtered, alone), (transformed, shared)) = (received(0), received(15));
    assert!(shared.starts_with("fast convolution") && !alone.starts_with("fast"), "{alone}; {shared}");
    let worst = filtered.iter().zip(&transformed).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(worst < 3e-4, "{worst}");
    assert!(filtered != transformed, "the transform was used");
}
