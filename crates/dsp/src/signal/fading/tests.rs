use std::f64::consts::TAU;

use num_complex::Complex64;
use proptest::prelude::*;

use super::*;

/// A clock whose ticks are samples of a slow signal: 1000 in a period of the highest Doppler frequency.
const TICKS_A_PERIOD: f64 = 1000.0;

fn model(text: &str) -> FadingModel {
    text.parse().unwrap()
}

fn slow(text: &str, seed: u64) -> Fading {
    Fading::new(model(text), TICKS_A_PERIOD * f64::from(model(text).doppler_hz()), seed)
}

/// Gains of a tap at `n` ticks, so many apart, each divided by the root of its mean power.
fn series(fading: &Fading, tap: usize, step: u32, n: usize) -> Vec<Complex64> {
    let share = fading.model().profile.shares().nth(tap).unwrap();
    let mut out = vec![Complex32::default(); n];
    fading.add(tap, Tick(1 << 40), step, &vec![Complex32::new(1.0, 0.0); n], &mut out);
    out.iter().map(|x| Complex64::new(x.re.into(), x.im.into()) / share.sqrt()).collect()
}

fn correlation(a: &[Complex64], b: &[Complex64]) -> Complex64 {
    a.iter().zip(b).map(|(a, b)| a.conj() * b).sum::<Complex64>() / a.len().min(b.len()) as f64
}

/// By its power series.
fn bessel_j0(x: f64) -> f64 {
    let (mut sum, mut term) = (0.0, 1.0);
    for k in 1..200 {
        sum += term;
        term *= -x * x / 4.0 / f64::from(k * k);
    }
    sum
}

/// The sum by the book, in f64, without knots.
fn exact(fading: &Fading, tap: usize, tick: u64) -> Complex64 {
    let waves = &fading.taps[tap];
    let wave = |n: usize| {
        let phase = waves.phases[n].wrapping_add(waves.turns[n].wrapping_mul(tick)) as f64 / 2f64.powi(64);
        Complex64::from_polar(waves.amplitude.into(), phase * TAU)
    };
    (0..WAVES).map(wave).sum()
}

#[test]
fn over_a_long_time_each_tap_has_its_share_of_the_power_whatever_the_seed() {
    for name in ["EPA 5", "EVA 70", "ETU 300"] {
        for seed in 0..10 {
            let fading = slow(name, seed);
            let mut total = 0.0;
            for (tap, share) in fading.model().profile.shares().enumerate() {
                // 4000 periods.
                let power = correlation_power(&series(&fading, tap, 317, 12_600));
                assert!((power - 1.0).abs() < 0.05, "{name} seed {seed} tap {tap}: {power}");
                total += power * share;
            }
            assert!((total - 1.0).abs() < 0.02, "{name} seed {seed}: {total}");
        }
    }
}

fn correlation_power(gains: &[Complex64]) -> f64 {
    correlation(gains, gains).re
}

#[test]
fn the_autocorrelation_is_that_of_waves_from_all_around() {
    // The limit of a long time, from the frequencies alone.
    for seed in 0..200 {
        let waves = &slow("EVA 70", seed).taps[seed as usize % 9];
        for tenths in 0..=50 {
            let x = TAU * f64::from(tenths) / 10.0;
            let limit = waves.cosines.iter().map(|cosine| Complex64::cis(x * cosine)).sum::<Complex64>() / WAVES as f64;
            assert!((limit - bessel_j0(x)).norm() < 1e-3, "seed {seed}, {tenths} tenths: {limit}");
        }
    }
    // And of what comes out.
    for (name, tap) in [("EPA 5", 0), ("EVA 70", 8), ("ETU 300", 3)] {
        let gains = series(&slow(name, 5), tap, 100, 40_000);
        for tenths in 0..=30 {
            let found = correlation(&gains, &gains[tenths..]);
            let meant = bessel_j0(TAU * tenths as f64 / 10.0);
            assert!((found - meant).norm() < 0.03, "{name}: {tenths} tenths of a period: {found}, not {meant}");
        }
    }
}

/// The share of the power below a frequency f of a classical spectrum is 1/2 + asin(f / fd) / pi.
#[test]
fn the_spectrum_is_the_classical_one_and_ends_at_the_doppler_frequency() {
    const COUNT: usize = 8192;
    const STEP: u32 = 250; // four samples in a period
    for seed in 0..5 {
        let mut spectrum = series(&slow("ETU 70", seed), 4, STEP, COUNT);
        // Without side lobes to speak of.
        for (n, x) in spectrum.iter_mut().enumerate() {
            *x *= (TAU * (n as f64 + 0.5) / COUNT as f64).cos() - 1.0;
        }
        takt_fft::forward64(COUNT).process(&mut spectrum);
        let total: f64 = spectrum.iter().map(Complex64::norm_sqr).sum();
        let below = |f: f64| -> f64 {
            let frequency = |k: usize| {
                let k = k as f64 / COUNT as f64;
                4.0 * if k < 0.5 { k } else { k - 1.0 }
            };
            let power = |(k, x): (usize, &Complex64)| if frequency(k) < f { x.norm_sqr() } else { 0.0 };
            spectrum.iter().enumerate().map(power).sum::<f64>() / total
        };
        for tenths in -9..=9 {
            let f = f64::from(tenths) / 10.0;
            let meant = 0.5 + f.asin() / std::f64::consts::PI;
            assert!((below(f) - meant).abs() < 0.05, "seed {seed}: {} of the power below {f}, not {meant}", below(f));
        }
        assert!(below(-1.01) < 1e-6 && below(1.01) > 1.0 - 1e-6);
    }
}

