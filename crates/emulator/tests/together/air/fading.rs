//! Links that fade: the same under a seed, cut anywhere, on whole radios; powers over time. The gains themselves are judged in
//! `takt_dsp`, and a receiver's sum over its paths beside the code, where the seeds are known.

use proptest::prelude::*;
use takt_base::{Complex32, Tick};
use takt_emulator::air::{Air, Delay, Link, ModelName, Scene};
use takt_emulator::n200::Signals;
use takt_emulator::sink::{BurstEdges, Null};
use takt_emulator::source::Silence;
use takt_wire::sample::Format;

use super::n200::ms;
use super::radios::{A, B, Place, n200_sends, time_at, x310_received};

const WHOLE: BurstEdges = BurstEdges { start: true, end: true };

fn scene(models: [ModelName; 2], fading: &str, seed: u64) -> Scene {
    let fading = Some(fading.parse().unwrap());
    let radio = |n: usize| {
        let addr = std::net::Ipv4Addr::new(192, 168, 10, n as u8 + 2);
        takt_emulator::air::Radio::new(&format!("r{n}"), models[n], addr)
    };
    let links = vec![
        Link { fading, delay: Delay::Ns(200.0), ..Link::new(A, B) },
        Link { fading, delay: Delay::Ns(200.0), ..Link::new(B, A) },
    ];
    Scene { seed, radios: vec![radio(0), radio(1)], links, ..Scene::default() }
}

fn joined(scene: &Scene) -> [Signals; 2] {
    let mut air = Air::new(scene);
    [A, B].map(|end| air.join(end, [Box::new(Silence), Box::new(Silence)], Box::new(Null)).0)
}

/// A carrier of 0.1 that one N200 receives of the other from `first` on.
fn carrier(scene: &Scene, sender: usize, first: u64, step: u32, n: usize) -> Vec<Complex32> {
    let mut radios = joined(scene);
    let edge = 100 * u64::from(step);
    radios[sender].sink.take(Tick(first - edge), step, &vec![Complex32::new(0.1, 0.0); n + 200], WHOLE);
    let mut out = vec![Complex32::default(); n];
    radios[1 - sender].sources[0].fill(Tick(first), step, &mut out);
    out
}

#[test]
fn a_seed_decides_and_each_direction_has_its_own_fading() {
    let of = |seed, sender| carrier(&scene([ModelName::N200; 2], "ETU 300", seed), sender, 1_000_000_000, 500, 4000);
    let (one, back) = (of(1, 0), of(1, 1));
    assert_eq!((&one, &back), (&of(1, 0), &of(1, 1)));
    let apart = |a: &[Complex32], b: &[Complex32]| a.iter().zip(b).filter(|(a, b)| (**a - **b).norm() > 0.005).count();
    for other in [&back, &of(2, 0), &of(2, 1)] {
        assert!(apart(&one, other) > 3000, "{}", apart(&one, other));
    }
    // 6 periods of the highest Doppler frequency: not steady.
    let norms = || one.iter().map(|x| x.norm());
    let (least, most) = (norms().fold(1.0, f32::min), norms().fold(0.0, f32::max));
    assert!(most > 2.0 * least, "{least} {most}");
}

/// Over time the power is that of a steady path; at each instant it need not be.
#[test]
fn a_faded_carrier_has_the_power_of_a_steady_one() {
    let (mut power, mut deep, mut count) = (0.0, 0, 0);
    for seed in 0..60 {
        let scene = scene([ModelName::N200; 2], "EPA 300", seed);
        // 0.06 s: 18 periods.
        let received = carrier(&scene, 0, 500_000_000 + 7_000_000 * seed, 500, 12_000);
        power += received.iter().map(|x| f64::from(x.norm_sqr())).sum::<f64>();
        deep += received.iter().filter(|x| x.norm_sqr() < 0.001).count();
        count += received.len();
    }
    let mean = power / count as f64 / 0.01;
    assert!((mean - 1.0).abs() < 0.1, "{mean}");
    // EPA is nearly flat for a carrier: 1 - exp(-0.1) of the time it is 10 dB down.
    let share = deep as f64 / count as f64;
    assert!((share / 0.0952 - 1.0).abs() < 0.25, "{share}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(30) })]

    #[test]
    fn cuts_change_nothing(
        profile in prop_oneof![Just("EPA 5"), Just("EVA 70"), Just("ETU 300")], i in 2u32..20, d in 2u32..20, first in 2_000_000u64..1 << 40,
        cut in 1usize..1500, offset in prop_oneof![Just(0.0), -1e5..1e5], seed in any::<u64>(),
    ) {
        let mut scene = scene([ModelName::N200, ModelName::X310], profile, seed);
        scene.links[0].frequency_offset_hz = offset;
        let mut sent = vec![Complex32::default(); 2000];
        takt_dsp::noise(9, 0.05, Tick(0), 1, &mut sent);
        let receive = |pieces: &[(usize, usize)]| {
            let mut radios = joined(&scene);
            radios[0].sink.take(Tick(first), i, &sent, WHOLE);
            let mut out = Vec::new();
            for &(from, n) in pieces {
                let mut piece = vec![Complex32::default(); n];
                radios[1].sources[0].fill(Tick(2 * first - 50 + from as u64 * u64::from(d)), d, &mut piece);
                out.extend(piece);
            }
            out
        };
        let whole = receive(&[(0, 1500)]);
        prop_assert!(whole.iter().any(|x| x.norm() > 0.0));
        prop_assert_eq!(whole, receive(&[(0, cut), (cut, 1500 - cut)]));
    }
}

/// Whole radios and their hosts: 20 ms of a steady signal from an N200 to an X310.
fn over_the_virtual_clock(seed: u64) -> Vec<Complex32> {
    let mut place = Place::of(scene([ModelName::N200, ModelName::X310], "EVA 300", seed));
    let (mut a, mut b) = (place.n200(0), place.x310(1));
    b.prepare();
    b.open_rx(0, 200, 1000); // 1 MS/s
    a.open_tx(100, Format::Sc16);
    let instant = place.world.now().0 / 1000 * 1000 + 50_000_000;
    n200_sends(&mut a, 100, time_at(100_000_000, instant), &[Complex32::new(0.2, 0.0); 21_000]);
    b.stream(0, 1, 20_000, Some(time_at(200_000_000, instant + 500_000)));
    b.run(ms(120));
    x310_received(&b, 0, 200).1
}

#[test]
fn two_radios_on_the_virtual_clock_see_the_fading_of_the_seed() {
    let received = over_the_virtual_clock(3);
    assert_eq!(received.len(), 20_000);
    assert_eq!(received, over_the_virtual_clock(3));
    let norms = || received.iter().map(|x| x.norm());
    let (least, most) = (norms().fold(1.0, f32::min), norms().fold(0.0, f32::max));
    assert!(most > 2.0 * least && most < 1.0, "{least} {most}");
    // Slow, as 300 Hz are: not from one sample to the next.
    let jump = received.windows(2).map(|pair| (pair[1] - pair[0]).norm()).fold(0.0, f32::max);
    assert!(jump < 0.003, "{jump}");
    let other = over_the_virtual_clock(4);
    assert!(received.iter().zip(&other).filter(|(a, b)| (**a - **b).norm() > 0.01).count() > 15_000);
}
