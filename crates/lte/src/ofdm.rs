//! Symbols to samples and back: OFDM of the downlink and SC-FDMA of the uplink, TS 36.211 sections 5.6 and 6.12.
//!
//! A grid whose elements all have power 1 becomes samples of root mean square `amplitude`; samples become elements of the
//! amplitude that they have: a grid that went both ways is multiplied by `amplitude`.

use std::f64::consts::PI;
use std::sync::Arc;

use num_complex::{Complex32, Complex64};
use takt_fft::Fft;

use crate::{Numerology, ResourceGrid, SYMBOLS};

/// Which of a carrier's two directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the base station: the subcarrier in the middle is empty.
    Downlink,
    /// From a terminal: no subcarrier is empty, since all are shifted by half of their distance.
    Uplink,
}

/// Turns grids into samples.
pub struct Modulator {
    numerology: Numerology,
    direction: Direction,
    fft: Arc<dyn Fft<f32>>,
    /// The factor of each sample of a symbol with the longest prefix: the scale, in the uplink with half a subcarrier's turn.
    turns: Vec<Complex32>,
    symbol: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl Modulator {
    /// For samples of this amplitude (root mean square) where all elements have power 1.
    #[must_use]
    pub fn new(numerology: Numerology, direction: Direction, amplitude: f32) -> Modulator {
        let fft = takt_fft::inverse(numerology.fft_len);
        let scratch = vec![Complex32::default(); fft.get_inplace_scratch_len()];
        let scale = amplitude / (numerology.subcarriers as f32).sqrt();
        let turns = half_a_subcarrier(&numerology, if direction == Direction::Uplink { 1.0 } else { 0.0 });
        Modulator {
            numerology,
            direction,
            fft,
            turns: turns.into_iter().map(|turn| turn * scale).collect(),
            symbol: vec![Complex32::default(); numerology.fft_len],
            scratch,
        }
    }

    /// The shape of what it makes.
    #[must_use]
    pub fn numerology(&self) -> &Numerology {
        &self.numerology
    }

    /// Fills a subframe of samples.
    ///
    /// # Panics
    /// If grid or samples have another shape.
    pub fn modulate(&mut self, grid: &ResourceGrid, samples: &mut [Complex32]) {
        let Numerology { fft_len, subcarriers, .. } = self.numerology;
        assert_eq!((grid.subcarriers(), samples.len()), (subcarriers, self.numerology.subframe_len()));
        for symbol in 0..SYMBOLS {
            let (low, high) = grid.symbol(symbol).split_at(subcarriers / 2);
            let first = usize::from(self.direction == Direction::Downlink);
            self.symbol[..first].fill(Complex32::default());
            self.symbol[first..][..high.len()].copy_from_slice(high);
            self.symbol[first + high.len()..fft_len - low.len()].fill(Complex32::default());
            self.symbol[fft_len - low.len()..].copy_from_slice(low);
            self.fft.process_with_scratch(&mut self.symbol, &mut self.scratch);
            let prefix = self.numerology.prefix_of(symbol);
            let begin = self.numerology.begin_of(symbol) - prefix;
            let (guard, body) = samples[begin..][..prefix + fft_len].split_at_mut(prefix);
            let (of_guard, of_body) = self.turns[self.numerology.first_prefix - prefix..].split_at(prefix);
            multiply(&self.symbol[fft_len - prefix..], of_guard, guard);
            multiply(&self.symbol, of_body, body);
        }
    }
}

/// Turns samples into grids.
pub struct Demodulator {
    numerology: Numerology,
    direction: Direction,
    /// Samples before the end of each prefix at which the transform begins.
    early: usize,
    fft: Arc<dyn Fft<f32>>,
    shift: Vec<Complex32>,
    /// A factor for each subcarrier, which undoes that the transform begins early.
    ramp: Vec<Complex32>,
    symbol: Vec<Complex32>,
    scratch: Vec<Complex32>,
}

impl Demodulator {
    /// The transform begins `early` samples before the end of each prefix, so that a signal that is early by less, or late by
    /// less than the prefix without them, loses nothing. The elements are those of a transform that begins at the end.
    ///
    /// # Panics
    /// If `early` is longer than the shorter prefix.
    #[must_use]
    pub fn new(numerology: Numerology, direction: Direction, early: usize) -> Demodulator {
        assert!(early <= numerology.prefix, "{early} of a prefix of {}", numerology.prefix);
        let fft = takt_fft::forward(numerology.fft_len);
        let scratch = vec![Complex32::default(); fft.get_inplace_scratch_len()];
        let Numerology { fft_len, subcarriers, .. } = numerology;
        let scale = (subcarriers as f64).sqrt() / fft_len as f64;
        let ramp = (0..subcarriers).map(|at| {
            let bin = bin_of(at, &numerology, direction);
            let turns = (bin * early) % fft_len;
            let turn = Complex64::from_polar(scale, 2.0 * PI * turns as f64 / fft_len as f64);
            Complex32::new(turn.re as f32, turn.im as f32)
        });
        Demodulator {
            numerology,
            direction,
            early,
            ramp: ramp.collect(),
            fft,
            shift: half_a_subcarrier(&numerology, -1.0),
            symbol: vec![Complex32::default(); fft_len],
            scratch,
        }
    }

