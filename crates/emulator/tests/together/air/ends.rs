//! The two ends of an air, without radios around them.

use std::time::Duration;

use proptest::prelude::*;
use takt_base::{Complex32, Tick, Ticks};
use takt_emulator::Timebase;
use takt_emulator::air::{
    Air, Delay, End, Imbalance, LATENCY_US, LONGEST_DELAY_NS, Link, ModelName, Noise, Radio, Scene, Tap,
};
use takt_emulator::n200::Signals;
use takt_emulator::sink::{BurstEdges, Null};
use takt_emulator::source::Silence;

use super::meant::{Tone, Way, off};

const MIDDLE: BurstEdges = BurstEdges { start: false, end: false };
const WHOLE: BurstEdges = BurstEdges { start: true, end: true };
const A: End = End { radio: 0, channel: 0 };
const B: End = End { radio: 1, channel: 0 };
const C: End = End { radio: 2, channel: 0 };

/// As many radios as models, and these links.
fn scene(models: &[ModelName], links: Vec<Link>) -> Scene {
    let radio = |(n, &model): (usize, &ModelName)| {
        Radio::new(&format!("r{n}"), model, std::net::Ipv4Addr::new(127, 0, 0, n as u8 + 1))
    };
    Scene { radios: models.iter().enumerate().map(radio).collect(), links, ..Scene::default() }
}

fn join(air: &mut Air, end: End) -> (Signals, takt_emulator::signals::AirCounts) {
    air.join(end, [Box::new(Silence), Box::new(Silence)], Box::new(Null))
}

/// All radios of a scene, each with its first channel.
fn joined(scene: &Scene) -> Vec<Signals> {
    let mut air = Air::new(scene);
    (0..scene.radios.len()).map(|radio| join(&mut air, End { radio, channel: 0 }).0).collect()
}

fn send(signals: &mut Signals, first: u64, step: u32, samples: &[Complex32]) {
    for (n, packet) in samples.chunks(363).enumerate() {
        signals.sink.take(Tick(first + n as u64 * 363 * u64::from(step)), step, packet, MIDDLE);
    }
}

fn receive(signals: &mut Signals, first: u64, step: u32, n: usize) -> Vec<Complex32> {
    let mut out = vec![Complex32::new(9.0, 9.0); n];
    signals.sources[0].fill(Tick(first), step, &mut out);
    out
}

fn clock_hz(model: ModelName) -> f64 {
    match model {
        ModelName::N200 => 100e6,
        ModelName::X310 => 200e6,
    }
}

fn silent(received: &[Complex32]) -> bool {
    received.iter().all(|x| x.norm() == 0.0)
}

fn noise(n: usize) -> Vec<Complex32> {
    let mut samples = vec![Complex32::default(); n];
    takt_dsp::noise(9, 0.05, Tick(0), 1, &mut samples);
    samples
}

#[test]
fn at_one_rate_a_sample_comes_after_its_delay_with_its_gain_and_nothing_else_happens_to_it() {
    let links = vec![
        Link { delay: Delay::Ns(120.0), ..Link::new(A, B) },
        Link { delay: Delay::Samples(7.0), gain_db: 20.0 * 0.5f64.log10(), ..Link::new(A, C) },
    ];
    let mut radios = joined(&scene(&[ModelName::N200; 3], links));
    let sent = noise(2000);
    send(&mut radios[0], 525_000_000, 4, &sent);
    let received = receive(&mut radios[1], 525_000_000 - 400, 4, 2200);
    // 120 ns are 12 ticks, three samples.
    assert!(silent(&received[..103]) && received[103..2103] == sent[..] && silent(&received[2103..]));
    let received = receive(&mut radios[2], 525_000_000, 4, 2100);
    let halved: Vec<_> = sent.iter().map(|x| x.scale(0.5)).collect();
    assert!(silent(&received[..7]) && silent(&received[2007..]));
    assert!(received[7..2007].iter().zip(&halved).all(|(a, b)| (a - b).norm() < 1e-6));
}

