//! Configurations of the coding that TS 36.212 does not have.
#![allow(missing_docs, reason = "names and messages say it")]

use super::qpp::nearest_length;

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("a turbo code block of {bits} bits: the nearest of the 188 lengths is {}", nearest_length(*.bits))]
    TurboLength { bits: usize },
    #[error("{fillers} filler bits in a block of {bits}")]
    Fillers {
        fillers: usize,
        /// The block's length.
        bits: usize,
    },
    #[error("a soft buffer of {bits} bits: it is {least} to {most} for this block length")]
    SoftBuffer {
        bits: usize,
        /// The least, K_pi.
        least: usize,
        /// The most, K_w = 3 K_pi.
        most: usize,
    },
    #[error("{bits} bits in a transport block: {most} at most")]
    TooLong { bits: usize, most: usize },
}
