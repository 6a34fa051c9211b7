//! Preambles against the standard's formula, and through the air: one and several, beside whatever else a subframe may hold.

use std::f64::consts::{PI, TAU};

use num_complex::{Complex32, Complex64};
use proptest::prelude::*;
use takt_lte::{
    Bandwidth, Direction, Modulator, Numerology, PREAMBLES, PrachConfig, PrachDetector, PrachTransmitter, ResourceGrid,
    Sampling,
};

pub mod air;

use air::{Air, config, ends, narrow, share};

/// 16 T_s.
const STEP_US: f64 = 16.0 / 30.72;

fn numerologies() -> impl Iterator<Item = (Bandwidth, Numerology)> {
    let all = Bandwidth::ALL.into_iter().flat_map(|bandwidth| {
        [Sampling::Standard, Sampling::ThreeQuarters].map(|sampling| (bandwidth, Numerology::new(bandwidth, sampling)))
    });
    all.filter_map(|(bandwidth, numerology)| Some((bandwidth, numerology.ok()?)))
}

/// Section 5.7.3 word by word, root 140 (logical 2), shifted by `shift`: a sample at t seconds, scaled to power 1.
fn by_the_formula(shift: usize, blocks: f64, offset: f64) -> impl Fn(f64) -> Complex64 {
    let sequence: Vec<Complex64> = (0..839)
        .map(|n| ((n + shift) % 839) as f64)
        .map(|n| Complex64::from_polar(1.0, -PI * 140.0 * n * (n + 1.0) / 839.0))
        .collect();
    let subcarrier = move |k: usize| -> Complex64 {
        sequence.iter().enumerate().map(|(n, x)| x * Complex64::from_polar(1.0, -TAU * (n * k) as f64 / 839.0)).sum()
    };
    let spectrum: Vec<Complex64> = (0..839).map(subcarrier).collect();
    move |t| {
        let k0 = 12.0 * offset - blocks * 12.0 / 2.0;
        let turn = |k: usize| TAU * (k as f64 + 7.0 + 12.0 * (k0 + 0.5)) * 1250.0 * (t - 3168.0 / 30.72e6);
        let sum: Complex64 = spectrum.iter().enumerate().map(|(k, x)| x * Complex64::from_polar(1.0, turn(k))).sum();
        sum / 839.0
    }
}

#[test]
fn samples_are_those_of_the_standard_at_every_rate() {
    for (bandwidth, numerology) in numerologies() {
        for offset in [0, bandwidth.blocks() - 6] {
            let config = PrachConfig { frequency_offset_blocks: offset as u8, ..config(2, 8) };
            let mut samples = vec![Complex32::new(7.0, 7.0); numerology.subframe_len()];
            PrachTransmitter::new(numerology, bandwidth, config).unwrap().samples(5, &mut samples);
            let want = by_the_formula(5 * 46, bandwidth.blocks() as f64, offset as f64);
            let end = (3168 + 24_576) * numerology.fft_len / 2048;
            for at in [0, 1, end / 9, end / 8, end / 2, end - 1] {
                let (want, got) = (want(at as f64 / numerology.rate_sps()), samples[at]);
                let error = Complex64::new(got.re.into(), got.im.into()) - want;
                assert!(error.norm() < 2e-5, "{bandwidth} {} {offset} {at}: {want} {got}", numerology.fft_len);
            }
            assert!(samples[end..].iter().all(|sample| *sample == Complex32::default()));
            let power: f32 = samples.iter().map(Complex32::norm_sqr).sum::<f32>() / end as f32;
            assert!((power - 1.0).abs() < 0.02, "{power}");
        }
    }
}

#[test]
fn each_preamble_of_each_zone_is_found_alone_with_its_delay() {
    let mut air = Air::new(narrow());
    for zone in 0..16 {
        let (mut transmitter, mut detector) = ends(config(100 + 40 * u16::from(zone), zone));
        let longest = [98.0, 13.0, 15.0, 18.0, 22.0, 26.0, 32.0, 38.0, 46.0, 59.0, 76.0, 93.0, 98.0, 98.0, 98.0, 98.0];
        for preamble in (0..PREAMBLES).step_by(if zone == 0 { 9 } else { 5 }).chain([PREAMBLES - 1]) {
            let number = u64::from(zone) * 64 + u64::from(preamble);
            // A window ends two points of the sequence, 1.9 us, before the next.
            let delay_us = share(number) * (longest[usize::from(zone)] - 2.0) * 800.0 / 839.0;
            air.clear();
            air.add(&mut transmitter, preamble, delay_us, 0.0, 0.0);
            air.noise(number, 0.0);
            let found = detector.detect(&air.samples);
            let [one] = found else { panic!("zone {zone} preamble {preamble} {delay_us}: {found:?}") };
            assert_eq!(one.preamble, preamble, "zone {zone}");
            assert!((f64::from(one.delay_samples) / 1.92 - delay_us).abs() < 0.1, "{delay_us} {one:?}");
            assert!((f64::from(one.timing_advance) * STEP_US - delay_us).abs() < 0.36, "{delay_us} {one:?}");
            assert!(one.snr_db.abs() < 2.0, "{one:?}");
        }
    }
}