/// Sends a tone with enough before and behind, receives `n` samples of it, and says how far these are from what was meant.
fn tone_over(models: [ModelName; 2], steps: [u32; 2], first: u64, tone: Tone, way: Way, delay: Delay, n: usize) -> f64 {
    let link = Link { gain_db: way.gain_db, delay, frequency_offset_hz: way.offset_hz, ..Link::new(A, B) };
    let mut radios = joined(&scene(&models, vec![link]));
    let [sent_hz, received_hz] = models.map(clock_hz);
    radios[0].sink.tuned(Tick(0), way.sent_hz);
    radios[1].sources[0].tuned(Tick(0), way.received_hz);
    let [sent_step_s, received_step_s] = [f64::from(steps[0]) / sent_hz, f64::from(steps[1]) / received_hz];
    let edge_s = 40.0 * sent_step_s.max(received_step_s) + way.delay_s;
    let start_s = first as f64 / received_hz;
    let send_first = ((start_s - edge_s) * sent_hz) as u64;
    let count = ((n as f64 * received_step_s + 2.0 * edge_s) / sent_step_s) as usize;
    send(&mut radios[0], send_first, steps[0], &tone.samples(sent_hz, send_first, steps[0], count));
    let received = receive(&mut radios[1], first, steps[1], n);
    off(&received, |k| tone.received(way, (first + k as u64 * u64::from(steps[1])) as f64 / received_hz))
}

