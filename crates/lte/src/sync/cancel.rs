//! Takes a found cell's synchronisation signals out of the samples, so that a weaker cell's show.
//!
//! Two primary signals have up to 0.38 of each other, 8 dB down, and a frequency offset gives each some side lobes: beside a
//! strong cell these would hide a weak one, or pass for one.

use std::sync::Arc;

use num_complex::Complex32;
use takt_fft::Fft;

use super::correlate::bin_of;
use super::elements::{Elements, Pair, rotate, smooth};
use super::primary::primary;
use super::{FFT_LEN, HALF_FRAME, HALF_FRAMES, LEN, PREFIX, SYMBOL};

/// The plan.
pub(super) struct Canceller {
    fft: Arc<dyn Fft<f32>>,
    body: [Complex32; FFT_LEN],
    symbol: [Complex32; SYMBOL],
    scratch: Vec<Complex32>,
}

impl Canceller {
    pub(super) fn new() -> Canceller {
        let fft = takt_fft::inverse(FFT_LEN);
        let scratch = vec![Complex32::default(); fft.get_inplace_scratch_len()];
        Canceller { fft, body: [Complex32::default(); FFT_LEN], symbol: [Complex32::default(); SYMBOL], scratch }
    }

    /// Takes away what the gains of both signals agree on. The pairs were extracted at this place and frequency; `signs` are those
    /// of even and odd half frames.
    pub(super) fn cancel(
        &mut self,
        samples: &mut [Complex32],
        pairs: &[Pair; HALF_FRAMES],
        at: usize,
        within_group: usize,
        signs: [&[i8; LEN]; 2],
        frequency_hz: f64,
    ) {
        let sent = primary(within_group);
        for (half_frame, pair) in pairs.iter().enumerate() {
            let both: Elements = std::array::from_fn(|n| (pair.primary[n] + pair.secondary[n]) / 2.0);
            let gains = smooth(&both);
            let signs = signs[half_frame % 2];
            let begin = at + half_frame * HALF_FRAME;
            self.subtract(samples, begin, &std::array::from_fn(|n| gains[n] * sent[n]), frequency_hz);
            self.subtract(
                samples,
                begin - SYMBOL,
                &std::array::from_fn(|n| gains[n] * f32::from(signs[n])),
                frequency_hz,
            );
        }
    }

    /// Subtracts a symbol of these elements, whose body begins there, and its prefix.
    fn subtract(&mut self, samples: &mut [Complex32], begin: usize, elements: &Elements, frequency_hz: f64) {
        self.body.fill(Complex32::default());
        elements.iter().enumerate().for_each(|(n, element)| self.body[bin_of(n)] = element / FFT_LEN as f32);
        self.fft.process_with_scratch(&mut self.body, &mut self.scratch);
        self.symbol[..PREFIX].copy_from_slice(&self.body[FFT_LEN - PREFIX..]);
        self.symbol[PREFIX..].copy_from_slice(&self.body);
        rotate(&mut self.symbol, begin - PREFIX, frequency_hz);
        let samples = &mut samples[begin - PREFIX..][..SYMBOL];
        samples.iter_mut().zip(&self.symbol).for_each(|(sample, part)| *sample -= part);
    }
}
