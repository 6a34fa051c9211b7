//! What a configuration of the coding can ask for that TS 36.212 does not have.

use super::qpp::nearest_length;

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A turbo code block has one of 188 lengths.
    #[error("a turbo code block of {bits} bits: the nearest of the 188 lengths is {}", nearest_length(*.bits))]
    TurboLength {
        /// What was asked for.
        bits: usize,
    },
}
