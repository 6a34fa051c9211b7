//! Preambles found in samples: each with its delay and its strength.
//!
//! One Fourier transform over the sequence separates its 839 subcarriers from all else. The product with a root's conjugate spectrum,
//! transformed back, is the correlation with all shifts of this root at once, 2.4 points for each of the sequence.
//!
//! **Threshold.** Noise has an exponential power there. So a threshold of ln(n / p) times the mean is exceeded anywhere among
//! n points with a probability of p at most. The mean comes from the median of the same correlation, since a preamble raises a
//! few points only. A preamble of another root, or a carrier, raises all points alike, and so the threshold.

use std::f32::consts::LN_2;
use std::sync::Arc;

use num_complex::Complex32;
use takt_fft::Fft;

use super::config::Place;
use super::peaks::{self, Peak};
use super::preambles::Preambles;
use super::windows::{CIRCLE, TS_OF_POINT, Window, windows};
use super::{PREAMBLES, PrachConfig, SEQUENCE_LEN, SYMBOL_TS};
use crate::{Bandwidth, Error, Numerology};

/// The probability that noise alone makes a detection in a subframe. TS 36.104 section 8.4.1 allows twice as much.
const FALSE_ALARM: f32 = 5e-4;
/// Noise is taken to be at least this share of the strongest peak: the model of what peaks leave elsewhere is no better.
const DYNAMIC_RANGE: f32 = 1e-5;
/// T_s of a step of timing advance, TS 36.213 section 4.2.3.
const TS_OF_STEP: f32 = 16.0;
/// Points of the circle by which a peak may be before its window, once interpolated.
const BEFORE: f32 = 8.0;

/// A preamble that was received.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PreambleFound {
    /// Which, 0 to 63.
    pub preamble: u8,
    /// The terminal is to advance its transmissions by this, steps of 16 T_s (0.52 us).
    pub timing_advance: u16,
    /// How much later than the subframe it came, samples; early is negative.
    pub delay_samples: f32,
    /// Power against noise and other roots within its 839 subcarriers, dB.
    pub snr_db: f32,
}

/// Finds the preambles of a cell.
pub struct PrachDetector {
    subframe_len: usize,
    samples_of_point: f32,
    place: Place,
    preambles: Preambles,
    windows: Vec<Vec<Window>>,
    threshold: f32,
    forward: Arc<dyn Fft<f32>>,
    back: Arc<dyn Fft<f32>>,
    sequence: Vec<Complex32>,
    subcarriers: Vec<Complex32>,
    circle: Vec<Complex32>,
    scratch: Vec<Complex32>,
    profile: Vec<f32>,
    ranked: Vec<f32>,
    peaks: Vec<Peak>,
    found: Vec<PreambleFound>,
}

impl PrachDetector {
    /// # Errors
    /// If [`PrachConfig::check`] refuses the configuration.
    ///
    /// # Panics
    /// If the numerology is of another bandwidth.
    pub fn new(numerology: Numerology, bandwidth: Bandwidth, config: PrachConfig) -> Result<PrachDetector, Error> {
        assert_eq!(numerology.subcarriers, bandwidth.subcarriers(), "the numerology of {bandwidth} resource blocks");
        config.check(bandwidth)?;
        let place = Place::new(&numerology, &config);
        let preambles = Preambles::new(&config);
        let windows: Vec<_> = preambles.roots.iter().map(|root| windows(root, preambles.shift)).collect();
        let searched = windows.iter().flatten().filter(|window| window.preamble.is_some());
        let points: usize = searched.map(|window| window.len).sum();
        let (forward, back) = (takt_fft::forward(place.len), takt_fft::inverse(CIRCLE));
        let scratch = forward.get_inplace_scratch_len().max(back.get_inplace_scratch_len());
        Ok(PrachDetector {
            subframe_len: numerology.subframe_len(),
            samples_of_point: TS_OF_POINT * numerology.fft_len as f32 / SYMBOL_TS as f32,
            peaks: Vec::with_capacity(windows.iter().map(Vec::len).max().unwrap_or(0)),
            found: Vec::with_capacity(PREAMBLES.into()),
            threshold: (points as f32 / FALSE_ALARM).ln(),
            sequence: vec![Complex32::default(); place.len],
            subcarriers: vec![Complex32::default(); SEQUENCE_LEN],
            circle: vec![Complex32::default(); CIRCLE],
            scratch: vec![Complex32::default(); scratch],
            profile: vec![0.0; CIRCLE],
            ranked: Vec::with_capacity(CIRCLE),
            place,
            preambles,
            windows,
            forward,
            back,
        })
    }

