//! Configurations of the chain that TS 25.212 does not have.
#![allow(missing_docs, reason = "names and messages say it")]

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("a turbo code block of {bits} bits: the code is defined for 40 to 5114")]
    TurboLength { bits: usize },
    #[error("rate matching attribute {attribute}: it is 1 to 256")]
    Attribute { attribute: u16 },
    /// A transport format combination that does not name one of each channel's formats.
    #[error(
        "transport format combination {combination} (counted from 0) does not name a format of each transport channel"
    )]
    Combination {
        /// Its place in the list.
        combination: usize,
    },
    #[error("radio frame {frame} of a transmission time interval of {frames} (counted from 0)")]
    Frame { frame: usize, frames: usize },
    /// Puncturing leaves a turbo code its systematic bits, and any code something; nothing cannot be repeated.
    #[error("{bits} bits matched to {matched}: {}", if *bits == 0 { "there is nothing to repeat".into() } else { format!("at least {least} are left by puncturing") })]
    MatchedLength {
        bits: usize,
        /// Wanted after.
        matched: usize,
        /// The least that can be left.
        least: usize,
    },
    #[error("a transport format of {bits} coded bits, when the longest has {longest}")]
    NotLongest {
        /// The format's.
        bits: usize,
        /// The longest format's.
        longest: usize,
    },
    #[error("{bits} bits in a block: {most} at most")]
    TooLong { bits: usize, most: usize },
}
