//! The search: from samples to cells.
//!
//! 1. Correlation with the three primary signals at five frequencies, its power added over eight half frames (`correlate`).
//! 2. At the highest peak, the secondary signal against the channel that the primary shows: which cell, which half (`identify`).
//! 3. Frequency and time, now that both signals are known (`offset`, here).
//! 4. The cell's signals are taken out (`cancel`), and all begins again, until no peak is left.
//!
//! Nothing is assumed on the level. A peak counts in relation to the average place, so that noise, tones and data have none.

use num_complex::{Complex32, Complex64};

use super::cancel::Canceller;
use super::correlate::{Candidate, Correlator, replica};
use super::decimate::{Decimator, scale_of};
use super::elements::Extractor;
use super::identify::Identifier;
use super::offset::{of_phase, powers, residual};
use super::{FFT_LEN, HALF_FRAME, HALF_FRAMES, PRIMARY_BEGIN, SEARCH_LEN};
use crate::{CellId, Numerology};

/// Cells that a search finds at most, and places that it looks at.
const MOST_CELLS: usize = 4;
const MOST_CANDIDATES: usize = 12;
/// How much weaker than the strongest a cell may be, as a ratio of powers. Below, a strong cell's reference signals, which
/// repeat too, begin to look like cells.
const WEAKEST: f32 = 0.1;

/// A cell that is there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FoundCell {
    /// Its physical identity.
    pub id: CellId,
    /// The sample with which its first whole frame begins, prefix included. It is an average over the search: with a sampling
    /// offset of 5 ppm the first frame begins up to 0.1 us beside it.
    pub frame_begin: usize,
    /// How much higher than expected it is received, Hz. The search is made for offsets within 7.5 kHz.
    pub frequency_offset_hz: f32,
    /// An element of its synchronisation signals against all else on that subcarrier, 60 dB at most.
    pub snr_db: f32,
    /// The power of such an element, on the scale of [`Demodulator`](crate::Demodulator).
    pub power: f32,
}

/// Finds cells in samples of any rate. A plan: it holds its buffers, some 1.5 MB.
///
/// At -3 dB the search finds a cell in 1000 tries of 1000 (`tests/together/sync`), with an offset of up to 7.5 kHz and a
/// sampling rate that is 5 ppm off. Its frequency then errs by 90 Hz (root mean square), and by 150 Hz where the cell has no traffic.
pub struct CellSearch {
    numerology: Numerology,
    decimator: Decimator,
    correlator: Correlator,
    extractor: Extractor,
    identifier: Identifier,
    canceller: Canceller,
    /// The samples at 1.92 MS/s, less what was found.
    samples: Vec<Complex32>,
}

impl CellSearch {
    /// For samples of this rate. The carrier may have another bandwidth, since only its middle is looked at.
    #[must_use]
    pub fn new(numerology: Numerology) -> CellSearch {
        CellSearch {
            numerology,
            decimator: Decimator::new(numerology.fft_len / FFT_LEN),
            correlator: Correlator::new(),
            extractor: Extractor::new(),
            identifier: Identifier::new(),
            canceller: Canceller::new(),
            samples: vec![Complex32::default(); SEARCH_LEN],
        }
    }

    /// The samples of a search: four frames and two symbols, 40.2 ms.
    #[must_use]
    pub fn samples_wanted(&self) -> usize {
        SEARCH_LEN * self.ratio()
    }

    /// The cells in the first [`samples_wanted`](Self::samples_wanted) samples, the strongest first, and none weaker than it by
    /// more than 10 dB. Samples that are not finite count as zero.
    ///
    /// Two cells of one family whose frames begin together send the same primary signal: the search finds the stronger.
    ///
    /// # Panics
    /// If there are fewer samples.
    pub fn search(&mut self, samples: &[Complex32]) -> Vec<FoundCell> {
        let samples = &samples[..self.samples_wanted()];
        let mut found: Vec<FoundCell> = Vec::new();
        let Some(scale) = scale_of(samples) else { return found };
        self.decimator.decimate(samples, scale, &mut self.samples);
        remove_mean(&mut self.samples);
        self.correlator.run(&self.samples);
        let mut seen = Vec::new();
        while found.len() < MOST_CELLS && seen.len() < MOST_CANDIDATES {
            let Some(candidate) = self.correlator.peak(&seen) else { break };
            seen.push(candidate);
            let least = found.first().map_or(0.0, |strongest| strongest.power * WEAKEST);
            if let Some(cell) = self.examine(&candidate, scale, least) {
                if found.iter().all(|other| other.id != cell.id) {
                    found.push(cell);
                }
                self.correlator.run(&self.samples);
            }
        }
        found.sort_by(|one, other| other.power.total_cmp(&one.power));
        found
    }

