//! The tracker against a sender whose clocks are wrong, by way of samples.
//!
//! The received signal is the sent one read at a rate that is wrong, by a windowed sinc, and turned by a wrong carrier.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};
use takt_lte::{
    Bandwidth, Cell, ChannelEstimator, Correction, Demodulator, Direction, Modulator, Numerology, ResourceGrid,
    Sampling, Tracker, Tti,
};

use super::signal::{self, Random};
use super::subframes;

/// Samples either side that a value between two is made from.
const REACH: i64 = 12;

/// A sender, the way to the receiver, and the receiver's window and oscillator.
struct Link {
    cell: Cell,
    numerology: Numerology,
    modulator: Modulator,
    demodulator: Demodulator,
    estimator: ChannelEstimator,
    random: Random,
    /// Subframes sent, of which the last few are kept.
    sent: Vec<Complex32>,
    sent_from: i64,
    next: u64,
    /// The begin of the window, in the receiver's samples.
    window: i64,
    ppm: f64,
    late: f64,
    carrier_hz: f64,
    noise: f32,
}

impl Link {
    fn new(bandwidth: Bandwidth, ppm: f64, late: f64, carrier_hz: f64, snr_db: f64) -> Link {
        let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
        let cell = signal::cell(77, bandwidth);
        Link {
            cell,
            modulator: Modulator::new(numerology, Direction::Downlink, 1.0),
            demodulator: Demodulator::new(numerology, Direction::Downlink, numerology.prefix / 2),
            estimator: ChannelEstimator::with_numerology(cell.id, bandwidth, &numerology),
            random: Random(3),
            sent: Vec::new(),
            sent_from: 0,
            next: 0,
            window: numerology.subframe_len() as i64,
            ppm,
            late,
            carrier_hz,
            // Noise of a sample such that an element has its ratio.
            noise: (10f64.powf(-0.1 * snr_db) * numerology.fft_len as f64 / numerology.subcarriers as f64) as f32,
            numerology,
        }
    }

    /// How late the signal is in the window, in samples.
    fn truly_late(&self, subframe: u64) -> f64 {
        let begin = (subframe * self.numerology.subframe_len() as u64) as f64;
        // Sample n of the sender arrives at n (1 + ppm) + late.
        begin * (1.0 + self.ppm * 1e-6) + self.late - self.window as f64
    }

    fn send_until(&mut self, place: i64) {
        let len = self.numerology.subframe_len();
        while self.sent_from + (self.sent.len() as i64) < place {
            let grid = signal::subframe(&self.cell, Tti::new(self.next), &mut self.random);
            let at = self.sent.len();
            self.sent.resize(at + len, Complex32::default());
            self.modulator.modulate(&grid, &mut self.sent[at..]);
            self.next += 1;
        }
        if self.sent.len() > 6 * len {
            self.sent.drain(..2 * len);
            self.sent_from += 2 * len as i64;
        }
    }

    /// The sent signal at a place between two samples.
    fn sent_at(&self, place: f64) -> Complex32 {
        let near = place.round() as i64;
        let mut sum = Complex64::default();
        for at in near - REACH..=near + REACH {
            let distance = place - at as f64;
            let sinc = if distance.abs() < 1e-9 { 1.0 } else { (PI * distance).sin() / (PI * distance) };
            let window = (0.5 * PI * distance / (REACH + 1) as f64).cos().powi(2);
            let sample = self.sent.get((at - self.sent_from) as usize).copied().unwrap_or_default();
            sum += Complex64::new(sample.re.into(), sample.im.into()) * (sinc * window);
        }
        Complex32::new(sum.re as f32, sum.im as f32)
    }

    fn receive(&mut self, removed_hz: f32) -> Vec<Complex32> {
        let len = self.numerology.subframe_len() as i64;
        self.send_until(self.window + 2 * len);
        let rate = self.numerology.rate_sps();
        let noises: Vec<_> = (0..len).map(|_| self.random.noise(self.noise)).collect();
        let sample = |at: i64, noise: Complex32| {
            let place = (at as f64 - self.late) / (1.0 + self.ppm * 1e-6);
            let turns = (self.carrier_hz - f64::from(removed_hz)) * at as f64 / rate;
            let turn = Complex64::from_polar(1.0, 2.0 * PI * turns.fract());
            self.sent_at(place) * Complex32::new(turn.re as f32, turn.im as f32) + noise
        };
        (self.window..).zip(noises).map(|(at, noise)| sample(at, noise)).collect()
    }

