//! The elements of both synchronisation signals in each half frame, as a channel's gains.

use std::f64::consts::PI;
use std::sync::Arc;

use num_complex::{Complex32, Complex64};
use takt_fft::Fft;

use super::correlate::bin_of;
use super::primary::primary;
use super::{FFT_LEN, HALF_FRAME, HALF_FRAMES, LEN, RATE_SPS, SYMBOL};

/// Elements on either side over which a gain is averaged: 105 kHz in all, over which delays of a microsecond are still one phase.
const NEIGHBOURS: usize = 3;
/// How many elements an average has.
pub(super) const AVERAGED: usize = 2 * NEIGHBOURS + 1;

/// A value of each subcarrier.
pub(super) type Elements = [Complex32; LEN];

/// One half frame.
#[derive(Clone, Copy)]
pub(super) struct Pair {
    /// The gain that the primary signal shows at each subcarrier.
    pub(super) primary: Elements,
    /// The secondary signal's elements as received, times its signs once they are known.
    pub(super) secondary: Elements,
}

impl Pair {
    /// Makes gains of the secondary signal's elements.
    pub(super) fn strip(&mut self, signs: &[i8; LEN]) {
        self.secondary.iter_mut().zip(signs).for_each(|(element, sign)| *element *= f32::from(*sign));
    }
}

/// Takes symbols out of samples.
pub(super) struct Extractor {
    fft: Arc<dyn Fft<f32>>,
    primaries: [Elements; 3],
    symbol: [Complex32; FFT_LEN],
    scratch: Vec<Complex32>,
}

impl Extractor {
    pub(super) fn new() -> Extractor {
        let fft = takt_fft::forward(FFT_LEN);
        let scratch = vec![Complex32::default(); fft.get_inplace_scratch_len()];
        Extractor { fft, primaries: [0, 1, 2].map(primary), symbol: [Complex32::default(); FFT_LEN], scratch }
    }

    /// All half frames of the primary signal that is first at `at`, after the frequency was taken away.
    pub(super) fn pairs(
        &mut self,
        samples: &[Complex32],
        at: usize,
        within_group: usize,
        frequency_hz: f64,
    ) -> [Pair; HALF_FRAMES] {
        std::array::from_fn(|half_frame| {
            let begin = at + half_frame * HALF_FRAME;
            let mut primary = self.symbol(samples, begin, frequency_hz);
            primary.iter_mut().zip(&self.primaries[within_group]).for_each(|(element, sent)| *element *= sent.conj());
            Pair { primary, secondary: self.symbol(samples, begin - SYMBOL, frequency_hz) }
        })
    }

    fn symbol(&mut self, samples: &[Complex32], begin: usize, frequency_hz: f64) -> Elements {
        self.symbol.copy_from_slice(&samples[begin..][..FFT_LEN]);
        rotate(&mut self.symbol, begin, -frequency_hz);
        self.fft.process_with_scratch(&mut self.symbol, &mut self.scratch);
        std::array::from_fn(|n| self.symbol[bin_of(n)])
    }
}

/// Shifts samples from `begin` on by a frequency, whose phase at sample 0 is 0.
pub(super) fn rotate(samples: &mut [Complex32], begin: usize, frequency_hz: f64) {
    let turns = frequency_hz / RATE_SPS;
    let mut turn = Complex64::from_polar(1.0, 2.0 * PI * (turns * begin as f64).fract());
    let step = Complex64::from_polar(1.0, 2.0 * PI * turns);
    for sample in samples {
        *sample *= Complex32::new(turn.re as f32, turn.im as f32);
        turn *= step;
    }
}

/// Each gain, averaged with its neighbours.
pub(super) fn smooth(gains: &Elements) -> Elements {
    std::array::from_fn(|n| {
        let near = &gains[n.saturating_sub(NEIGHBOURS)..(n + NEIGHBOURS + 1).min(LEN)];
        near.iter().sum::<Complex32>() / near.len() as f32
    })
}
