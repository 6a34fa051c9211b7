//! The turbo coder, TS 36.212 section 5.1.3.2.

use super::{Error, qpp, qpp_parameters};
use crate::bits;
use crate::turbo::pccc;

/// The turbo coder for blocks of one of the 188 lengths: rate 1/3, two 8-state encoders, both terminated.
///
/// ```
/// use takt_dsp::lte::TurboEncoder;
/// let mut encoder = TurboEncoder::new(6144)?;
/// let mut coded = vec![0; encoder.coded_len()]; // d0, d1, d2, one after the other
/// encoder.encode(&[0; 6144], &mut coded);
/// assert_eq!(coded, [0; 18_444]);
/// # Ok::<_, takt_dsp::lte::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct TurboEncoder {
    encoder: pccc::Encoder,
}

impl TurboEncoder {
    /// For blocks of `block_bits`, K.
    ///
    /// # Errors
    /// [`Error::TurboLength`] if K is not one of the 188 lengths.
    pub fn new(block_bits: usize) -> Result<TurboEncoder, Error> {
        qpp_parameters(block_bits).ok_or(Error::TurboLength { bits: block_bits })?;
        let mut interleaver = vec![0; block_bits];
        qpp(&mut interleaver)?;
        Ok(TurboEncoder { encoder: pccc::Encoder::new(interleaver) })
    }

    /// K.
    pub fn block_len(&self) -> usize {
        self.encoder.block_len()
    }

    /// 3 (K + 4).
    pub fn coded_len(&self) -> usize {
        3 * (self.block_len() + 4)
    }

    /// Encodes a block of K bits to the streams d0, d1, d2 of K + 4 bits each, one after the other in `coded`, with the tails
    /// dealt to them as section 5.1.3.2.2 says. Filler bits are given as zeros here; rate matching takes them out.
    ///
    /// # Panics
    /// If the block or `coded` is not of that length.
    pub fn encode(&mut self, block: &[u8], coded: &mut [u8]) {
        assert_eq!(coded.len(), self.coded_len(), "room for 3 (K + 4) coded bits");
        let [[x0, z0, x1, z1, x2, z2], [y0, w0, y1, w1, y2, w2]] = self.encoder.encode(block);
        let tails = [[x0, z1, y0, w1], [z0, x2, w0, y2], [x1, z2, y1, w2]];
        let streams = coded.chunks_exact_mut(block.len() + 4).zip(&self.encoder.streams);
        for ((stream, words), tail) in streams.zip(tails) {
            let (body, end) = stream.split_at_mut(block.len());
            bits::unpack(words, body);
            end.copy_from_slice(&tail);
        }
    }
}
