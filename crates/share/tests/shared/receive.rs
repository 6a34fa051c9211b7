//! Each radio receives its part of the band.

use std::f64::consts::TAU;
use std::time::Duration;

use takt_base::{Clock, Complex32, Tick, Ticks};
use takt_radio::{RxOptions, RxStream, TuneRequest};

use crate::rig::{Antenna, SharedWorld, addr, plan};

/// A quarter at 2 MHz above the middle, a tenth at 1.5 MHz below.
pub fn two_tones() -> Antenna {
    Box::new(|tick: Tick| {
        let turn = |hz: f64, amplitude: f32| {
            let phase = (hz / 1e8 * tick.0 as f64).fract() * TAU;
            Complex32::from_polar(amplitude, phase as f32)
        };
        turn(2e6, 0.25) + turn(-1.5e6, 0.1)
    })
}

/// The mean amplitude of what a radio receives there, at that rate.
pub fn received(net: &std::sync::Arc<SharedWorld>, radio: u8, rate_sps: f64, target_hz: f64) -> f32 {
    let mut radio = net.radio(addr(radio));
    let mut rx = radio.rx_streamer(&RxOptions::new(rate_sps)).expect("a stream");
    radio.tune_rx(0, TuneRequest::new(target_hz)).expect("tuned");
    radio.flush().expect("an answer");
    rx.start(None).expect("it starts");
    let mut samples = vec![Complex32::default(); 2000];
    let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
    assert_eq!((received.samples, received.event), (2000, None));
    samples[1000..].iter().map(|x| x.norm()).sum::<f32>() / 1000.0
}

#[test]
fn two_radios_receive_their_own_tones_at_their_own_rates() {
    let net = SharedWorld::new(&plan(&["", ""]), Ticks(0), two_tones());
    assert!((received(&net, 0, 1e6, 2402e6) - 0.25).abs() < 1e-3);
    assert!((received(&net, 1, 0.5e6, 2398.5e6) - 0.1).abs() < 1e-3);
    // Beside both tones there is nothing, 80 dB below full scale.
    assert!(received(&net, 1, 0.5e6, 2400e6) < 1e-4);
}

#[test]
fn outside_the_band_there_is_silence_and_it_is_counted() {
    let net = SharedWorld::new(&plan(&["rate = 1e6", "frequency = [2399e6, 2401e6]"]), Ticks(0), two_tones());
    assert_eq!(received(&net, 0, 1e6, 2420e6), 0.0);
    // Above the highest rate, and outside of its own limits.
    assert_eq!(received(&net, 0, 2e6, 2402e6), 0.0);
    assert_eq!(received(&net, 1, 1e6, 2402e6), 0.0);
    let [first, second] = net.look(|rig| rig.core.report()).try_into().expect("two radios");
    assert!(first.outside_samples >= 2000 && first.forbidden_samples >= 2000, "{first:?}");
    assert!(second.outside_samples == 0 && second.forbidden_samples >= 2000, "{second:?}");
}

#[test]
fn at_the_whole_band_a_radio_receives_the_samples_themselves() {
    let net = SharedWorld::new(&plan(&[""]), Ticks(0), two_tones());
    let mut radio = net.radio(addr(0));
    let mut rx = radio.rx_streamer(&RxOptions::new(10e6)).expect("a stream");
    let wish = TuneRequest { target_hz: 2.4e9, offset: takt_radio::LoOffset::Hz(0.0) };
    radio.tune_rx(0, wish).expect("tuned");
    let start = (radio.time().expect("its time") + Ticks(1_000_000)).0.next_multiple_of(10);
    // The first wide sample came one step after the radio was switched on: device time 10.
    rx.start(Some(Tick(start))).expect("it starts");
    let mut samples = vec![Complex32::default(); 1000];
    let received = rx.recv(&mut [&mut samples], net.now() + Duration::from_secs(1)).expect("a stream");
    assert_eq!((received.samples, received.first), (1000, Tick(start)));
    let born = net.look(|rig| rig.core.device(0).expect("a radio").clock_offset_ticks());
    let antenna = two_tones();
    for (n, sample) in samples.iter().enumerate() {
        let tick = Tick((start + 10 * n as u64).wrapping_sub(born));
        let difference = (*sample - antenna(tick)).norm();
        assert!(difference < 1e-4, "sample {n}: {sample} and {}", antenna(tick));
    }
}