#[test]
fn magnitudes_are_rayleighs_and_fades_as_frequent_as_they_ought_to_be() {
    // 100 seeds, 40 periods each, 100 samples in a period.
    let (mut magnitudes, mut crossings) = (Vec::new(), [0.0; 3]);
    let levels = [0.1, 0.3, 1.0];
    for seed in 0..100 {
        let gains: Vec<f64> =
            series(&slow("EPA 70", seed), seed as usize % 7, 10, 4000).iter().map(|x| x.norm()).collect();
        for (level, crossings) in levels.iter().zip(&mut crossings) {
            *crossings += gains.windows(2).filter(|pair| pair[0] >= *level && pair[1] < *level).count() as f64;
        }
        magnitudes.extend(gains);
    }
    for power in [0.001, 0.01, 0.1, 0.3, 1.0, 2.0, 4.0] {
        let below = magnitudes.iter().filter(|x| x.powi(2) < power).count() as f64 / magnitudes.len() as f64;
        let meant = 1.0 - f64::exp(-power);
        assert!((below / meant - 1.0).abs() < 0.15, "{below} of the powers below {power}, not {meant}");
    }
    // Rice: sqrt(2 pi) fd rho exp(-rho^2) a second.
    for (level, crossings) in levels.iter().zip(crossings) {
        let meant = 4000.0 * TAU.sqrt() * level * f64::exp(-level * level);
        assert!((crossings / meant - 1.0).abs() < 0.15, "level {level}: {crossings} crossings, not {meant}");
    }
}

#[test]
fn taps_and_seeds_are_independent() {
    let series = |seed, tap| series(&slow("EVA 70", seed), tap, 317, 12_600);
    let all: Vec<_> =
        [(1, 0), (1, 1), (1, 8), (2, 0), (2, 1), (u64::MAX, 0)].map(|(seed, tap)| series(seed, tap)).into();
    for (n, a) in all.iter().enumerate() {
        for b in &all[..n] {
            assert!(correlation(a, b).norm() < 0.1, "{}", correlation(a, b));
            // Nor is one the mirror image of another.
            let mirrored: Vec<_> = b.iter().map(Complex64::conj).collect();
            assert!(correlation(a, &mirrored).norm() < 0.1);
        }
    }
}

/// Also over times as short as trials are. Two Gaussian processes of that length correlate by 0.096 (root of the mean square): the
/// root of the mean of J0^2 over the length, over the length.
#[test]
fn over_a_hundred_periods_taps_have_little_in_common() {
    let (mut squares, mut most, mut pairs) = (0.0, 0.0f64, 0.0);
    for seed in 0..20 {
        let fading = slow("EVA 5", seed);
        let taps: Vec<_> = (0..9).map(|tap| series(&fading, tap, 250, 400)).collect();
        for (n, a) in taps.iter().enumerate() {
            for b in &taps[..n] {
                let found = correlation(a, b).norm();
                (squares, most, pairs) = (squares + found.powi(2), most.max(found), pairs + 1.0);
            }
        }
    }
    assert!(f64::sqrt(squares / pairs) < 0.12, "{}", f64::sqrt(squares / pairs));
    assert!(most < 0.4, "{most}");
}

/// Another clock of another radio: the same instants, the same gains.
#[test]
fn a_gain_belongs_to_an_instant_and_not_to_a_clock() {
    let mut fading = Fading::new(model("ETU 300"), 100e6, 7);
    let second = |fading: &Fading, clock_hz: u64| fading.gain(8, Tick(clock_hz / 4 * 13));
    let gain = second(&fading, 100_000_000);
    fading.set_clock(184.32e6);
    assert!((second(&fading, 184_320_000) - gain).norm() < 1e-4);
    fading.set_clock(100e6);
    assert_eq!(second(&fading, 100_000_000), gain);
}

