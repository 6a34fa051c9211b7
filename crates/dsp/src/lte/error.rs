//! What a configuration of the coding can ask for that TS 36.212 does not have.

use super::qpp::nearest_length;

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A turbo code block has one of 188 lengths.
    #[error("a turbo code block of {bits} bits: the nearest of the 188 lengths is {}", nearest_length(*.bits))]
    TurboLength {
        /// What was requested.
        bits: usize,
    },
    /// A block of fillers only has nothing to say.
    #[error("{fillers} filler bits in a block of {bits}")]
    Fillers {
        /// What was requested.
        fillers: usize,
        /// The block's length.
        bits: usize,
    },
    /// N_cb below what a systematic stream takes, or above the whole circular buffer.
    #[error("a soft buffer of {bits} bits: it is {least} to {most} for this block length")]
    SoftBuffer {
        /// What was requested.
        bits: usize,
        /// The least, K_pi.
        least: usize,
        /// The most, K_w = 3 K_pi.
        most: usize,
    },
    /// Beyond what any carrier's transport block is.
    #[error("{bits} bits in a transport block: {most} at most")]
    TooLong {
        /// What was requested.
        bits: usize,
        /// The limit.
        most: usize,
    },
}
