//! The estimator through channels whose gains are known.

use num_complex::Complex64;
use takt_lte::{
    Bandwidth, ChannelEstimator, Demodulator, Direction, Modulator, Numerology, ResourceGrid, Sampling, Tti,
};

use super::channel::{Channel, EPA, EVA, Profile, received};
use super::signal::{self, Random};
use super::subframes;

fn db(ratio: f64) -> f64 {
    10.0 * ratio.log10()
}

/// Errors of the estimates of many subframes.
#[derive(Debug, Default)]
struct Seen {
    /// Error of the gains relative to their power, in dB.
    error_db: f64,
    /// Estimated noise relative to the true one, in dB.
    noise_db: f64,
    /// Estimated power of pilots relative to the true one, in dB.
    signal_db: f64,
    /// Root mean square error of the delay, in samples of the standard rate.
    timing: f64,
    /// Root mean square error of the frequency.
    frequency_hz: f64,
}

/// Runs an estimator over independent subframes. The window is late by `late_s`, the oscillator off by `offset_hz`.
fn measure(
    bandwidth: Bandwidth,
    snr_db: f64,
    count: u32,
    (late_s, offset_hz): (f64, f64),
    mut channel: impl FnMut(&mut Random) -> Channel,
) -> Seen {
    let cell = signal::cell(42, bandwidth);
    let mut estimator = ChannelEstimator::new(cell.id, bandwidth);
    let noise = 10f64.powf(-0.1 * snr_db);
    let rate = Numerology::new(bandwidth, Sampling::Standard).unwrap().rate_sps();
    let mut random = Random(7);
    let (mut seen, mut error, mut power, mut all_noise, mut signal) = (Seen::default(), 0.0, 0.0, 0.0, 0.0);
    for number in 0..count {
        let tti = Tti::new(number.into());
        let mut channel = channel(&mut random);
        (channel.late_s, channel.offset_hz) = (late_s, offset_hz);
        let gains = channel.gains(bandwidth, f64::from(random.unit()));
        let sent = signal::subframe(&cell, tti, &mut random);
        let estimate = estimator.estimate(tti, &received(&sent, &gains, noise as f32, &mut random));
        for (true_gain, gain) in gains.elements().iter().zip(estimate.gains.elements()) {
            error += f64::from((true_gain - gain).norm_sqr());
            power += f64::from(true_gain.norm_sqr());
        }
        all_noise += f64::from(estimate.noise_power);
        signal += f64::from(estimate.signal_power);
        seen.timing += (f64::from(estimate.timing_samples) - late_s * rate).powi(2);
        seen.frequency_hz += (f64::from(estimate.frequency_hz) - offset_hz).powi(2);
    }
    let count = f64::from(count);
    let elements = (gains_of(bandwidth) as f64) * count;
    Seen {
        error_db: db(error / power),
        noise_db: db(all_noise / count / noise),
        signal_db: db(signal / count / (power / elements)),
        timing: (seen.timing / count).sqrt(),
        frequency_hz: (seen.frequency_hz / count).sqrt(),
    }
}

fn gains_of(bandwidth: Bandwidth) -> usize {
    ResourceGrid::new(bandwidth).elements().len()
}

/// Error relative to the signal that a receiver of this ratio may have: so far below the noise.
fn follows(name: &str, profile: Profile, doppler_hz: f64, bandwidth: Bandwidth, below: &[(f64, f64)]) {
    for &(snr_db, worst_db) in below {
        let count = subframes(60, 2000);
        let seen = measure(bandwidth, snr_db, count, (0.0, 0.0), |random| Channel::fading(profile, doppler_hz, random));
        println!("{name}, {bandwidth} blocks, {snr_db} dB: {seen:.2?}");
        assert!(seen.error_db < worst_db, "{name}, {bandwidth} blocks, {snr_db} dB: {seen:?}");
        assert!(seen.noise_db.abs() < 1.0, "{name}, {bandwidth} blocks, {snr_db} dB: {seen:?}");
        // Six blocks have 48 pilots: where they fade, noise looks like signal, since no power is below 0.
        let least = if bandwidth == Bandwidth::Prb6 { 1.5 } else { 0.5 };
        assert!(seen.signal_db.abs() < least, "{name}, {bandwidth} blocks, {snr_db} dB: {seen:?}");
    }
}

const RATIOS: [f64; 8] = [-5.0, 0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0];

#[test]
fn epa_at_5_hz_is_followed() {
    let worst = RATIOS.map(|snr_db| (snr_db, -snr_db - 4.0));
    follows("EPA5", EPA, 5.0, Bandwidth::Prb25, &worst);
    follows("EPA5", EPA, 5.0, Bandwidth::Prb6, &RATIOS.map(|snr_db| (snr_db, -snr_db)));
}

#[test]
fn eva_at_70_hz_is_followed() {
    let worst = RATIOS.map(|snr_db| (snr_db, -snr_db - 3.0));
    follows("EVA70", EVA, 70.0, Bandwidth::Prb25, &worst);
    follows("EVA70", EVA, 70.0, Bandwidth::Prb100, &worst[4..]);
}