#[test]
fn a_tone_is_right_in_time_and_phase_across_models_and_rates() {
    use ModelName::{N200, X310};
    for models in [[N200, N200], [N200, X310], [X310, N200], [X310, X310]] {
        for steps in [[4, 4], [4, 8], [8, 4], [4, 5], [5, 4], [13, 100], [100, 13], [2, 512], [512, 2], [64, 63]] {
            let rates = [clock_hz(models[0]) / f64::from(steps[0]), clock_hz(models[1]) / f64::from(steps[1])];
            let slower = rates[0].min(rates[1]);
            for (share, delay_ns, offset) in [(0.39, 0.0, 0.0), (-0.3, 1234.5, 0.05), (0.1, 17.0, -0.2)] {
                let tone = Tone { hz: share * slower, amplitude: 0.7 };
                let way = Way {
                    gain_db: -3.0,
                    delay_s: delay_ns * 1e-9,
                    offset_hz: offset * slower,
                    sent_hz: 900e6,
                    received_hz: 900e6 - 0.01 * slower,
                };
                // As far as both bands reach, less a tenth.
                let seen = tone.hz + way.offset_hz + 0.01 * slower;
                if seen.abs() > 0.39 * slower {
                    continue;
                }
                let off = tone_over(models, steps, 1_000_000_007, tone, way, Delay::Ns(delay_ns), 300);
                assert!(off < 7e-4, "{models:?} {steps:?} {share}: {off:e}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(40) })]

    /// 60 dB below the signal, at any delay, gain, frequency and rate of either model.
    #[test]
    fn any_tone_comes_over_any_way(
        from_x310 in any::<bool>(), to_x310 in any::<bool>(), i in 2u32..=300, d in 2u32..=300, first in 500_000_000u64..600_000_000,
        delay_ns in 0.0f64..5000.0, gain_db in -40.0f64..0.0, share in -0.19f64..0.19, offset in -0.1f64..0.1, apart in -0.1f64..0.1,
    ) {
        let model = |x310| if x310 { ModelName::X310 } else { ModelName::N200 };
        let models = [model(from_x310), model(to_x310)];
        let slower = (clock_hz(models[0]) / f64::from(i)).min(clock_hz(models[1]) / f64::from(d));
        let tone = Tone { hz: share * slower, amplitude: 0.9 };
        // To the femtosecond, as links have it.
        let delay_ns = (delay_ns * 1e6).round() / 1e6;
        let way = Way { gain_db, delay_s: delay_ns * 1e-9, offset_hz: offset * slower, sent_hz: 2.4e9, received_hz: 2.4e9 - apart * slower };
        let off = tone_over(models, [i, d], first, tone, way, Delay::Ns(delay_ns), 120);
        let limit = 1e-3 * 0.9 * 10f64.powf(gain_db / 20.0);
        prop_assert!(off < limit, "{off:e} > {limit:e}");
    }

    #[test]
    fn cuts_change_nothing(
        i in 2u32..20, d in 2u32..20, delay_ns in 0.0f64..1000.0, cut in 1usize..400, sent_cut in 1usize..700, offset in prop_oneof![Just(0.0), -1e5..1e5],
    ) {
        let link = Link {
            delay: Delay::Ns(delay_ns),
            frequency_offset_hz: offset,
            noise: Some(Noise::Dbfs(-40.0)),
            taps: vec![Tap { delay_ns: 77.7, gain_db: -3.0, phase_deg: 45.0 }],
            ..Link::new(A, B)
        };
        let scene = scene(&[ModelName::N200, ModelName::X310], vec![link]);
        let sent = noise(700);
        let whole = {
            let mut radios = joined(&scene);
            radios[0].sink.take(Tick(1_000_000), i, &sent, WHOLE);
            receive(&mut radios[1], 2_000_000 - 50, d, 400)
        };
        let mut radios = joined(&scene);
        radios[0].sink.take(Tick(1_000_000), i, &sent[..sent_cut.min(700)], MIDDLE);
        radios[0].sink.take(Tick(1_000_000 + sent_cut as u64 * u64::from(i)), i, &sent[sent_cut..], MIDDLE);
        let mut pieces = receive(&mut radios[1], 2_000_000 - 50, d, cut);
        pieces.extend(receive(&mut radios[1], 2_000_000 - 50 + cut as u64 * u64::from(d), d, 400 - cut));
        prop_assert_eq!(whole, pieces);
    }
}

#[test]
fn two_transmitters_add() {
    let links = vec![
        Link { delay: Delay::Ns(100.0), ..Link::new(A, C) },
        Link { delay: Delay::Ns(55.0), gain_db: -6.0, ..Link::new(B, C) },
    ];
    let mut radios = joined(&scene(&[ModelName::N200, ModelName::X310, ModelName::N200], links));
    let (low, high) = (Tone { hz: 1e6, amplitude: 0.3 }, Tone { hz: -2e6, amplitude: 0.4 });
    send(&mut radios[0], 100_000_000, 4, &low.samples(100e6, 100_000_000, 4, 4000));
    send(&mut radios[1], 200_000_000, 10, &high.samples(200e6, 200_000_000, 10, 4000));
    let received = receive(&mut radios[2], 100_004_000, 4, 2000);
    let off = off(&received, |n| {
        let at_s = (100_004_000 + 4 * n) as f64 / 100e6;
        let one = low.received(Way { delay_s: 100e-9, ..Way::PLAIN }, at_s);
        let other = high.received(Way { delay_s: 55e-9, gain_db: -6.0, ..Way::PLAIN }, at_s);
        [one[0] + other[0], one[1] + other[1]]
    });
    assert!(off < 3e-4, "{off:e}");
}

#[test]
fn further_paths_are_received_beside_the_direct_one() {
    let taps = vec![
        Tap { delay_ns: 260.4, gain_db: -6.0, phase_deg: 90.0 },
        Tap { delay_ns: 1000.0, gain_db: -12.0, phase_deg: -45.0 },
    ];
    let link = Link { delay: Delay::Ns(500.0), gain_db: -1.0, taps: taps.clone(), ..Link::new(A, B) };
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![link]));
    let tone = Tone { hz: 3e6, amplitude: 0.4 };
    radios[0].sink.tuned(Tick(0), 450e6);
    radios[1].sources[0].tuned(Tick(0), 450e6);
    send(&mut radios[0], 100_000_000, 4, &tone.samples(100e6, 100_000_000, 4, 4000));
    let received = receive(&mut radios[1], 100_004_000, 4, 2000);
    let off = off(&received, |n| {
        let at_s = (100_004_000 + 4 * n) as f64 / 100e6;
        let mut sum = [0.0; 2];
        let direct = Tap { delay_ns: 0.0, gain_db: 0.0, phase_deg: 0.0 };
        for tap in [direct].iter().chain(&taps) {
            let way = Way {
                delay_s: (500.0 + tap.delay_ns) * 1e-9,
                gain_db: tap.gain_db - 1.0,
                sent_hz: 450e6,
                received_hz: 450e6,
                ..Way::PLAIN
            };
            let [re, im] = tone.received(way, at_s);
            let (sin, cos) = tap.phase_deg.to_radians().sin_cos();
            sum = [sum[0] + re * cos - im * sin, sum[1] + re * sin + im * cos];
        }
        sum
    });
    assert!(off < 3e-4, "{off:e}");
}

#[test]
fn without_a_link_there_is_silence_and_a_radio_receives_itself_only_over_a_link() {
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![Link::new(A, B)]));
    send(&mut radios[0], 1000, 4, &noise(1000));
    send(&mut radios[1], 1000, 4, &noise(1000));
    assert!(silent(&receive(&mut radios[0], 1000, 4, 1000)), "neither itself nor the other");
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![Link { gain_db: -6.0, ..Link::new(A, A) }]));
    send(&mut radios[0], 1000, 4, &noise(1000));
    assert!(receive(&mut radios[0], 1000, 4, 1000)[500].norm() > 0.0, "its own leakage");
    assert!(!radios[1].sink.wants_samples(), "nobody listens to the other");
}

