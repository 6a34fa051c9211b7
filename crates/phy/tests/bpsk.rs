//! The BPSK link: no error without noise, and the theoretical curve with it.

use takt_base::Stop;
use takt_graph::{Graph, Latency, Params, Plan, Value, Waveform};
use takt_runtime::{Bench, Bit, Options, Registry, Report, Session};

const FILE: &str = include_str!("../../../waveforms/bpsk.toml");

fn registry() -> Registry {
    takt_phy::link();
    Registry::of_program().expect("one name each")
}

fn run(file: &str, worker_of: &[usize], slots: u64) -> Report {
    let registry = registry();
    let graph = Graph::check(&Waveform::parse("bpsk.toml", file).expect("read"), &registry).expect("checked");
    let plan = Plan::assign(&graph, worker_of, Latency::Compact).expect("placed");
    let options = Options { slots: Some(slots), ..Options::default() };
    Session::open(&graph, &plan, &registry, options).expect("opened").run(&Stop::new()).expect("started")
}

fn errors(report: &Report) -> (i64, i64) {
    let sink = report.components.iter().find(|component| component.name == "sink").expect("there");
    match (&sink.results["bits"], &sink.results["bit_errors"]) {
        (Value::Int(bits), Value::Int(errors)) => (*bits, *errors),
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_noise_there_is_no_error_on_one_worker_and_on_two() {
    let one = run(FILE, &[0; 5], 1000);
    let two = run(FILE, &[0, 0, 1, 1, 0], 1000);
    assert_eq!((errors(&one), errors(&two)), ((1_000_000, 0), (1_000_000, 0)));
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
        let (bits, errors) = errors(&run(&file, &[0; 5], 2000));
        let theory = q((2.0 * 10_f64.powf(ebn0_db / 10.0)).sqrt());
        // 99.99 %: with a fixed seed the draw is one, and this says that it is no unlikely one.
        let interval = takt_stats::proportion(bits as usize, errors as usize, 0.9999).expect("rounds");
        let range = interval.low()..=interval.high();
        assert!(range.contains(&theory), "{ebn0_db} dB: {errors} of {bits}, {interval}, theory {theory}");
    }
}

#[test]
fn noise_does_not_depend_on_how_packets_are_cut() {
    let params = || Params::new().with("ebn0_db", 3.0);
    let samples: Vec<i16> = (0..101).map(|n| n * 40 - 2000).collect();
    let mut whole = Bench::named(&registry(), "awgn", &params()).expect("made");
    let all = whole.feed("in", &samples).tick().output::<i16>("out");
    let mut cut = Bench::named(&registry(), "awgn", &params()).expect("made");
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