#[test]
fn every_rate_and_place_in_frequency_works() {
    for (bandwidth, numerology) in numerologies() {
        for offset in [0, bandwidth.blocks() - 6] {
            let config = PrachConfig { frequency_offset_blocks: offset as u8, ..config(22, 5) };
            let mut transmitter = PrachTransmitter::new(numerology, bandwidth, config).unwrap();
            let mut detector = PrachDetector::new(numerology, bandwidth, config).unwrap();
            let mut air = Air::new(numerology);
            air.add(&mut transmitter, 40, 17.3, 0.0, 0.0);
            air.noise(offset as u64, 6.0);
            let found = detector.detect(&air.samples);
            assert!(matches!(found, [one] if one.preamble == 40 && one.timing_advance == 33), "{bandwidth}: {found:?}");
            let delay_us = f64::from(found[0].delay_samples) / numerology.rate_sps() * 1e6;
            assert!((delay_us - 17.3).abs() < 0.15, "{delay_us}");
        }
    }
}

#[test]
fn several_terminals_at_once_are_told_apart() {
    let (mut transmitter, mut detector) = ends(config(300, 6));
    // Root 300 has 26 preambles. Delay in us, Hz, dB.
    let users = [
        (0, 0.0, 100.0, 0.0),
        (1, 28.0, -50.0, -6.0),
        (2, 3.3, 200.0, -6.0),
        (13, 11.1, -270.0, -3.0),
        (25, 5.5, 30.0, 0.0),
        (26, 20.0, 270.0, 0.0),
        (51, 1.0, -10.0, -3.0),
        (63, 7.7, 0.0, -4.0),
    ];
    let mut air = Air::new(narrow());
    for seed in 0..20 {
        air.clear();
        users.iter().for_each(|&(preamble, us, hz, db)| air.add(&mut transmitter, preamble, us, hz, db));
        air.noise(seed, -5.0);
        let mut found = detector.detect(&air.samples).to_vec();
        assert!(found.is_sorted_by(|one, other| one.snr_db >= other.snr_db));
        found.sort_unstable_by_key(|one| one.preamble);
        assert!(found.iter().map(|one| one.preamble).eq(users.iter().map(|user| user.0)), "{found:?}");
        for (one, user) in found.iter().zip(&users) {
            assert!((f64::from(one.timing_advance) * STEP_US - user.1).abs() < 0.7, "{user:?} {one:?}");
        }
    }
}

/// Side lobes and images of a strong terminal are as strong as others' preambles.
#[test]
fn a_strong_terminal_is_one_whatever_its_delay_and_frequency() {
    let mut air = Air::new(narrow());
    for (zone, root) in [(1, 22), (1, 300), (5, 600), (11, 0), (14, 500)] {
        let (mut transmitter, mut detector) = ends(config(root, zone));
        for number in 0..40 {
            let preamble = (number * 37 % 64) as u8;
            let (delay_us, offset_hz) = (10.0 * share(number), 540.0 * share(number + 1000) - 270.0);
            air.clear();
            air.add(&mut transmitter, preamble, delay_us, offset_hz, 0.0);
            air.noise(number, -15.0 * (number % 4) as f64);
            let found = detector.detect(&air.samples);
            let alone = matches!(found, [one] if one.preamble == preamble);
            assert!(alone, "zone {zone} number {number} preamble {preamble} {delay_us} us {offset_hz} Hz: {found:?}");
        }
    }
}

/// QPSK on these blocks of all symbols.
fn filled(bandwidth: Bandwidth, numerology: Numerology, blocks: std::ops::Range<usize>, seed: u64) -> Vec<Complex32> {
    let mut grid = ResourceGrid::new(bandwidth);
    for symbol in 0..takt_lte::SYMBOLS {
        for (at, element) in grid.symbol_mut(symbol)[12 * blocks.start..12 * blocks.end].iter_mut().enumerate() {
            let quarter = (4.0 * share(seed * 1_000_003 + (symbol * 1200 + at) as u64)) as i32;
            *element = Complex32::from_polar(1.0, (f64::from(quarter) + 0.5) as f32 * std::f32::consts::FRAC_PI_2);
        }
    }
    let mut samples = vec![Complex32::default(); numerology.subframe_len()];
    Modulator::new(numerology, Direction::Uplink, 1.0).modulate(&grid, &mut samples);
    samples
}