    fn step(&mut self, subframe: u64, tracker: &mut Tracker, correction: Correction) -> Correction {
        let samples = self.receive(correction.frequency_hz);
        let mut grid = ResourceGrid::new(self.cell.bandwidth);
        self.demodulator.demodulate(&samples, &mut grid);
        tracker.update(self.estimator.estimate(Tti::new(subframe), &grid))
    }
}

/// How far off window and oscillator ever were, once settled.
#[derive(Debug, Default)]
struct Worst {
    samples: f64,
    hertz: f64,
}

/// Tracks for so many subframes; those of `gap` are missing.
fn track(mut link: Link, error_hz: f64, count: u64, gap: std::ops::Range<u64>) -> (Worst, Tracker) {
    let mut tracker = Tracker::new(&link.numerology, (link.carrier_hz + error_hz) as f32);
    let mut correction = Correction { shift_samples: 0, frequency_hz: tracker.frequency_hz() };
    let mut worst = Worst::default();
    let mut subframe = 1;
    while subframe < count {
        // In the test all of a gap is one step.
        let steps = if subframe == gap.start { gap.end - gap.start } else { 1 };
        if steps > 1 {
            correction = tracker.gap(steps as u32);
        } else {
            correction = link.step(subframe, &mut tracker, correction);
        }
        link.window += (steps as usize * link.numerology.subframe_len()) as i64 + i64::from(correction.shift_samples);
        subframe += steps;
        if subframe > 60 {
            worst.samples = worst.samples.max(link.truly_late(subframe).abs());
            worst.hertz = worst.hertz.max((f64::from(correction.frequency_hz) - link.carrier_hz).abs());
        }
    }
    (worst, tracker)
}

#[test]
fn wrong_clocks_are_followed_at_minus_3_db() {
    let count = u64::from(subframes(300, 1200));
    for (bandwidth, samples, hertz) in [(Bandwidth::Prb6, 1.5, 120.0), (Bandwidth::Prb25, 3.0, 60.0)] {
        for (ppm, carrier_hz, error_hz) in [(5.0f64, 5000.0, -500.0), (-5.0, -5000.0, 500.0)] {
            let late = 0.25 * ppm.signum() * bandwidth.blocks() as f64 / 6.0;
            let link = Link::new(bandwidth, ppm, late, carrier_hz, -3.0);
            let (worst, tracker) = track(link, error_hz, count, 0..0);
            println!(
                "{bandwidth} blocks, {ppm} ppm, {carrier_hz} Hz: {worst:.2?}, {:.2} ppm found",
                tracker.drift_ppm()
            );
            assert!(worst.samples < samples && worst.hertz < hertz, "{bandwidth}, {ppm}: {worst:?}");
        }
    }
}

#[test]
fn a_signal_without_noise_is_held_within_a_sample() {
    let link = Link::new(Bandwidth::Prb6, 5.0, 3.0, 1234.0, 40.0);
    let (worst, tracker) = track(link, 300.0, u64::from(subframes(300, 1200)), 0..0);
    println!("40 dB: {worst:.2?}, {:.2} ppm found", tracker.drift_ppm());
    assert!(worst.samples < 1.0 && worst.hertz < 10.0, "{worst:?}");
    assert!((tracker.drift_ppm() - 5.0).abs() < 1.0, "{}", tracker.drift_ppm());
}

#[test]
fn missing_subframes_are_survived() {
    let link = Link::new(Bandwidth::Prb25, -5.0, 0.0, 700.0, 10.0);
    let (worst, _) = track(link, 100.0, u64::from(subframes(700, 1200)), 300..600);
    println!("300 subframes missing, 10 dB: {worst:.2?}");
    // At 5 ppm it would be 11.5 samples without knowledge of the drift.
    assert!(worst.samples < 4.0 && worst.hertz < 40.0, "{worst:?}");
}
