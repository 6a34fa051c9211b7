//! A carrier's samples at any rate to 1.92 MS/s, finite and of a size that no later product overflows.

use std::f64::consts::PI;

use num_complex::Complex32;

/// The filter's length on either side of its middle, in samples of the low rate. With Blackman's window the filter passes up to
/// 0.52 MHz and stops, 74 dB down, from 1.40 MHz on: all that folds onto the synchronisation signals, which end at 0.48 MHz.
const HALF_SPAN: usize = 6;

/// Low-rate samples made at a time.
const BLOCK: usize = 64;

/// Filters and takes every `ratio`th sample.
pub(super) struct Decimator {
    ratio: usize,
    taps: Vec<f32>,
    block: Vec<Complex32>,
}

impl Decimator {
    pub(super) fn new(ratio: usize) -> Decimator {
        let taps = if ratio == 1 { vec![1.0] } else { low_pass(ratio) };
        let block = vec![Complex32::default(); (BLOCK - 1) * ratio + taps.len()];
        Decimator { ratio, taps, block }
    }

    /// Fills `out`; its sample m is at sample m `ratio` of the input, times `scale`. Samples that are not finite count as zero, as
    /// do those beyond both ends.
    pub(super) fn decimate(&mut self, samples: &[Complex32], scale: f32, out: &mut [Complex32]) {
        let before = self.taps.len() / 2;
        for (index, out) in out.chunks_mut(BLOCK).enumerate() {
            let first = index * BLOCK * self.ratio;
            for (at, clean) in self.block.iter_mut().enumerate() {
                let sample = (first + at).checked_sub(before).and_then(|at| samples.get(at));
                *clean =
                    sample.filter(|sample| sample.is_finite()).map_or_else(Complex32::default, |sample| sample * scale);
            }
            for (at, out) in out.iter_mut().enumerate() {
                let inputs = &self.block[at * self.ratio..];
                *out = inputs.iter().zip(&self.taps).map(|(sample, tap)| sample * tap).sum();
            }
        }
    }
}

/// The factor that makes the largest finite component 1. None if there is none, or none that a float can be divided by.
pub(super) fn scale_of(samples: &[Complex32]) -> Option<f32> {
    let finite = samples.iter().filter(|sample| sample.is_finite());
    let largest = finite.fold(0.0f32, |largest, sample| largest.max(sample.re.abs()).max(sample.im.abs()));
    (largest >= f32::MIN_POSITIVE * 16.0).then(|| 1.0 / largest)
}

/// A windowed sinc that halves the amplitude at half of the low rate. Its taps add up to 1.
fn low_pass(ratio: usize) -> Vec<f32> {
    let half = (HALF_SPAN * ratio) as i64;
    let tap = |at: i64| {
        let x = at as f64 / ratio as f64;
        let sinc = if at == 0 { 1.0 } else { (PI * x).sin() / (PI * x) };
        let phase = PI * at as f64 / half as f64;
        sinc * (0.42 + 0.5 * phase.cos() + 0.08 * (2.0 * phase).cos())
    };
    let taps: Vec<f64> = (-half..=half).map(tap).collect();
    let sum: f64 = taps.iter().sum();
    taps.iter().map(|tap| (tap / sum) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The power that a tone of power 1 leaves in the middle of the output.
    fn response(ratio: usize, hz: f64) -> f32 {
        let turns = hz / (1.92e6 * ratio as f64);
        let tone = |at: usize| Complex32::from_polar(1.0, (2.0 * PI * (turns * at as f64).fract()) as f32);
        let tone: Vec<Complex32> = (0..400 * ratio).map(tone).collect();
        let mut out = vec![Complex32::default(); 400];
        Decimator::new(ratio).decimate(&tone, 1.0, &mut out);
        out[20..380].iter().map(Complex32::norm_sqr).sum::<f32>() / 360.0
    }

    #[test]
    fn the_middle_passes_and_nothing_folds_onto_it() {
        for ratio in [2, 3, 4, 6, 8, 9, 12, 16] {
            for hz in [-475e3, -10e3, 0.0, 475e3] {
                assert!((response(ratio, hz) - 1.0).abs() < 0.02, "{ratio} {hz}");
            }
            for hz in [1.44e6, -1.44e6, 1.92e6, ratio as f64 * 0.96e6] {
                assert!(response(ratio, hz) < 1e-7, "{ratio} {hz} {}", response(ratio, hz));
            }
        }
    }

    #[test]
    fn a_sample_that_is_no_number_counts_as_zero() {
        let mut samples = vec![Complex32::new(2.0, -4.0); 1000];
        assert_eq!(scale_of(&samples), Some(0.25));
        samples[500] = Complex32::new(f32::NAN, 0.0);
        samples[501].im = f32::INFINITY;
        let mut out = vec![Complex32::default(); 250];
        Decimator::new(4).decimate(&samples, scale_of(&samples).unwrap(), &mut out);
        assert!(out.iter().all(|sample| sample.norm() < 1.3));
        assert_eq!(scale_of(&[Complex32::default(), Complex32::new(f32::NAN, 1.0)]), None);
    }
}
