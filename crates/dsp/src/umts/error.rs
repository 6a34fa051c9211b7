//! What a configuration of the chain can ask for that TS 25.212 does not have.

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A turbo code block is 40 to 5114 bits.
    #[error("a turbo code block of {bits} bits: the code is defined for 40 to 5114")]
    TurboLength {
        /// What was asked for.
        bits: usize,
    },
}
