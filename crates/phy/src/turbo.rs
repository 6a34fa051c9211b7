//! Parts that the turbo decoders of both standards share.

use takt_dsp::crc::Crc;
use takt_dsp::turbo::Decoder;

/// Decodes a block with at most so many iterations, fewer where `holds` says so of its CRC. Returns how many were made.
pub(crate) fn decode(
    decoder: &mut Decoder,
    llrs: &[i8],
    iterations: usize,
    crc: Option<Crc>,
    holds: impl Fn(Crc, &[u8]) -> bool,
    block: &mut [u8],
) -> usize {
    let Some(crc) = crc else {
        decoder.decode(llrs, iterations, block);
        return iterations;
    };
    decoder.decode_until(llrs, iterations, block, |block| holds(crc, block)).unwrap_or(iterations)
}
