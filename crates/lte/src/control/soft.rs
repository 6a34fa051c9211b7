//! Received elements as soft values whose level is known: how they compare with what the channel lets expect says whether
//! anything was sent.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, demodulate};

use crate::ResourceGrid;

/// Elements of a received grid against its channel: y h* and |h|^2.
#[derive(Clone, Debug, Default)]
pub(crate) struct Matched {
    pub(crate) symbols: Vec<Complex32>,
    pub(crate) weights: Vec<f32>,
}

impl Matched {
    /// Room for a given number of elements.
    pub(crate) fn with_capacity(elements: usize) -> Matched {
        Matched { symbols: Vec::with_capacity(elements), weights: Vec::with_capacity(elements) }
    }

    /// Takes other elements, by their places in both grids.
    pub(crate) fn gather(
        &mut self,
        received: &ResourceGrid,
        gains: &ResourceGrid,
        places: impl Iterator<Item = usize>,
    ) {
        self.symbols.clear();
        self.weights.clear();
        for place in places {
            let gain = gains.elements()[place];
            self.symbols.push(received.elements()[place] * gain.conj());
            self.weights.push(gain.norm_sqr());
        }
    }
}

/// Soft values of QPSK, two an element.
#[derive(Clone, Debug)]
pub(crate) struct SoftBits {
    pub(crate) llrs: Vec<i8>,
    /// The soft value of a bit without noise, for an element of weight 1.
    unit: f32,
}

impl SoftBits {
    /// Room for two soft values an element.
    pub(crate) fn with_capacity(elements: usize) -> SoftBits {
        SoftBits { llrs: Vec::with_capacity(2 * elements), unit: 0.0 }
    }

    /// Demodulates all elements.
    pub(crate) fn demodulate(&mut self, matched: &Matched, noise_power: f32) {
        let mean = matched.weights.iter().sum::<f32>() / matched.weights.len().max(1) as f32;
        self.unit = level(noise_power / mean) / mean;
        if !self.unit.is_finite() {
            self.unit = 0.0;
        }
        self.llrs.resize(2 * matched.symbols.len(), 0);
        // QPSK without noise gives 2 |h|^2 times the scale.
        demodulate(Modulation::Qpsk, self.unit / 2.0, &matched.symbols, None, &mut self.llrs);
    }

    /// The sum of the soft values of elements with these weights, without noise and each in the direction of its bit.
    pub(crate) fn expected(&self, weights: &[f32]) -> f32 {
        2.0 * self.unit * weights.iter().sum::<f32>()
    }
}

/// The soft value of a bit without noise: as high as leaves room for three times the deviation of the noise, relative to a
/// signal of power 1.
fn level(noise_power: f32) -> f32 {
    (120.0 / (1.0 + 3.0 * noise_power.max(0.0).sqrt())).clamp(6.0, 40.0)
}
