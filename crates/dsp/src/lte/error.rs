//! Configurations of the coding that TS 36.212 does not have.
#![allow(missing_docs, reason = "names and messages say it")]

use super::qpp::nearest_length;

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("a turbo code block can't have {bits} bits; the nearest of the 188 lengths is {}", nearest_length(*.bits))]
    TurboLength { bits: usize },
    #[error("a block of {bits} bits can't have {fillers} filler bits")]
    Fillers {
        fillers: usize,
        /// The block's length.
        bits: usize,
    },
    #[error("a soft buffer can't have {bits} bits; expected: {least} to {most} for this block length")]
    SoftBuffer {
        bits: usize,
        /// The least, K_pi.
        least: usize,
        /// The most, K_w = 3 K_pi.
        most: usize,
    },
    #[error("a transport block can't have {bits} bits; at most {most} are allowed")]
    TooLong { bits: usize, most: usize },
}