proptest! {
    #[test]
    fn knots_cost_no_more_than_80_db(
        profile in 0usize..3, doppler in 0usize..4, clock_hz in 1e5f64..4e9, seed in any::<u64>(), tap in 0usize..7, tick in 0u64..1 << 60,
    ) {
        let model = FadingModel::new(DelayProfile::ALL[profile], FadingModel::DOPPLER_HZ[doppler]).unwrap();
        let fading = Fading::new(model, clock_hz, seed);
        let gain = fading.gain(tap, Tick(tick));
        let off = (Complex64::new(gain.re.into(), gain.im.into()) - exact(&fading, tap, tick)).norm();
        // 1e-4 of the largest that the waves can add up to.
        let limit = 1e-4 * f64::from(fading.taps[tap].amplitude) * WAVES as f64;
        prop_assert!(off < limit, "{off:e} {limit:e}");
    }

    #[test]
    fn cut_anywhere_gains_are_the_same_bits(
        seed in any::<u64>(), clock_hz in 1e3f64..3e8, first in any::<u64>(), step in 0u32..5000, cut in 0usize..300, tap in 0usize..7,
    ) {
        let fading = Fading::new(model("EPA 300"), clock_hz, seed);
        let input: Vec<_> = (0..300).map(|n| Complex32::new(n as f32, 1.0)).collect();
        let mut whole = vec![Complex32::new(0.5, -0.5); 300];
        let (mut parts, mut scalar) = (whole.clone(), whole.clone());
        fading.add(tap, Tick(first), step, &input, &mut whole);
        let (a, b) = parts.split_at_mut(cut);
        let tick = |n: usize| Tick(first.wrapping_add(n as u64 * u64::from(step)));
        fading.add(tap, Tick(first), step, &input[..cut], a);
        fading.add(tap, tick(cut), step, &input[cut..], b);
        prop_assert_eq!(&whole, &parts);
        add_scalar(&fading.taps[tap], fading.spacing, first, step, &input, &mut scalar);
        prop_assert_eq!(&whole, &scalar, "wide and narrow kernels");
        prop_assert_eq!(whole[cut.min(299)], input[cut.min(299)] * fading.gain(tap, tick(cut.min(299))) + Complex32::new(0.5, -0.5));
    }

    #[test]
    fn no_clock_tick_step_or_sample_is_too_odd(
        clock_bits in any::<u64>(), first in prop_oneof![any::<u64>(), Just(u64::MAX), u64::MAX - 2000..u64::MAX],
        step in prop_oneof![any::<u32>(), 0u32..3, Just(u32::MAX)],
        bits in prop::collection::vec(any::<(u32, u32)>(), 0..50),
    ) {
        let fading = Fading::new(model("ETU 200"), f64::from_bits(clock_bits), clock_bits);
        prop_assert!((0..9).all(|tap| fading.gain(tap, Tick(first)).is_finite()));
        let input: Vec<_> = bits.iter().map(|&(re, im)| Complex32::new(f32::from_bits(re), f32::from_bits(im))).collect();
        fading.add(8, Tick(first), step, &input, &mut vec![Complex32::default(); input.len()]);
        let mut out = vec![Complex32::default(); input.len()];
        FadingChannel::new(model("EPA 5"), f64::from_bits(clock_bits), 1).add(&input, Tick(first), step, bits.len() / 2, &mut out);
    }
}

#[test]
fn a_clock_that_is_none_does_not_fade() {
    for clock_hz in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let fading = Fading::new(model("EPA 5"), clock_hz, 3);
        assert_eq!(fading.gain(1, Tick(0)), fading.gain(1, Tick(1 << 50)), "{clock_hz}");
    }
}

/// A tone through a channel is its sum over the taps, each late by its delay, in f64; in pieces as in one.
#[test]
fn a_tone_comes_over_all_taps_with_their_delays() {
    let (clock_hz, step, seed) = (30.72e6, 4u32, 11);
    for name in ["EPA 300", "EVA 70", "ETU 300"] {
        let mut channel = FadingChannel::new(model(name), clock_hz, seed);
        let first = 1_000_000_007u64;
        let hz = 1.1e6; // of 7.68 MS/s
        let mut sent = vec![Complex32::default(); 3000];
        crate::tone(Rotation::from_turns(hz / clock_hz), 0.5, Tick(first), step, &mut sent);
        let mut received = vec![Complex32::default(); 2800];
        channel.add(&sent, Tick(first), step, 100, &mut received);
        for (n, x) in received.iter().enumerate() {
            let tick = first + (100 + n as u64) * u64::from(step);
            let path = |(tap, profile): (usize, &ProfileTap)| {
                let turns = (tick as f64 / clock_hz - profile.delay_ns * 1e-9) * hz;
                exact(channel.fading(), tap, tick) * Complex64::from_polar(0.5, (turns - turns.floor()) * TAU)
            };
            let meant: Complex64 = channel.fading().model().profile.taps().iter().enumerate().map(path).sum();
            let off = (Complex64::new(x.re.into(), x.im.into()) - meant).norm();
            assert!(off < 3e-4, "{name} {n}: {off:e}");
        }
        let mut pieces = vec![Complex32::default(); 2800];
        for (n, piece) in pieces.chunks_mut(700).enumerate() {
            // All that reaches this block: before it the longest delay of 39 samples, too.
            let begin = 100 + 700 * n - 70;
            let input = &sent[begin..(begin + 870).min(3000)];
            channel.add(input, Tick(first + begin as u64 * u64::from(step)), step, 70, piece);
        }
        assert_eq!(received, pieces, "{name}");
    }
}