#[test]
fn a_receiver_tuned_elsewhere_receives_nothing() {
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![Link::new(A, B)]));
    radios[0].sink.tuned(Tick(0), 900e6);
    send(&mut radios[0], 1_000_000, 4, &noise(4000));
    for centre_hz in [925.1e6, 874e6, 2.4e9, 1000e6] {
        radios[1].sources[0].tuned(Tick(0), centre_hz);
        assert!(silent(&receive(&mut radios[1], 1_002_000, 4, 1000)), "{centre_hz}");
    }
}

#[test]
fn a_tuning_holds_from_its_tick_on_though_samples_leave_later() {
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![Link::new(A, B)]));
    let sent = noise(4000);
    send(&mut radios[0], 1_000_000, 4, &sent);
    radios[1].sources[0].tuned(Tick(1_004_002), 2e9);
    radios[1].sources[0].tuned(Tick(1_008_000), 0.0);
    let received = receive(&mut radios[1], 1_000_000, 4, 4000);
    assert_eq!(received[..1001], sent[..1001]);
    assert!(silent(&received[1001..2000]));
    assert_eq!(received[2000..], sent[2000..]);
}

#[test]
fn what_is_sent_anew_replaces_the_rest_with_the_imbalance_of_its_tuning() {
    let link = Link { delay: Delay::Ns(77.7), ..Link::new(A, B) };
    let mut scene = scene(&[ModelName::N200, ModelName::X310], vec![link]);
    scene.radios[0].transmit = Imbalance { dc_offset_i: 0.125, iq_gain_db: 1.0, ..Imbalance::default() };
    let sent = noise(1000);
    let louder: Vec<_> = sent.iter().map(|x| x.scale(2.0)).collect();
    let tick = |n: u64| Tick(1_000_000 + 4 * n);
    let [mut replaced, mut at_once] = [joined(&scene), joined(&scene)];
    for radios in [&mut replaced, &mut at_once] {
        radios[0].sink.oscillator(Tick(0), 1e6);
    }
    replaced[0].sink.take(tick(0), 4, &sent, WHOLE);
    replaced[0].sink.take(tick(300), 4, &louder[300..], BurstEdges { start: false, end: true });
    replaced[0].sink.tuned(Tick(tick(700).0 - 1), 1e6);
    replaced[0].sink.take(tick(700), 4, &louder[700..], BurstEdges { start: false, end: true });
    at_once[0].sink.take(tick(0), 4, &[&sent[..300], &louder[300..700]].concat(), MIDDLE);
    at_once[0].sink.tuned(Tick(0), 1e6);
    at_once[0].sink.take(tick(700), 4, &louder[700..], WHOLE);
    let received = receive(&mut replaced[1], 2_000_000 - 400, 8, 1200);
    assert_eq!(received, receive(&mut at_once[1], 2_000_000 - 400, 8, 1200));
    assert!(received.iter().any(|x| x.norm() > 0.1));
}

#[test]
fn what_was_taken_before_the_clock_changed_is_received_though_it_leaves_later() {
    let mut radios = joined(&scene(&[ModelName::X310; 2], vec![Link::new(A, B)]));
    let sent = noise(1000);
    send(&mut radios[0], 1_000_000_000, 8, &sent);
    // From sample 500 on half as fast.
    radios[1].sources[0].clocked(Tick(1_000_003_999), Timebase::new(100_000_000, 1, 500_002_000));
    let received = receive(&mut radios[1], 1_000_000_000, 8, 501);
    assert_eq!(received[..500], sent[..500]);
    assert_ne!(received[500], sent[500]);
}

