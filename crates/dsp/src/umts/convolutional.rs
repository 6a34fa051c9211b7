//! The convolutional code, TS 25.212 section 4.2.3.1.

use super::ConvolutionalRate;
use super::viterbi::generators;

/// Encodes a block of K bits to (K + 8) times 2 or 3: constraint length 9, from state 0 and back to it by 8 zeros. At each
/// step the outputs of G0, G1 (and G2) follow each other (TS 25.212 section 4.2.3.1).
///
/// # Panics
/// If `coded` is not [`Coding::coded_len`](super::Coding::coded_len) long.
///
/// ```
/// use takt_dsp::umts::{ConvolutionalRate, convolutional_encode};
/// let mut coded = [0; 27];
/// convolutional_encode(ConvolutionalRate::Third, &[1], &mut coded); // the impulse shows 557, 663 and 711 (octal)
/// assert_eq!(coded[..9], [1, 1, 1, 0, 1, 1, 1, 0, 1]);
/// ```
pub fn convolutional_encode(rate: ConvolutionalRate, block: &[u8], coded: &mut [u8]) {
    let outputs = generators(rate);
    assert_eq!(coded.len(), outputs.len() * (block.len() + 8), "room for the coded bits and the tail's");
    let mut registers = 0;
    let inputs = block.iter().chain(&[0; 8]);
    for (bit, coded) in inputs.zip(coded.chunks_exact_mut(outputs.len())) {
        registers = registers >> 1 | u32::from(bit & 1) << 8;
        for (out, generator) in coded.iter_mut().zip(outputs) {
            *out = ((registers & generator).count_ones() & 1) as u8;
        }
    }
}
