//! From pilots to subcarriers and symbols: the filters of [`super::estimate`], designed when it is built.
//!
//! First over frequency, symbol by symbol, then over time. The filters smooth as much as the noise asks for, so each exists
//! once per class of signal-to-noise ratio, 5 dB wide. The channel is assumed to have delays that fall off exponentially
//! around their mean, and Doppler shifts up to a limit; both only shape the filters, they are no bound.

use std::collections::HashMap;
use std::f64::consts::PI;

use num_complex::Complex32;

use super::band::place_of;
use super::filter::Observations;
use super::sequence::{REFERENCE_SYMBOLS, SPACING};
use crate::{SUBCARRIER_SPACING_HZ, SYMBOLS, SYMBOLS_OF_SLOT};

/// Pilots that a filter over frequency spans: all of the narrowest carrier.
pub(super) const TAPS: usize = 12;
/// Signal-to-noise ratios of the classes: -5, 0, .. 35 dB.
const CLASSES: usize = 9;
/// Delays fall to 1/e in this time either side of their mean.
const DELAY_S: f64 = 0.4e-6;
/// The highest Doppler shift, with some margin above the 70 Hz of EVA70.
const DOPPLER_HZ: f64 = 80.0;

/// The class of filters for a ratio of signal to noise.
pub(super) fn class_of(snr: f32) -> usize {
    let steps = (10.0 * snr.max(1e-9).log10() + 5.0) / 5.0;
    steps.round().clamp(0.0, (CLASSES - 1) as f32) as usize
}

/// Noise of a class, of a signal of power 1.
fn noise_of(class: usize) -> f64 {
    10f64.powf(-0.1 * (5.0 * class as f64 - 5.0))
}

/// A filter over [`TAPS`] pilots: each tap twice, for the real part and for the imaginary one, so that both are multiplied at
/// once.
pub(super) type Taps = [Complex32; TAPS];

/// The filters over frequency of one comb.
pub(super) struct OverFrequency {
    pub windows: Windows,
    /// For each class, the filters that the windows name.
    classes: Vec<Vec<Taps>>,
}

impl OverFrequency {
    /// For pilots on every sixth subcarrier from `comb` on.
    pub fn new(comb: usize, subcarriers: usize) -> OverFrequency {
        let windows = Windows::new(comb, subcarriers);
        let classes = (0..CLASSES).map(|class| windows.design(correlation_of_delays, noise_of(class))).collect();
        OverFrequency { windows, classes }
    }

    /// Estimates all subcarriers from the pilots of a symbol.
    pub fn apply(&self, class: usize, pilots: &[Complex32], channel: &mut [Complex32]) {
        let filters = &self.classes[class];
        for (value, window) in channel.iter_mut().zip(&self.windows.of) {
            *value = filtered(&pilots[usize::from(window.first)..][..TAPS], &filters[usize::from(window.shape)]);
        }
    }

    /// The share of the noise that filters of a class let through, away from the edges.
    fn noise_gain(&self, class: usize) -> f64 {
        let inner = &self.windows.of[self.windows.of.len() / 4];
        self.classes[class][usize::from(inner.shape)].iter().map(|tap| f64::from(tap.re * tap.re)).sum()
    }
}

/// The weighted sum, in partial sums that the compiler can make at once.
pub(super) fn filtered(pilots: &[Complex32], taps: &Taps) -> Complex32 {
    let mut sums = [Complex32::default(); 4];
    for (pilots, taps) in pilots.chunks_exact(4).zip(taps.chunks_exact(4)) {
        for at in 0..4 {
            sums[at].re += pilots[at].re * taps[at].re;
            sums[at].im += pilots[at].im * taps[at].im;
        }
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The correlation of two subcarriers so many apart, for a two-sided exponential profile of delays.
fn correlation_of_delays(subcarriers: f64) -> f64 {
    let turn = 2.0 * PI * subcarriers * SUBCARRIER_SPACING_HZ * DELAY_S;
    1.0 / (1.0 + turn * turn)
}

/// Which pilots each subcarrier is estimated from. Subcarriers whose pilots lie alike share a filter: all but those at the
/// edges and around the middle.
pub(super) struct Windows {
    pub of: Vec<Window>,
    /// For each filter, where its pilots are, from the subcarrier that it estimates.
    shapes: Vec<[i32; TAPS]>,
}

/// The pilots of one subcarrier.
pub(super) struct Window {
    /// The lowest.
    pub first: u16,
    /// Which filter.
    pub shape: u16,
}

impl Windows {
    fn new(comb: usize, subcarriers: usize) -> Windows {
        let (mut known, mut shapes) = (HashMap::new(), Vec::new());
        let last = (subcarriers / SPACING - TAPS) as isize;
        let mut window = |subcarrier: usize| {
            let below = (subcarrier as isize - comb as isize).div_euclid(SPACING as isize);
            let first = (below + 1 - TAPS as isize / 2).clamp(0, last) as usize;
            let from = place_of(subcarrier, subcarriers);
            let shape: [i32; TAPS] =
                std::array::from_fn(|tap| place_of(comb + (first + tap) * SPACING, subcarriers) - from);
            let shape = *known.entry(shape).or_insert_with(|| {
                shapes.push(shape);
                shapes.len() - 1
            });
            Window { first: first as u16, shape: shape as u16 }
        };
        Windows { of: (0..subcarriers).map(&mut window).collect(), shapes }
    }

    /// The filters for a correlation over subcarriers and noise of a signal of power 1.
    pub fn design(&self, correlation: fn(f64) -> f64, noise: f64) -> Vec<Taps> {
        let filter = |shape: &[i32; TAPS]| {
            let weights = Observations::new(&shape.map(f64::from), correlation, noise).weights(0.0);
            std::array::from_fn(|tap| Complex32::new(weights[tap] as f32, weights[tap] as f32))
        };
        self.shapes.iter().map(filter).collect()
    }
}

/// The filters over time: for each class and each symbol of a subframe, the weights of the symbols with pilots.
pub(super) struct OverTime {
    classes: Vec<[[f32; 4]; SYMBOLS]>,
}

impl OverTime {
    /// For rows that these filters over frequency made.
    pub fn new(rows: &OverFrequency) -> OverTime {
        let places = REFERENCE_SYMBOLS.map(seconds_of);
        let class = |class| {
            let noise = noise_of(class) * rows.noise_gain(class);
            let observations = Observations::new(&places, correlation_of_doppler, noise);
            std::array::from_fn(|symbol| {
                let weights = observations.weights(seconds_of(symbol));
                std::array::from_fn(|row| weights[row] as f32)
            })
        };
        OverTime { classes: (0..CLASSES).map(class).collect() }
    }

    /// The weights of the four rows for a symbol.
    pub fn weights(&self, class: usize, symbol: usize) -> [f32; 4] {
        self.classes[class][symbol]
    }
}

/// When a symbol of a subframe begins, from the first one's begin.
pub(super) fn seconds_of(symbol: usize) -> f64 {
    let (slot, within) = (symbol / SYMBOLS_OF_SLOT, symbol % SYMBOLS_OF_SLOT);
    0.5e-3 * slot as f64 + within as f64 * 2192.0 / 30.72e6
}

/// The correlation over seconds, for Doppler shifts that are spread evenly up to their limit.
fn correlation_of_doppler(seconds: f64) -> f64 {
    let turn = 2.0 * PI * DOPPLER_HZ * seconds;
    if turn == 0.0 { 1.0 } else { turn.sin() / turn }
}
