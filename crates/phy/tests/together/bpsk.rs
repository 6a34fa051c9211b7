//! The BPSK link: no error without noise, and the theoretical curve with it.

use takt_graph::{Latency, Params};
use takt_runtime::{Bench, Bit};

use crate::waveform::{registry, results, run};

const FILE: &str = include_str!("../../../../waveforms/bpsk.toml");

#[test]
fn without_noise_there_is_no_error_on_one_worker_and_on_two() {
    let one = run(FILE, |_| 0, Latency::Compact, 1000);
    let two = run(FILE, |n| [0, 0, 1, 1, 0][n], Latency::Compact, 1000);
    for report in [&one, &two] {
        assert_eq!(results(report, "sink", ["bits", "bit_errors"]), [1_000_000, 0]);
    }
    assert_eq!(one.output_hash, two.output_hash);
}

/// Q(x): the share of a Gaussian beyond x (Abramowitz and Stegun 7.1.26 for erfc, absolute error below 1.5e-7).
fn q(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z);
    let poly =
        t * (0.254_829_592 + t * (-0.284_496_736 + t * (1.421_413_741 + t * (-1.453_152_027 + t * 1.061_405_429))));
    0.5 * poly * (-z * z).exp()
}

#[test]
fn with_noise_the_error_rate_is_the_theoretical_one() {
    for ebn0_db in [0.0, 2.0, 4.0, 6.0] {
        let file = FILE.replace("ebn0_db = 200.0", &format!("ebn0_db = {ebn0_db:?}"));
        let report = run(&file, |_| 0, Latency::Compact, 2000);
        let [bits, errors] = results(&report, "sink", ["bits", "bit_errors"]);
        let theory = q((2.0 * 10_f64.powf(ebn0_db / 10.0)).sqrt());
        // 99.99 %: with a fixed seed the draw is one, and this says that it is no unlikely one.
        let interval = takt_stats::proportion(bits as usize, errors as usize, 0.9999).expect("rounds");
        let range = interval.low()..=interval.high();
        assert!(range.contains(&theory), "{ebn0_db} dB: {errors} of {bits}, {interval}, theory {theory}");
    }
}

#[test]
fn noise_does_not_depend_on_how_packets_are_cut() {
    let awgn = || Bench::named(&registry(), "awgn", &Params::new().with("ebn0_db", 3.0)).expect("made");
    let samples: Vec<i16> = (0..101).map(|n| n * 40 - 2000).collect();
    let all = awgn().feed("in", &samples).tick().output::<i16>("out");
    let mut cut = awgn();
    let mut parts = cut.feed("in", &samples[..33]).tick().output::<i16>("out");
    parts.extend(cut.feed("in", &samples[33..]).tick().output::<i16>("out"));
    assert_eq!(all, parts);
    assert_ne!(all, samples);
}

#[test]
fn components_do_what_their_pages_say() {
    let bench = |kind, params: Params| Bench::named(&registry(), kind, &params).expect("made");
    let mut modulator = bench("bpsk-modulate", Params::new().with("amplitude", 100));
    assert_eq!(modulator.feed("in", &[Bit(0), Bit(1)]).tick().output::<i16>("out"), [100, -100]);
    let mut demodulator = bench("bpsk-demodulate", Params::new());
    assert_eq!(demodulator.feed("in", &[5_i16, -5, 0]).tick().output::<Bit>("out"), [Bit(0), Bit(1), Bit(0)]);
    let mut delay = bench("delay", Params::new().with("items", 2));
    assert_eq!(delay.feed("in", &[1.0_f32, 2.0, 3.0]).tick().output::<f32>("out"), [0.0, 0.0, 1.0]);
    assert_eq!(delay.feed("in", &[4.0_f32]).tick().output::<f32>("out"), [2.0]);
    let mut saxpy = bench("saxpy", Params::new());
    assert_eq!(saxpy.feed("in", &[2.0_f32]).tick().output::<f32>("out"), [3.5]);
    let mut in_place = bench("saxpy-in-place", Params::new());
    assert_eq!(in_place.feed("in", &[2.0_f32]).tick().output::<f32>("out"), [3.5]);
    let mut counter = bench("counter", Params::new().with("items", 3));
    assert_eq!(counter.tick().tick().output::<u8>("out"), [3, 4, 5]);
    let mut checked = bench("counter-sink", Params::new());
    checked.feed("in", &[0_u8, 1, 2]).tick().feed("in", &[3_u8, 9]).tick();
    assert_eq!((&checked.results()["wrong_bytes"], &checked.results()["gaps"]), (&1.into(), &0.into()));
}