#[test]
fn what_a_break_takes_back_and_what_was_never_sent_is_silence() {
    let mut radios = joined(&scene(&[ModelName::N200; 2], vec![Link::new(A, B)]));
    radios[0].sink.take(Tick(1000), 10, &[Complex32::new(0.5, 0.0); 100], BurstEdges { start: true, end: false });
    radios[0].sink.take(Tick(1200), 10, &[], BurstEdges { start: false, end: true });
    let received = receive(&mut radios[1], 1000, 10, 100);
    assert!(received.iter().enumerate().all(|(n, x)| (x.re == 0.5) == (n < 20)));
}

#[test]
fn noise_has_its_power_and_is_that_of_its_seed() {
    let power =
        |received: &[Complex32]| received.iter().map(|x| f64::from(x.norm_sqr())).sum::<f64>() / received.len() as f64;
    // -30 dBFS of its own, and a link of -10 dB with 15 dB of distance: -25 dBFS.
    let link = Link { gain_db: -10.0, noise: Some(Noise::SnrDb(15.0)), ..Link::new(A, B) };
    let mut scene = scene(&[ModelName::N200; 3], vec![link, Link::new(A, C)]);
    scene.radios[1].receive.noise_dbfs = Some(-30.0);
    scene.radios[2].receive.noise_dbfs = Some(-30.0);
    let received = |scene: &Scene, radio: usize| receive(&mut joined(scene)[radio], 77_000, 4, 100_000);
    let (first, third) = (received(&scene, 1), received(&scene, 2));
    let meant = 10f64.powf(-3.0) + 10f64.powf(-2.5);
    assert!((power(&first) / meant - 1.0).abs() < 0.02, "{}", power(&first));
    assert!((power(&third) / 1e-3 - 1.0).abs() < 0.02, "{}", power(&third));
    assert_eq!(first, received(&scene, 1), "the same again");
    let correlation = first.iter().zip(&third).map(|(a, b)| a * b.conj()).sum::<Complex32>().norm() / 100_000.0;
    assert!(correlation < 3e-5, "each receiver has its own: {correlation}");
    scene.seed = 2;
    assert_ne!(first, received(&scene, 1), "another seed");
}

#[test]
fn what_is_beyond_full_scale_is_cut_off_and_counted() {
    let scene = scene(&[ModelName::N200; 2], vec![Link { gain_db: 20.0 * 3f64.log10(), ..Link::new(A, B) }]);
    let mut air = Air::new(&scene);
    let (mut a, _) = join(&mut air, A);
    let (mut b, counts) = join(&mut air, B);
    let mut sent = vec![Complex32::new(0.1, -0.1); 100];
    sent[40..50].fill(Complex32::new(0.5, -0.5));
    send(&mut a, 1000, 4, &sent);
    let received = receive(&mut b, 1000, 4, 100);
    assert_eq!(received[45], Complex32::new(1.0, -32_768.0 / 32_767.0));
    assert!((received[10] - Complex32::new(0.3, -0.3)).norm() < 1e-6);
    assert_eq!((counts.clipped_samples(), counts.lost_samples(), counts.late_samples()), (10, 0, 0));
}

#[test]
fn the_least_integer_of_a_converter_is_not_beyond_full_scale() {
    let scene = scene(&[ModelName::N200; 2], vec![Link::new(A, B)]);
    let mut air = Air::new(&scene);
    let (mut a, _) = join(&mut air, A);
    let (mut b, counts) = join(&mut air, B);
    // The gain of an N200's scale word differs from 1 in the sixth place.
    let least = Complex32::new(1.0, -32_768.0 / 32_767.0) * 1.000_003;
    send(&mut a, 1000, 4, &[least; 100]);
    let received = receive(&mut b, 1000, 4, 100);
    assert!(received.iter().all(|x| (x - least).norm() < 1e-6), "{}", received[50]);
    assert_eq!(counts.clipped_samples(), 0);
}