#[test]
fn a_constant_channel_is_known_far_better_than_an_element() {
    let flat = |_: &mut Random| Channel::of(&[(0.0, Complex64::new(0.6, -0.8), 0.0)]);
    for snr_db in RATIOS {
        let seen = measure(Bandwidth::Prb25, snr_db, subframes(60, 2000), (0.0, 0.0), flat);
        println!("constant, {snr_db} dB: {seen:.2?}");
        assert!(seen.error_db < -snr_db - 4.0 && seen.noise_db.abs() < 0.5, "{snr_db}: {seen:?}");
    }
}

#[test]
fn a_window_that_is_off_by_half_a_prefix_costs_nothing() {
    for bandwidth in [Bandwidth::Prb6, Bandwidth::Prb50] {
        for late_s in [-2.34e-6, 2.34e-6] {
            let two = |_: &mut Random| {
                Channel::of(&[(0.0, Complex64::new(0.8, 0.0), 0.0), (300.0, Complex64::new(0.0, 0.6), 0.0)])
            };
            let seen = measure(bandwidth, 20.0, subframes(40, 1000), (late_s, 0.0), two);
            println!("{bandwidth} blocks, {late_s:e} s late: {seen:.2?}");
            assert!(seen.error_db < -24.0 && seen.noise_db.abs() < 0.5, "{late_s}: {seen:?}");
        }
    }
}

#[test]
fn delay_and_frequency_are_measured() {
    let flat = |_: &mut Random| Channel::of(&[(0.0, Complex64::new(1.0, 0.0), 0.0)]);
    for (bandwidth, snr_db, samples, hertz) in
        [(Bandwidth::Prb6, 20.0, 0.05, 8.0), (Bandwidth::Prb6, 0.0, 0.7, 80.0), (Bandwidth::Prb100, 0.0, 2.0, 20.0)]
    {
        for (late_s, offset_hz) in [(0.0, 0.0), (1e-6, 500.0), (-2e-6, -900.0), (2e-6, 1400.0)] {
            let seen = measure(bandwidth, snr_db, subframes(100, 2000), (late_s, offset_hz), flat);
            println!("{bandwidth} blocks, {snr_db} dB, {late_s:e} s, {offset_hz} Hz: {seen:.2?}");
            assert!(seen.timing < samples && seen.frequency_hz < hertz, "{late_s}, {offset_hz}: {seen:?}");
        }
    }
}

#[test]
fn a_rotating_channel_is_followed_through_all_symbols() {
    for shift in [-30.0, 100.0, 500.0] {
        let rotating = |_: &mut Random| {
            Channel::of(&[(0.0, Complex64::new(0.8, 0.1), shift), (520.0, Complex64::new(-0.3, 0.5), shift + 20.0)])
        };
        let seen = measure(Bandwidth::Prb25, 30.0, subframes(60, 1000), (0.0, 0.0), rotating);
        println!("rotating, {shift} Hz: {seen:.2?}");
        assert!(seen.error_db < -32.0, "{shift}: {seen:?}");
    }
}

/// By way of samples: two paths, one 12 samples later, whose gains are known, and a window half a prefix off.
#[test]
fn two_paths_of_samples_give_their_gains() {
    for bandwidth in [Bandwidth::Prb6, Bandwidth::Prb25, Bandwidth::Prb100] {
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        let (cell, tti, mut random) = (signal::cell(301, bandwidth), Tti::new(5), Random(1));
        let sent = signal::subframe(&cell, tti, &mut random);
        let mut samples = vec![Default::default(); numerology.subframe_len()];
        Modulator::new(numerology, Direction::Downlink, 0.1).modulate(&sent, &mut samples);
        let (second, late) = (numerology.fft_len / 100, numerology.prefix / 4);
        let paths = [(late, Complex64::new(0.9, 0.0)), (late + second, Complex64::new(0.2, 0.4))];
        let mut arriving = vec![num_complex::Complex32::default(); samples.len()];
        for (delay, gain) in paths {
            let gain = num_complex::Complex32::new(gain.re as f32, gain.im as f32);
            arriving[delay..].iter_mut().zip(&samples).for_each(|(out, sample)| *out += sample * gain);
        }
        let mut grid = ResourceGrid::new(bandwidth);
        Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 4).demodulate(&arriving, &mut grid);
        let nanoseconds = |delay: usize| delay as f64 / numerology.rate_sps() * 1e9;
        let known = Channel::of(&paths.map(|(delay, gain)| (nanoseconds(delay), gain * 0.1, 0.0)));
        let known = known.gains(bandwidth, 0.0);
        let mut estimator = ChannelEstimator::with_numerology(cell.id, bandwidth, &numerology);
        let estimate = estimator.estimate(tti, &grid);
        let (mut error, mut power) = (0.0, 0.0);
        for (gain, known) in estimate.gains.elements().iter().zip(known.elements()) {
            error += (gain - known).norm_sqr();
            power += known.norm_sqr();
        }
        let error_db = db((error / power).into());
        println!("{bandwidth} blocks: error {error_db:.1} dB, {} samples late of {late}", estimate.timing_samples);
        assert!(error_db < -40.0 && estimate.snr_db() > 40.0, "{bandwidth}: {error_db}");
        assert!(estimate.frequency_hz.abs() < 2.0, "{}", estimate.frequency_hz);
        let mean = late as f32 + second as f32 * 0.2 / 1.01;
        assert!((estimate.timing_samples - mean).abs() < 0.3 + 0.1 * second as f32, "{}", estimate.timing_samples);
    }
}