    /// The preambles of a subframe, the strongest first. Any samples are welcome: those with a value that is not finite hold none.
    ///
    /// # Panics
    /// If `samples` are no subframe.
    pub fn detect(&mut self, samples: &[Complex32]) -> &[PreambleFound] {
        assert_eq!(samples.len(), self.subframe_len);
        self.found.clear();
        self.sequence.copy_from_slice(&samples[self.place.prefix..][..self.place.len]);
        self.forward.process_with_scratch(&mut self.sequence, &mut self.scratch);
        if self.take_subcarriers().is_some() {
            for root in 0..self.windows.len() {
                self.correlate(root);
                self.judge(root);
            }
        }
        self.found.sort_unstable_by(|one, other| other.snr_db.total_cmp(&one.snr_db));
        &self.found
    }

    /// Cuts out the sequence's subcarriers and gives them a mean power of 1. `None` if they have none.
    fn take_subcarriers(&mut self) -> Option<()> {
        let (first, second) = self.place.runs();
        let (low, high) = self.subcarriers.split_at_mut(first.len());
        low.copy_from_slice(&self.sequence[first]);
        high.copy_from_slice(&self.sequence[second]);
        let energy: f64 =
            self.subcarriers.iter().map(|value| f64::from(value.re).powi(2) + f64::from(value.im).powi(2)).sum();
        let scale = (SEQUENCE_LEN as f64 / energy).sqrt() as f32;
        self.subcarriers.iter_mut().for_each(|value| *value *= scale);
        (energy > 0.0 && energy.is_finite() && scale.is_finite()).then_some(())
    }

    /// The power of the correlation with a root on the circle: noise alone has a mean of 1, a preamble alone a peak of 839.
    fn correlate(&mut self, root: usize) {
        let spectrum = &self.preambles.roots[root].spectrum;
        let (products, rest) = self.circle.split_at_mut(SEQUENCE_LEN);
        for ((product, value), root) in products.iter_mut().zip(&self.subcarriers).zip(spectrum) {
            *product = value * root.conj();
        }
        rest.fill(Complex32::default());
        self.back.process_with_scratch(&mut self.circle, &mut self.scratch);
        self.profile.iter_mut().zip(&self.circle).for_each(|(power, value)| *power = value.norm_sqr());
    }

    /// Takes over the root's peaks that are preambles.
    fn judge(&mut self, root: usize) {
        let noise = self.noise();
        let strongest = self.profile.iter().copied().fold(0.0, f32::max);
        let threshold = self.threshold * noise.max(DYNAMIC_RANGE * strongest);
        let windows = &self.windows[root];
        peaks::find(&self.profile, windows, threshold, &mut self.peaks);
        let doppler_shift = self.preambles.roots[root].doppler_shift;
        for peak in &self.peaks {
            let Some(preamble) = windows[peak.window].preamble else { continue };
            let left = peaks::left_by_others(peak, &self.peaks, &self.profile, doppler_shift);
            if peak.power.sqrt() <= threshold.sqrt() + left {
                continue;
            }
            let points = (peak.at - windows[peak.window].origin + BEFORE).rem_euclid(CIRCLE as f32) - BEFORE;
            let snr = (peak.power / noise.max(f32::MIN_POSITIVE) - 1.0) / SEQUENCE_LEN as f32;
            self.found.push(PreambleFound {
                preamble,
                timing_advance: (points * TS_OF_POINT / TS_OF_STEP).round().max(0.0) as u16,
                delay_samples: points * self.samples_of_point,
                snr_db: 10.0 * snr.log10(),
            });
        }
    }

    /// The mean power of noise, from the median of every other point: ln 2 of the mean where the power is exponential.
    fn noise(&mut self) -> f32 {
        self.ranked.clear();
        self.ranked.extend(self.profile.iter().step_by(2));
        let middle = self.ranked.len() / 2;
        *self.ranked.select_nth_unstable_by(middle, f32::total_cmp).1 / LN_2
    }
}
