//! The power of the noise: what is left of pilots once the channel is taken off.
//!
//! A filter predicts each pilot from its neighbours and itself. It passes all delays within [`DELAY_S`] of the mean, so what it
//! leaves is noise, though not all of it: as much as the squares of its taps add up to. Dividing by that corrects it.

use std::f64::consts::PI;

use num_complex::Complex32;

use super::channel::{TAPS, Taps, Window, Windows, filtered};
use super::sequence::SPACING;
use crate::SUBCARRIER_SPACING_HZ;

/// Paths up to so far from the mean delay count as channel.
const DELAY_S: f64 = 2.2e-6;
/// How well the channel is taken off: a residual this far below the signal is not noise.
const FLOOR: f64 = 3e-5;

/// The residual filters of one comb.
pub(super) struct NoiseFilter {
    /// For each pilot: the first pilot of its window, and what makes its residual.
    residuals: Vec<(usize, Taps)>,
    gain: f32,
}

impl NoiseFilter {
    /// For the pilots of `windows`, which begin at subcarrier `comb`.
    pub fn new(comb: usize, windows: &Windows) -> NoiseFilter {
        let shapes = windows.design(correlation, FLOOR);
        let residual = |(pilot, window): (usize, &Window)| {
            let first = usize::from(window.first);
            let mut taps = shapes[usize::from(window.shape)].map(|tap| -tap);
            taps[pilot - first] += Complex32::new(1.0, 1.0);
            (first, taps)
        };
        let residuals: Vec<(usize, Taps)> =
            windows.of.iter().skip(comb).step_by(SPACING).enumerate().map(residual).collect();
        let gain = residuals.iter().flat_map(|(_, taps)| taps).map(|tap| tap.re * tap.re).sum();
        NoiseFilter { residuals, gain }
    }

    /// The noise of a pilot, its power. The mean delay is taken off already.
    pub fn power(&self, pilots: &[Complex32]) -> f32 {
        let residual = |(first, taps): &(usize, Taps)| filtered(&pilots[*first..][..TAPS], taps).norm_sqr();
        self.residuals.iter().map(residual).sum::<f32>() / self.gain
    }
}

/// Over subcarriers, for delays spread evenly up to the limit.
fn correlation(subcarriers: f64) -> f64 {
    let turn = 2.0 * PI * subcarriers * SUBCARRIER_SPACING_HZ * DELAY_S;
    if turn == 0.0 { 1.0 } else { turn.sin() / turn }
}
