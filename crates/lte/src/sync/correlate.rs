//! Places of primary signals: correlation with all three, at five frequencies, over all half frames of a search.

use std::f64::consts::PI;
use std::sync::Arc;

use num_complex::{Complex32, Complex64};
use takt_fft::Fft;

use super::primary::primary;
use super::{EARLIEST, FFT_LEN, HALF_FRAME, HALF_FRAMES, LEN, RATE_SPS};

/// Points of the transforms that correlate; each block gives all places but the last 127.
const BLOCK: usize = 2048;
const PLACES: usize = BLOCK - FFT_LEN + 1;

/// Frequencies tried, in steps of 3.75 kHz round zero: a quarter of a subcarrier, and whole points of the transform. Half a step
/// costs 0.2 dB, and they reach from -9.4 to 9.4 kHz.
const FREQUENCIES: usize = 5;
const STEP_BINS: usize = 4;
const STEP_HZ: f64 = STEP_BINS as f64 * RATE_SPS / BLOCK as f64;

/// How far above the average place a peak must be. Noise alone has an average of eight exponential values at each place: one
/// search in a hundred has a place above.
const THRESHOLD: f32 = 4.0;
/// Rounding leaves peaks of a strong signal beside the sequences. They are below this share of the power of all samples.
const ROUNDING: f32 = 1e-8;
/// Places on either side of a peak that belong to it.
const WIDTH: usize = 4;

/// A place to look at closer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// The identity within the group, 0 to 2.
    pub(super) within_group: usize,
    /// The frequency among those tried.
    pub(super) frequency_hz: f64,
    /// Samples before its first primary signal, without prefix; `EARLIEST` or more.
    pub(super) at: usize,
}

/// The plan, and the power found at each place.
pub(super) struct Correlator {
    forward: Arc<dyn Fft<f32>>,
    inverse: Arc<dyn Fft<f32>>,
    /// The conjugate spectrum of each sequence.
    spectra: Vec<Vec<Complex32>>,
    block: Vec<Complex32>,
    product: Vec<Complex32>,
    scratch: Vec<Complex32>,
    /// For each sequence and frequency the correlation's power at each place, over that of the average place.
    ratios: Vec<Vec<f32>>,
}