#[test]
fn what_is_sent_too_late_to_be_received_is_counted() {
    let scene = scene(&[ModelName::N200; 2], vec![Link { delay: Delay::Ns(400.0), ..Link::new(A, B) }]);
    let mut air = Air::new(&scene);
    let (mut a, counts) = join(&mut air, A);
    let (mut b, _) = join(&mut air, B);
    receive(&mut b, 1000, 4, 100); // up to tick 1400, so up to 1360 as it was sent
    a.sink.take(Tick(1200), 4, &noise(100), MIDDLE);
    assert_eq!(counts.late_samples(), 40);
    a.sink.take(Tick(1600), 4, &noise(100), MIDDLE);
    assert_eq!(counts.late_samples(), 40);
}

#[test]
fn a_receiver_that_comes_too_late_counts_what_it_lost() {
    let scene = scene(&[ModelName::N200; 2], vec![Link::new(A, B)]);
    let mut air = Air::new(&scene);
    let (mut a, _) = join(&mut air, A);
    let (mut b, counts) = join(&mut air, B);
    let kept = 1u64 << 22;
    let block = vec![Complex32::new(0.25, 0.0); 16_384];
    for n in 0..kept / 16_384 + 2 {
        a.sink.take(Tick(4 * 16_384 * n), 4, &block, MIDDLE);
    }
    let received = receive(&mut b, 0, 4, 40_000);
    assert_eq!(counts.lost_samples(), 32_768);
    assert_eq!((received[0].re, received[32_768].re), (0.0, 0.25));
}

#[test]
fn at_the_longest_latency_and_delay_a_transmitter_at_its_highest_rate_is_received_whole() {
    for model in ModelName::ALL {
        let link = Link { delay: Delay::Ns(LONGEST_DELAY_NS), ..Link::new(A, B) };
        let latency = Duration::from_micros(LATENCY_US[2].into());
        let scene = Scene { latency, ..scene(&[model; 2], vec![link]) };
        let mut air = Air::new(&scene);
        let (mut a, _) = join(&mut air, A);
        let (mut b, counts) = join(&mut air, B);
        // A packet of 2000 samples leaves when its last one is so old; by then all of this was sent.
        let delay = (LONGEST_DELAY_NS * 1e-9 * clock_hz(model)) as u64;
        let sent = delay + 2000 + (latency.as_secs_f64() * clock_hz(model)) as u64;
        let block = vec![Complex32::new(0.25, 0.0); 16_384];
        for n in 0..=sent / 16_384 {
            a.sink.take(Tick(16_384 * n), 1, &block, MIDDLE);
        }
        let received = receive(&mut b, delay, 1, 2000);
        assert_eq!(counts.lost_samples(), 0, "{model:?}");
        assert!(received.iter().all(|x| x.re == 0.25), "{model:?}");
    }
}

#[test]
fn a_fast_transmitter_runs_away_and_is_received_higher() {
    // 2.5 ppm against -1.5 ppm: 4 ppm of pace, and 9.6 kHz at 2.4 GHz.
    let mut scene = scene(&[ModelName::N200; 2], vec![Link { delay: Delay::Ns(50.0), ..Link::new(A, B) }]);
    scene.radios[0].clock_offset_hundredths_ppm = 250;
    scene.radios[1].clock_offset_hundredths_ppm = -150;
    let [fast, slow] = [1.0 + 2.5e-6, 1.0 - 1.5e-6];
    let mut radios = joined(&scene);
    radios[0].sink.tuned(Tick(0), 2.4e9);
    radios[1].sources[0].tuned(Tick(0), 2.4e9);
    let tone = Tone { hz: 2e6, amplitude: 0.5 };
    for second in [5u64, 3600] {
        // The same instant on both counters.
        let sent_first = (second as f64 * 100e6 * fast) as u64 / 4 * 4;
        let first_received = (second as f64 * 100e6 * slow) as u64 + 4000;
        send(&mut radios[0], sent_first, 4, &tone.samples(100e6, sent_first, 4, 6000));
        let received = receive(&mut radios[1], first_received, 4, 3000);
        let meant = Tone { hz: tone.hz * fast, ..tone };
        let way = Way { delay_s: 50e-9, sent_hz: 2.4e9 * fast, received_hz: 2.4e9 * slow, ..Way::PLAIN };
        // In f64 a phase of 10^13 turns is known to a thousandth: the first sample says the rest.
        let at_s = |n: usize| n as f64 * 4.0 / (100e6 * slow);
        let [re, im] = meant.received(way, 0.0);
        let turn = received[0] / Complex32::new(re as f32, im as f32);
        assert!((turn.norm() - 1.0).abs() < 1e-3, "{turn}");
        let off = off(&received, |n| {
            let [re, im] = meant.received(way, at_s(n));
            let turned = Complex32::new(re as f32, im as f32) * turn;
            [f64::from(turned.re), f64::from(turned.im)]
        });
        assert!(off < 1e-3, "{second} s: {off:e}");
    }
}

