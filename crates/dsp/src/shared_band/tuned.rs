//! The fast way of one channel: its bins of the shared spectrum, its weights, and its short transform.
//!
//! Bin k of a transform of N wide samples has the frequency k / N. The channel takes the M bins around its centre. Bin k goes to
//! place k modulo M of the short transform, so its phase there is exact and a mixer at the channel's own rate does the rest.
//! The weight of a bin is the response of the filter, turned by the ticks from the block's first sample to the first
//! sample of the channel.

use std::f64::consts::TAU;
use std::ops::Range;
use std::sync::Arc;

use num_complex::{Complex32, Complex64};
use takt_fft::{Fft, FftDirection};

use super::TURN;
use super::filter::response;
use super::plan::BandPlan;
use crate::Rotation;
use crate::simd::vectorised;

/// A channel tuned to a centre and to a delay.
pub(super) struct TunedBins {
    /// Wide samples in a transform, and ticks of a wide sample.
    wide_len: usize,
    wide_step: u32,
    step: u32,
    first_bin: i64,
    weights: Box<[Complex32]>,
    /// Centre and delay of the weights.
    tuned: Option<(Rotation, i64)>,
    pub(super) values: Box<[Complex32]>,
    transform: Arc<dyn Fft<f32>>,
    scratch: Box<[Complex32]>,
    /// By which the weights are multiplied.
    scale: f64,
    /// +1 for samples behind the block's first, as received; -1 as sent.
    sense: f64,
}

impl TunedBins {
    /// For cutting out (`Inverse`) or placing in (`Forward`).
    pub(super) fn new(plan: &BandPlan, step: u32, direction: FftDirection) -> TunedBins {
        let len = plan.narrow_len(step);
        let transform = takt_fft::plan(len, direction);
        let (scale, sense) = match direction {
            FftDirection::Inverse => (1.0 / plan.len as f64, 1.0),
            FftDirection::Forward => (1.0 / len as f64, -1.0),
        };
        TunedBins {
            wide_len: plan.len,
            wide_step: plan.wide.step,
            step,
            first_bin: 0,
            weights: vec![Complex32::default(); len].into(),
            tuned: None,
            values: vec![Complex32::default(); len].into(),
            scratch: vec![Complex32::default(); transform.get_inplace_scratch_len()].into(),
            transform,
            scale,
            sense,
        }
    }

    /// Makes the weights for a centre and for a delay of the channel's samples in ticks, unless they are there.
    pub(super) fn tune(&mut self, centre: Rotation, delay: i64) {
        if self.tuned == Some((centre, delay)) {
            return;
        }
        self.tuned = Some((centre, delay));
        let block_ticks = self.wide_len as f64 * f64::from(self.wide_step);
        let centre_bin = (centre.raw() as i64) as f64 / TURN * block_ticks;
        self.first_bin = (centre_bin - self.weights.len() as f64 / 2.0).ceil() as i64;
        let turns_per_bin = self.sense * delay as f64 / block_ticks;
        let rates_per_bin = f64::from(self.step) / block_ticks;
        for (bin, weight) in (self.first_bin..).zip(&mut self.weights) {
            let gain = self.scale * response((bin as f64 - centre_bin) * rates_per_bin);
            let turns = bin as f64 * turns_per_bin;
            let turned = Complex64::from_polar(gain, (turns - turns.round()) * TAU);
            *weight = Complex32::new(turned.re as f32, turned.im as f32);
        }
    }

    /// Cuts the channel out of a spectrum: afterwards `values` has its samples in time.
    pub(super) fn cut(&mut self, spectrum: &[Complex32]) {
        for (bins, wide, narrow) in self.runs() {
            weigh(&spectrum[wide], &self.weights[bins], &mut self.values[narrow]);
        }
        self.transform.process_with_scratch(&mut self.values, &mut self.scratch);
    }

    /// Adds `values`, samples in time, to a spectrum, and overwrites them.
    pub(super) fn place(&mut self, spectrum: &mut [Complex32]) {
        self.transform.process_with_scratch(&mut self.values, &mut self.scratch);
        for (bins, wide, narrow) in self.runs() {
            add_weighed(&self.values[narrow], &self.weights[bins], &mut spectrum[wide]);
        }
    }

    /// The bins in runs that wrap neither in the wide spectrum nor in the channel's: places in weights, wide and narrow.
    fn runs(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>, Range<usize>)> + use<> {
        let (wide_len, narrow_len, first) = (self.wide_len, self.weights.len(), self.first_bin);
        let mut at = 0;
        std::iter::from_fn(move || {
            let bin = first + at as i64;
            let (wide, narrow) = (bin.rem_euclid(wide_len as i64) as usize, bin.rem_euclid(narrow_len as i64) as usize);
            let count = (narrow_len - at).min(wide_len - wide).min(narrow_len - narrow);
            let run = (at..at + count, wide..wide + count, narrow..narrow + count);
            at += count;
            (count > 0).then_some(run)
        })
    }
}

vectorised!(fn weigh(input: &[Complex32], weights: &[Complex32], out: &mut [Complex32]) = weigh_scalar);
vectorised!(fn add_weighed(input: &[Complex32], weights: &[Complex32], out: &mut [Complex32]) = add_weighed_scalar);

#[inline(always)]
fn weigh_scalar(input: &[Complex32], weights: &[Complex32], out: &mut [Complex32]) {
    for ((out, x), weight) in out.iter_mut().zip(input).zip(weights) {
        *out = Complex32::new(x.re * weight.re - x.im * weight.im, x.re * weight.im + x.im * weight.re);
    }
}

#[inline(always)]
fn add_weighed_scalar(input: &[Complex32], weights: &[Complex32], out: &mut [Complex32]) {
    for ((out, x), weight) in out.iter_mut().zip(input).zip(weights) {
        *out += Complex32::new(x.re * weight.re - x.im * weight.im, x.re * weight.im + x.im * weight.re);
    }
}
