//! The search says no: to noise, carriers, silence and samples that are no numbers.

use std::f32::consts::PI;

use num_complex::Complex32;
use proptest::prelude::*;
use takt_lte::{Bandwidth, CellId, CellSearch, Numerology, Sampling};

use super::air::{Chance, Load, Received, add_noise};

fn numerology(bandwidth: Bandwidth) -> Numerology {
    Numerology::new(bandwidth, Sampling::Standard).unwrap()
}

fn cell() -> Received {
    Received {
        id: CellId::new(301).unwrap(),
        load: Load::Full,
        amplitude: 1.0,
        frame_begin: 12_000.0,
        frequency_hz: 2e3,
        ppm: 0.0,
    }
}

#[test]
fn noise_holds_no_cell() {
    let (prb6, prb25) = (numerology(Bandwidth::Prb6), numerology(Bandwidth::Prb25));
    let (long, most) = if std::env::var_os("TAKT_LONG_TESTS").is_some() { (1000, 3) } else { (60, 0) };
    for numerology in [prb6, prb25] {
        let mut search = CellSearch::new(numerology);
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        let mut alarms = 0;
        for seed in 0..long {
            samples.fill(Complex32::default());
            add_noise(numerology, 0.0, 0xA1A2 + seed, &mut samples);
            alarms += usize::from(!search.search(&samples).is_empty());
        }
        assert!(alarms <= most, "{alarms} of {long} searches in noise found a cell");
    }
}

#[test]
fn a_downlink_without_synchronisation_holds_no_cell() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let mut samples = vec![Complex32::default(); search.samples_wanted()];
    for seed in 0..20 {
        let other = Received { load: Load::Foreign, frequency_hz: -2e3, ..cell() };
        samples.fill(Complex32::default());
        other.add_to(numerology, &mut Chance(seed), &mut samples);
        assert_eq!(search.search(&samples), [], "{seed}");
    }
}

#[test]
fn a_carrier_is_no_cell_with_and_without_noise() {
    for bandwidth in [Bandwidth::Prb6, Bandwidth::Prb25] {
        let numerology = numerology(bandwidth);
        let mut search = CellSearch::new(numerology);
        let mut samples = vec![Complex32::default(); search.samples_wanted()];
        for hz in [0.0, 15e3, -15e3, 1e3, 7.5e3, -123_456.0, 465e3, 480e3, 600e3, 945e3] {
            for noise in [None, Some(40.0), Some(0.0)] {
                let turns = hz / numerology.rate_sps();
                for (at, sample) in samples.iter_mut().enumerate() {
                    *sample = Complex32::from_polar(1.0, 2.0 * PI * (turns * at as f64).fract() as f32);
                }
                if let Some(snr_db) = noise {
                    add_noise(numerology, snr_db, 5, &mut samples);
                }
                assert_eq!(search.search(&samples), [], "{bandwidth} {hz} Hz, noise {noise:?}");
            }
        }
    }
}

#[test]
fn silence_constants_and_no_numbers_hold_no_cell() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let len = search.samples_wanted();
    let values = [0.0, -0.0, 1e-45, f32::MIN_POSITIVE, 1.0, f32::MAX, f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    for re in values {
        for im in values {
            assert_eq!(search.search(&vec![Complex32::new(re, im); len]), [], "{re} {im}");
        }
    }
}

#[test]
fn pulses_are_no_cells() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let mut samples = vec![Complex32::default(); search.samples_wanted()];
    for period in [usize::MAX, 9600, 9599, 960, 128, 137] {
        for len in [1, 20, 137, 300] {
            for noise in [None, Some(30.0)] {
                for (at, sample) in samples.iter_mut().enumerate() {
                    *sample = Complex32::from(f32::from(u8::from((at % period).wrapping_sub(1234) < len)));
                }
                if let Some(snr_db) = noise {
                    add_noise(numerology, snr_db, 9, &mut samples);
                }
                assert_eq!(search.search(&samples), [], "pulses of {len} samples every {period}, noise {noise:?}");
            }
        }
    }
}

#[test]
fn a_cell_is_found_at_any_level_and_between_samples_that_are_no_numbers() {
    let numerology = numerology(Bandwidth::Prb6);
    let mut search = CellSearch::new(numerology);
    let mut samples = vec![Complex32::default(); search.samples_wanted()];
    cell().add_to(numerology, &mut Chance(3), &mut samples);
    for level in [1e-30, 1e-9, 1.0, 1e9, 1e18] {
        let mut samples: Vec<Complex32> = samples.iter().map(|sample| sample * level).collect();
        samples.iter_mut().step_by(50).for_each(|sample| sample.re = f32::NAN);
        samples.iter_mut().skip(7).step_by(90).for_each(|sample| sample.im = f32::INFINITY);
        let found = search.search(&samples);
        assert_eq!(
            found.iter().map(|one| (one.id.get(), one.frame_begin)).collect::<Vec<_>>(),
            [(301, 12_000)],
            "{level}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn any_samples_are_searched_without_a_panic(bits in prop::collection::vec(any::<(u32, u32)>(), 1..3000)) {
        let mut search = CellSearch::new(numerology(Bandwidth::Prb6));
        let samples = bits.iter().cycle().map(|(re, im)| Complex32::new(f32::from_bits(*re), f32::from_bits(*im)));
        let samples: Vec<Complex32> = samples.take(search.samples_wanted()).collect();
        for cell in search.search(&samples) {
            prop_assert!(cell.frame_begin < 19_200 && cell.frequency_offset_hz.abs() < 20e3);
            prop_assert!(!cell.snr_db.is_nan() && !cell.power.is_nan());
        }
    }
}
