//! Configurations of the chain that TS 25.212 does not have.
#![allow(missing_docs, reason = "names and messages say it")]

/// A shape that the standard does not have. Kernels are refused when they are built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    #[error("a turbo code block can't have {bits} bits; expected: 40 to 5114")]
    TurboLength { bits: usize },
    #[error("the rate matching attribute can't be {attribute}; expected: 1 to 256")]
    Attribute { attribute: u16 },
    /// A transport format combination that does not name one of each channel's formats.
    #[error(
        "transport format combination {combination} (counted from 0) does not name a format of each transport channel"
    )]
    Combination {
        /// Its place in the list.
        combination: usize,
    },
    #[error("a transmission time interval of {frames} has no radio frame {frame} (counted from 0)")]
    Frame { frame: usize, frames: usize },
    /// Puncturing leaves a turbo code its systematic bits, and any code something; nothing cannot be repeated.
    #[error(
        "rate matching can't turn {bits} bits into {matched}: {}",
        if *bits == 0 { "there is nothing to repeat".into() } else { format!("puncturing leaves at least {least}") }
    )]
    MatchedLength {
        bits: usize,
        /// Wanted after.
        matched: usize,
        /// The least that can be left.
        least: usize,
    },
    #[error("a transport format has {bits} coded bits, more than the {longest} of the longest format")]
    NotLongest {
        /// The format's.
        bits: usize,
        /// The longest format's.
        longest: usize,
    },
    #[error("a block has {bits} bits; at most {most} are allowed")]
    TooLong { bits: usize, most: usize },
}
