//! Whatever arrives, all that comes out is finite.

use num_complex::Complex32;
use proptest::prelude::*;
use takt_lte::{Bandwidth, ChannelEstimator, Numerology, ResourceGrid, Sampling, Tracker, Tti, equalise, match_filter};

use super::channel::{Channel, EPA, received};
use super::signal::{self, Random};

/// Any bits make a float: numbers of all sizes, infinities, and what is no number.
fn strange(random: &mut Random) -> f32 {
    match random.next() % 8 {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        3 => f32::MAX,
        4 => 0.0,
        5 => f32::MIN_POSITIVE / 8.0,
        _ => f32::from_bits(random.next() as u32),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn strange_elements_give_finite_estimates(seed: u64, share in 0u64..=16, width in 0usize..3) {
        let mut random = Random(seed);
        let bandwidth = Bandwidth::ALL[width];
        let cell = signal::cell((seed % 504) as u16, bandwidth);
        let mut grid = signal::subframe(&cell, Tti::new(seed), &mut random);
        for element in grid.elements_mut() {
            if random.next() % 16 < share {
                *element = Complex32::new(strange(&mut random), strange(&mut random));
            }
        }
        let mut estimator = ChannelEstimator::new(cell.id, bandwidth);
        let estimate = estimator.estimate(Tti::new(seed), &grid);
        prop_assert!(estimate.gains.elements().iter().all(|gain| gain.re.is_finite() && gain.im.is_finite()));
        let figures = [
            estimate.noise_power,
            estimate.signal_power,
            estimate.timing_samples,
            estimate.frequency_hz,
            estimate.snr_db(),
        ];
        prop_assert!(figures.iter().all(|figure| figure.is_finite()), "{:?}", figures);
        prop_assert!(estimate.noise_power >= 0.0 && estimate.signal_power >= 0.0);
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        let correction = Tracker::new(&numerology, 0.0).update(estimate);
        prop_assert!(correction.frequency_hz.is_finite() && correction.shift_samples.unsigned_abs() < 200);
    }

    #[test]
    fn strange_gains_give_finite_symbols(seed: u64, len in 0usize..40) {
        let mut random = Random(seed);
        let mut draw = || (0..len).map(|_| Complex32::new(strange(&mut random), strange(&mut random))).collect::<Vec<_>>();
        let (elements, gains) = (draw(), draw());
        let (mut symbols, mut weights) = (vec![Complex32::default(); len], vec![0.0; len]);
        for one in [equalise, match_filter] {
            one(&elements, &gains, &mut symbols, &mut weights);
            prop_assert!(symbols.iter().all(|symbol| symbol.re.is_finite() && symbol.im.is_finite()));
            prop_assert!(weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0));
        }
    }

    #[test]
    fn the_channel_is_taken_off(seed: u64) {
        let mut random = Random(seed);
        let cell = signal::cell(9, Bandwidth::Prb6);
        let sent = signal::subframe(&cell, Tti::new(0), &mut random);
        let gains = Channel::fading(EPA, 5.0, &mut random).gains(cell.bandwidth, 0.0);
        let grid = received(&sent, &gains, 0.0, &mut random);
        let len = sent.elements().len();
        let (mut symbols, mut weights) = (vec![Complex32::default(); len], vec![0.0; len]);
        equalise(grid.elements(), gains.elements(), &mut symbols, &mut weights);
        for (sent, symbol) in sent.elements().iter().zip(&symbols) {
            prop_assert!((sent - symbol).norm() < 1e-4);
        }
        let divided = symbols.clone();
        match_filter(grid.elements(), gains.elements(), &mut symbols, &mut weights);
        for ((divided, symbol), weight) in divided.iter().zip(&symbols).zip(&weights) {
            prop_assert!((divided * weight - symbol).norm() < 1e-4);
        }
    }

    #[test]
    fn estimates_follow_the_scale_of_a_grid(seed: u64, power in -12i32..12) {
        let mut random = Random(seed);
        let cell = signal::cell(100, Bandwidth::Prb15);
        let sent = signal::subframe(&cell, Tti::new(3), &mut random);
        let gains = Channel::fading(EPA, 5.0, &mut random).gains(cell.bandwidth, 0.0);
        let grid = received(&sent, &gains, 0.01, &mut random);
        let scale = 2f32.powi(3 * power);
        let mut scaled = grid.clone();
        scaled.elements_mut().iter_mut().for_each(|element| *element *= scale);
        let mut estimator = ChannelEstimator::new(cell.id, cell.bandwidth);
        let plain = estimator.estimate(Tti::new(3), &grid).clone();
        let other = estimator.estimate(Tti::new(3), &scaled);
        prop_assert!((other.noise_power / plain.noise_power / scale / scale - 1.0).abs() < 1e-4);
        prop_assert!((other.snr_db() - plain.snr_db()).abs() < 1e-3);
        prop_assert!((other.timing_samples - plain.timing_samples).abs() < 1e-4);
        let largest = plain.gains.elements().iter().map(|gain| gain.norm()).fold(0.0, f32::max);
        for (plain, other) in plain.gains.elements().iter().zip(other.gains.elements()) {
            prop_assert!((plain * scale - other).norm() < 1e-4 * scale * largest);
        }
    }
}

#[test]
fn nothing_received_is_no_signal() {
    let mut estimator = ChannelEstimator::new(signal::cell(0, Bandwidth::Prb6).id, Bandwidth::Prb6);
    let estimate = estimator.estimate(Tti::new(0), &ResourceGrid::new(Bandwidth::Prb6));
    assert_eq!((estimate.signal_power, estimate.noise_power, estimate.snr_db()), (0.0, 0.0, -30.0));
}
