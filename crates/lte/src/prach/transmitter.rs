//! A preamble in samples: TS 36.211 section 5.7.3.

use std::sync::Arc;

use num_complex::Complex32;
use takt_fft::Fft;

use super::config::Place;
use super::preambles::Preambles;
use super::{PREAMBLES, PrachConfig};
use crate::{Bandwidth, Error, Numerology};

/// Makes preambles of a cell.
pub struct PrachTransmitter {
    subframe_len: usize,
    place: Place,
    preambles: Preambles,
    fft: Arc<dyn Fft<f32>>,
    scratch: Vec<Complex32>,
}

impl PrachTransmitter {
    /// # Errors
    /// If [`PrachConfig::check`] refuses the configuration.
    ///
    /// # Panics
    /// If the numerology is of another bandwidth.
    pub fn new(numerology: Numerology, bandwidth: Bandwidth, config: PrachConfig) -> Result<PrachTransmitter, Error> {
        assert_eq!(numerology.subcarriers, bandwidth.subcarriers(), "the numerology of {bandwidth} resource blocks");
        config.check(bandwidth)?;
        let place = Place::new(&numerology, &config);
        let fft = takt_fft::inverse(place.len);
        Ok(PrachTransmitter {
            subframe_len: numerology.subframe_len(),
            place,
            preambles: Preambles::new(&config),
            scratch: vec![Complex32::default(); fft.get_inplace_scratch_len()],
            fft,
        })
    }

    /// Fills a subframe: prefix and sequence of mean power 1, then silence for the last 97 us.
    ///
    /// # Panics
    /// If the preamble is above 63, or `out` no subframe.
    pub fn samples(&mut self, preamble: u8, out: &mut [Complex32]) {
        assert!(preamble < PREAMBLES, "preamble {preamble}");
        assert_eq!(out.len(), self.subframe_len);
        let Place { prefix, len, .. } = self.place;
        out.fill(Complex32::default());
        let sequence = &mut out[prefix..][..len];
        let (first, second) = self.place.runs();
        let mut spectrum = self.preambles.spectrum(preamble);
        sequence[first].iter_mut().zip(&mut spectrum).for_each(|(point, value)| *point = value);
        sequence[second].iter_mut().zip(spectrum).for_each(|(point, value)| *point = value);
        self.fft.process_with_scratch(sequence, &mut self.scratch);
        out.copy_within(len..len + prefix, 0);
    }
}