    /// The cell at a place, which it then takes out of the samples, unless its power is below `least`.
    fn examine(&mut self, candidate: &Candidate, scale: f32, least: f32) -> Option<FoundCell> {
        let Candidate { within_group, at, frequency_hz } = *candidate;
        let pairs = self.extractor.pairs(&self.samples, at, within_group, frequency_hz);
        let identity = self.identifier.identify(&pairs, within_group)?;
        let coarse_hz = frequency_hz + f64::from(of_phase(identity.phase));

        let (at, late) = self.place(at, within_group, coarse_hz);
        let mut signs = self.identifier.signs(identity.id).each_ref();
        if identity.begins_with_5 {
            signs.reverse();
        }
        let mut pairs = self.extractor.pairs(&self.samples, at, within_group, coarse_hz);
        pairs.iter_mut().enumerate().for_each(|(half_frame, pair)| pair.strip(signs[half_frame % 2]));
        let (signal, noise) = powers(&pairs);
        let power = signal * self.power_scale() / (scale * scale);
        // A power that is no number is no cell's either.
        if power.is_nan() || power < least {
            return None;
        }

        let frame_len = 2 * HALF_FRAME;
        let half = if identity.begins_with_5 { HALF_FRAME } else { 0 };
        let frame_begin = (at + frame_len - PRIMARY_BEGIN - half) % frame_len;
        let fine_hz = residual(&pairs, &self.samples, frame_begin, coarse_hz as f32);
        self.canceller.cancel(&mut self.samples, &pairs, at, within_group, signs, coarse_hz);
        let frame_begin = ((frame_begin as f32 + late) * self.ratio() as f32).round() as i64;
        Some(FoundCell {
            id: identity.id,
            frame_begin: frame_begin.rem_euclid(self.numerology.frame_len() as i64) as usize,
            frequency_offset_hz: coarse_hz as f32 + fine_hz,
            snr_db: 10.0 * (signal / noise).log10(),
            power,
        })
    }

    /// The best place near this one at this frequency, and how much later than it the signal is, in parts of a sample. A peak
    /// moves with the frequency, so that the first place is but near.
    fn place(&self, near: usize, within_group: usize, frequency_hz: f64) -> (usize, f32) {
        const REACH: usize = 2;
        let replica = replica(within_group, frequency_hz);
        let power = |at: usize| -> f32 {
            let correlation = |half_frame: usize| -> Complex32 {
                let samples = &self.samples[at + half_frame * HALF_FRAME..];
                samples.iter().zip(&replica).map(|(sample, sent)| sample * sent.conj()).sum()
            };
            (0..HALF_FRAMES).map(|half_frame| correlation(half_frame).norm_sqr()).sum()
        };
        let powers: [f32; 2 * REACH + 1] = std::array::from_fn(|index| power(near + index - REACH));
        let best = (1..2 * REACH).fold(REACH, |best, index| if powers[index] > powers[best] { index } else { best });
        let (before, peak, after) = (powers[best - 1], powers[best], powers[best + 1]);
        // The top of the parabola through three powers.
        let late = 0.5 * (after - before) / (2.0 * peak - before - after);
        (near + best - REACH, if late.is_finite() { late.clamp(-0.5, 0.5) } else { 0.0 })
    }

    fn ratio(&self) -> usize {
        self.numerology.fft_len / FFT_LEN
    }

    /// From the power of a point of the transform to that of the demodulator's element.
    fn power_scale(&self) -> f32 {
        self.numerology.subcarriers as f32 / (FFT_LEN * FFT_LEN) as f32
    }
}

/// Takes away a receiver's oscillator that leaks into the middle. A downlink has nothing there, but with a frequency offset the
/// leak falls onto its subcarriers.
fn remove_mean(samples: &mut [Complex32]) {
    let wide = samples.iter().map(|sample| Complex64::new(sample.re.into(), sample.im.into()));
    let mean = wide.sum::<Complex64>() / samples.len() as f64;
    let mean = Complex32::new(mean.re as f32, mean.im as f32);
    samples.iter_mut().for_each(|sample| *sample -= mean);
}