    /// The shape of what it takes.
    #[must_use]
    pub fn numerology(&self) -> &Numerology {
        &self.numerology
    }

    /// Fills a grid from a subframe of samples.
    ///
    /// # Panics
    /// If grid or samples have another shape.
    pub fn demodulate(&mut self, samples: &[Complex32], grid: &mut ResourceGrid) {
        let Numerology { fft_len, subcarriers, .. } = self.numerology;
        assert_eq!((grid.subcarriers(), samples.len()), (subcarriers, self.numerology.subframe_len()));
        for symbol in 0..SYMBOLS {
            let begin = self.numerology.begin_of(symbol) - self.early;
            let samples = &samples[begin..][..fft_len];
            if self.direction == Direction::Uplink {
                let shift = &self.shift[self.numerology.first_prefix - self.early..];
                multiply(samples, shift, &mut self.symbol);
            } else {
                self.symbol.copy_from_slice(samples);
            }
            self.fft.process_with_scratch(&mut self.symbol, &mut self.scratch);
            let first = usize::from(self.direction == Direction::Downlink);
            let half = subcarriers / 2;
            let (low, high) = grid.symbol_mut(symbol).split_at_mut(half);
            let (of_low, of_high) = self.ramp.split_at(half);
            multiply(&self.symbol[fft_len - half..], of_low, low);
            multiply(&self.symbol[first..], of_high, high);
        }
    }
}

/// Writes products, as many as `out` has. One loop over plain slices: the compiler makes several at once of it.
fn multiply(values: &[Complex32], factors: &[Complex32], out: &mut [Complex32]) {
    let (values, factors) = (&values[..out.len()], &factors[..out.len()]);
    for ((out, value), factor) in out.iter_mut().zip(values).zip(factors) {
        *out = value * factor;
    }
}

/// The point of the transform that holds a subcarrier.
fn bin_of(subcarrier: usize, numerology: &Numerology, direction: Direction) -> usize {
    let half = numerology.subcarriers / 2;
    match (subcarrier < half, direction) {
        (true, _) => numerology.fft_len - half + subcarrier,
        (false, Direction::Downlink) => subcarrier - half + 1,
        (false, Direction::Uplink) => subcarrier - half,
    }
}

/// exp(sign j pi t / N), t counted from the end of the prefix, from the longest prefix's first sample on.
fn half_a_subcarrier(numerology: &Numerology, sign: f64) -> Vec<Complex32> {
    let from = -(numerology.first_prefix as i64);
    let turn = |at: i64| Complex64::from_polar(1.0, sign * PI * at as f64 / numerology.fft_len as f64);
    (from..numerology.fft_len as i64).map(turn).map(|turn| Complex32::new(turn.re as f32, turn.im as f32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bandwidth, Sampling};

    #[test]
    fn a_grid_comes_back_wherever_in_the_prefix_the_transform_begins() {
        for bandwidth in Bandwidth::ALL {
            for direction in [Direction::Downlink, Direction::Uplink] {
                let numerology = Numerology::new(bandwidth, Sampling::Standard).unwrap();
                let mut sent = ResourceGrid::new(bandwidth);
                for (at, element) in sent.elements_mut().iter_mut().enumerate() {
                    *element = Complex32::from_polar(1.0, (at * at % 1009) as f32);
                }
                let mut samples = vec![Complex32::default(); numerology.subframe_len()];
                Modulator::new(numerology, direction, 0.25).modulate(&sent, &mut samples);
                let power: f32 = samples.iter().map(Complex32::norm_sqr).sum::<f32>() / samples.len() as f32;
                assert!((power.sqrt() / 0.25 - 1.0).abs() < 0.05, "{power}");
                for early in [0, numerology.prefix / 2, numerology.prefix] {
                    let mut received = ResourceGrid::new(bandwidth);
                    Demodulator::new(numerology, direction, early).demodulate(&samples, &mut received);
                    for (sent, received) in sent.elements().iter().zip(received.elements()) {
                        assert!((sent * 0.25 - received).norm() < 1e-5, "{bandwidth} {direction:?} {early}");
                    }
                }
            }
        }
    }
}