#[test]
fn imbalance_of_either_side_is_received() {
    let mut scene = scene(&[ModelName::N200; 2], vec![Link::new(A, B)]);
    scene.radios[0].transmit = Imbalance { dc_offset_i: 0.125, ..Imbalance::default() };
    scene.radios[1].receive.imbalance =
        Imbalance { dc_offset_q: -0.25, iq_gain_db: 20.0 * 2f64.log10(), ..Imbalance::default() };
    let mut radios = joined(&scene);
    send(&mut radios[0], 1000, 4, &[Complex32::new(0.25, 0.125); 100]);
    let received = receive(&mut radios[1], 1000 - 40, 4, 60);
    assert!(received[..10].iter().all(|x| (x - Complex32::new(0.0, -0.25)).norm() < 1e-6), "a receiver has it always");
    assert!(received[10..].iter().all(|x| (x - Complex32::new(0.375, 0.0)).norm() < 1e-6), "{}", received[20]);
}

#[test]
fn another_master_clock_begins_anew_at_the_same_instants() {
    let mut radios = joined(&scene(&[ModelName::X310, ModelName::X310], vec![Link::new(A, B)]));
    send(&mut radios[0], 1_000_000_000, 8, &noise(500));
    assert!(!silent(&receive(&mut radios[1], 1_000_000_000, 8, 100)));
    // Both at LTE's clock, set at different instants, so that their counters differ.
    let (sent, received) = (Timebase::new(184_320_000, 1, 78_400_123), Timebase::new(184_320_000, 1, -5));
    radios[0].sink.clocked(Tick(1_000_100_000), sent);
    radios[1].sources[0].clocked(Tick(1_000_200_000), received);
    let second = 6 * 184_320_000u64;
    // Samples sent at another rate are over, and are not received where their ticks would lie now.
    assert!(silent(&receive(&mut radios[1], 1_000_000_000 - 5, 8, 500)));
    let samples = noise(500);
    send(&mut radios[0], second + 78_400_123, 6, &samples);
    assert_eq!(receive(&mut radios[1], second - 5, 6, 500), samples, "one by one");
    assert_eq!(radios[1].sources[0].lookahead(Tick(0), 6), Ticks(368_640), "2 ms of its clock");
}

#[test]
fn packets_wait_as_long_as_the_scene_says() {
    let scene = Scene { latency: Duration::from_millis(5), ..scene(&[ModelName::N200; 2], vec![Link::new(A, B)]) };
    let radios = joined(&scene);
    assert_eq!(radios[1].sources[0].lookahead(Tick(0), 4), Ticks(500_000));
    assert_eq!(radios[0].sources[0].lookahead(Tick(0), 4), Ticks(0), "nobody is received there");
}

#[test]
fn hostile_steps_and_ticks_are_no_panic() {
    let mut radios = joined(&scene(
        &[ModelName::N200, ModelName::X310],
        vec![Link { delay: Delay::Samples(0.5), ..Link::new(A, B) }],
    ));
    for step in [1, 3, 1 << 16, u32::MAX] {
        for first in [0, 1 << 40, u64::MAX - 5] {
            radios[0].sink.tuned(Tick(first), f64::from(step) * 1e6);
            radios[0].sink.take(Tick(first), step, &noise(50), WHOLE);
            for received in [1, 7, 1 << 16, u32::MAX] {
                receive(&mut radios[1], first, received, 20);
            }
        }
    }
    assert!(silent(&receive(&mut radios[1], 1000, 0, 10)));
    radios[1].sources[0].clocked(Tick(5), Timebase::new(1, u64::MAX, i64::MIN));
    radios[0].sink.clocked(Tick(5), Timebase::new(u64::MAX, 1, i64::MAX));
    radios[0].sink.take(Tick(9), 4, &noise(50), WHOLE);
    receive(&mut radios[1], 9, 4, 20);
}