#[test]
fn a_shared_channel_outside_or_inside_of_the_blocks_is_no_preamble_and_hides_none() {
    let (bandwidth, offset) = (Bandwidth::Prb25, 8);
    let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
    for zone in [0, 1, 9] {
        let config = PrachConfig { frequency_offset_blocks: offset, ..config(22, zone) };
        let mut transmitter = PrachTransmitter::new(numerology, bandwidth, config).unwrap();
        let mut detector = PrachDetector::new(numerology, bandwidth, config).unwrap();
        let mut air = Air::new(numerology);
        for seed in 0..30 {
            for blocks in [0..8, 14..25, 8..14, 0..25] {
                let shared = filled(bandwidth, numerology, blocks.clone(), seed);
                assert_eq!(detector.detect(&shared), [], "zone {zone} seed {seed} {blocks:?}");
            }
            // Both sides of a preamble are filled; on each subcarrier they are 10 dB stronger than the preamble.
            air.clear();
            air.add(&mut transmitter, 17, 4.0, 100.0, -10.0);
            for blocks in [0..8, 14..25] {
                let shared = filled(bandwidth, numerology, blocks, seed);
                air.samples.iter_mut().zip(&shared).for_each(|(sample, value)| *sample += value * 2.0);
            }
            let found = detector.detect(&air.samples);
            assert!(matches!(found, [one] if one.preamble == 17 && one.timing_advance == 8), "zone {zone}: {found:?}");
        }
    }
}

#[test]
fn what_is_no_preamble_is_none() {
    let numerology = narrow();
    let rate = numerology.rate_sps();
    let carrier = |hz: f64, amplitude: f64| -> Vec<Complex32> {
        (0..numerology.subframe_len())
            .map(|at| Complex64::from_polar(amplitude, TAU * hz * at as f64 / rate))
            .map(|value| Complex32::new(value.re as f32, value.im as f32))
            .collect()
    };
    let all = |value: f32| vec![Complex32::new(value, value); numerology.subframe_len()];
    let mut others = Vec::new();
    for hz in [0.0, 1250.0, 7500.0, -123_456.7, 523_999.0, 600e3, -900e3, 959e3] {
        others.extend([1e-20, 1.0, 1e10].map(|amplitude| carrier(hz, amplitude)));
    }
    others.extend([0.0, 1.0, -1e-40, 1e-45, 1e38, f32::MAX, f32::NAN, f32::INFINITY, f32::NEG_INFINITY].map(all));
    for at in [0, 197, 198, 1000, 1733, 1734, 1919] {
        for value in [1e-30, 1.0, 1e30, f32::INFINITY, f32::NAN] {
            let mut impulse = all(0.0);
            impulse[at].im = value;
            others.push(impulse);
        }
    }
    let mut air = Air::new(numerology);
    for (root, db) in [(837, 0.0), (40, 20.0), (700, 60.0)] {
        let mut stranger = PrachTransmitter::new(numerology, Bandwidth::Prb6, config(root, 1)).unwrap();
        air.clear();
        air.add(&mut stranger, 11, 3.3, 100.0, db);
        others.push(air.samples.clone());
    }
    for zone in [0, 1, 9, 15] {
        let mut detector = ends(config(100, zone)).1;
        for (at, samples) in others.iter().enumerate() {
            assert_eq!(detector.detect(samples), [], "zone {zone}: the signal of index {at}");
        }
    }
}

#[test]
fn a_preamble_is_found_at_any_level_and_a_broken_sample_spoils_only_its_subframe() {
    let (mut transmitter, mut detector) = ends(config(22, 1));
    let mut air = Air::new(narrow());
    air.add(&mut transmitter, 32, 6.0, 0.0, 0.0);
    air.noise(1, 0.0);
    let want = detector.detect(&air.samples)[0];
    for amplitude in [1e-30, 1e-6, 32_768.0, 1e30] {
        let scaled: Vec<Complex32> = air.samples.iter().map(|sample| sample * amplitude).collect();
        let found = detector.detect(&scaled);
        assert!(matches!(found, [one] if one.preamble == 32 && one.timing_advance == want.timing_advance), "{found:?}");
    }
    let mut broken = air.samples.clone();
    broken[700].re = f32::NAN;
    assert_eq!(detector.detect(&broken), []);
    assert_eq!(detector.detect(&air.samples), [want]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Bits of any floats, in runs, and a preamble somewhere below them.
    #[test]
    fn samples_of_any_kind_do_no_harm(bits in prop::collection::vec(any::<(u32, u32)>(), 1..40), zone in 0u8..16, run in 1usize..200) {
        let (mut transmitter, mut detector) = ends(config(17, zone));
        let mut samples = vec![Complex32::default(); 1920];
        transmitter.samples(bits[0].0 as u8 % 64, &mut samples);
        for (at, sample) in samples.iter_mut().enumerate().filter(|(at, _)| at / run % 2 == 0) {
            let (re, im) = bits[at % bits.len()];
            *sample += Complex32::new(f32::from_bits(re), f32::from_bits(im));
        }
        for one in detector.detect(&samples) {
            prop_assert!(one.preamble < 64 && one.timing_advance <= 198 && one.snr_db.is_finite());
            prop_assert!((-2.0..=208.0).contains(&one.delay_samples), "{one:?}");
        }
    }
}