impl Correlator {
    pub(super) fn new() -> Correlator {
        let (forward, inverse) = (takt_fft::forward(BLOCK), takt_fft::inverse(BLOCK));
        let scratch_len = forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len());
        let spectrum = |within_group| {
            let mut spectrum = vec![Complex32::default(); BLOCK];
            spectrum[..FFT_LEN].copy_from_slice(&replica(within_group, 0.0));
            forward.process(&mut spectrum);
            spectrum.iter_mut().for_each(|bin| *bin = bin.conj() / BLOCK as f32);
            spectrum
        };
        Correlator {
            spectra: (0..3).map(spectrum).collect(),
            forward,
            inverse,
            block: vec![Complex32::default(); BLOCK],
            product: vec![Complex32::default(); BLOCK],
            scratch: vec![Complex32::default(); scratch_len],
            ratios: vec![vec![0.0; HALF_FRAME]; 3 * FREQUENCIES],
        }
    }

    /// Correlates all samples of a search.
    pub(super) fn run(&mut self, samples: &[Complex32]) {
        self.ratios.iter_mut().for_each(|ratios| ratios.fill(0.0));
        let end = EARLIEST + HALF_FRAMES * HALF_FRAME;
        for first in (EARLIEST..end).step_by(PLACES) {
            let have = BLOCK.min(samples.len() - first);
            self.block[..have].copy_from_slice(&samples[first..][..have]);
            self.block[have..].fill(Complex32::default());
            self.forward.process_with_scratch(&mut self.block, &mut self.scratch);
            for hypothesis in 0..self.ratios.len() {
                self.add(hypothesis, first - EARLIEST, PLACES.min(end - first));
            }
        }
        let power = samples.iter().map(Complex32::norm_sqr).sum::<f32>() / samples.len() as f32;
        self.ratios.iter_mut().for_each(|ratios| over_average(ratios, ROUNDING * power));
    }

    /// Adds the power of the block's correlation at this many places from `first` on.
    fn add(&mut self, hypothesis: usize, first: usize, places: usize) {
        let spectrum = &self.spectra[hypothesis / FREQUENCIES];
        // The replica at another frequency has its spectrum turned round by whole points.
        let turn = (BLOCK + hypothesis % FREQUENCIES * STEP_BINS - FREQUENCIES / 2 * STEP_BINS) % BLOCK;
        let (low, high) = self.product.split_at_mut(turn);
        let multiply = |out: &mut [Complex32], bins: &[Complex32], spectrum: &[Complex32]| {
            out.iter_mut().zip(bins).zip(spectrum).for_each(|((out, bin), value)| *out = bin * value);
        };
        multiply(low, &self.block[..turn], &spectrum[BLOCK - turn..]);
        multiply(high, &self.block[turn..], spectrum);
        self.inverse.process_with_scratch(&mut self.product, &mut self.scratch);
        let ratios = &mut self.ratios[hypothesis];
        let mut at = first % HALF_FRAME;
        for value in &self.product[..places] {
            ratios[at] += value.norm_sqr();
            at = if at + 1 == HALF_FRAME { 0 } else { at + 1 };
        }
    }

    /// The highest peak above the threshold that belongs to none of `but`.
    pub(super) fn peak(&self, but: &[Candidate]) -> Option<Candidate> {
        let mut best = (THRESHOLD, None);
        for (hypothesis, ratios) in self.ratios.iter().enumerate() {
            let within_group = hypothesis / FREQUENCIES;
            for (place, &ratio) in ratios.iter().enumerate().filter(|(_, ratio)| **ratio > THRESHOLD) {
                let at = place + EARLIEST;
                if ratio > best.0 && !but.iter().any(|one| one.within_group == within_group && is_near(one.at, at)) {
                    let steps = (hypothesis % FREQUENCIES) as f64 - (FREQUENCIES / 2) as f64;
                    best = (ratio, Some(Candidate { within_group, frequency_hz: steps * STEP_HZ, at }));
                }
            }
        }
        best.1
    }
}

/// A primary signal of energy 1 without prefix, at an offset of frequency.
pub(super) fn replica(within_group: usize, frequency_hz: f64) -> [Complex32; FFT_LEN] {
    let mut symbol = [Complex32::default(); FFT_LEN];
    primary(within_group).iter().enumerate().for_each(|(n, value)| symbol[bin_of(n)] = *value);
    takt_fft::inverse(FFT_LEN).process(&mut symbol);
    let scale = 1.0 / ((FFT_LEN * LEN) as f64).sqrt();
    for (at, sample) in symbol.iter_mut().enumerate() {
        let turn = Complex64::from_polar(scale, 2.0 * PI * frequency_hz * at as f64 / RATE_SPS);
        *sample *= Complex32::new(turn.re as f32, turn.im as f32);
    }
    symbol
}

/// The point of a symbol's transform that holds an element of a synchronisation signal.
pub(super) fn bin_of(element: usize) -> usize {
    if element < LEN / 2 { FFT_LEN - LEN / 2 + element } else { element - LEN / 2 + 1 }
}

/// Whether two places are one peak's, half frames being circles.
fn is_near(one: usize, other: usize) -> bool {
    let distance = one.abs_diff(other) % HALF_FRAME;
    distance.min(HALF_FRAME - distance) <= WIDTH
}

/// Divides powers by their average. All are zero if the highest, over the half frames, is no more than `least`.
fn over_average(powers: &mut [f32], least: f32) {
    let highest = powers.iter().fold(0.0f32, |highest, power| highest.max(*power));
    let average = powers.iter().sum::<f32>() / powers.len() as f32;
    let scale = if highest > least * HALF_FRAMES as f32 && average > 0.0 { 1.0 / average } else { 0.0 };
    powers.iter_mut().for_each(|power| *power *= scale);
}
