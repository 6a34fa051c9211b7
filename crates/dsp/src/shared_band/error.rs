//! Reasons to refuse a band, a channel or a sample.

use thiserror::Error;

use super::{MAX_CHANNELS, MAX_NARROW_STEP, MAX_WIDE_STEP};

/// Why a splitter, a combiner or a plan refuses.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedBandError {
    /// The wide band is too slow, or has no step.
    #[error("the wide band can't have a step of {step} ticks; expected: 1 to {MAX_WIDE_STEP}")]
    WideStep {
        /// The step that was asked for, in ticks.
        step: u32,
    },
    /// The channel is faster than the wide band, or too slow.
    #[error("a channel can't have a step of {step} ticks; expected: {least} to {MAX_NARROW_STEP}")]
    NarrowStep {
        /// The step that was asked for, in ticks.
        step: u32,
        /// The step of the wide band, in ticks.
        least: u32,
    },
    /// Another step needs other memory.
    #[error("the channel has a step of {has} ticks, not {asked}; open a channel for that")]
    OtherStep {
        /// The step of the open channel, in ticks.
        has: u32,
        /// The step that was asked for, in ticks.
        asked: u32,
    },
    /// Time beyond what a clock reaches.
    #[error("tick {tick} lies beyond the last tick, 2^62")]
    Tick {
        /// The tick that was given.
        tick: u64,
    },
    /// The tick lies between two samples of the wide band.
    #[error(
        "tick {tick} lies between two samples of the wide band, whose step is {step} and whose first tick is {first}"
    )]
    OffGrid {
        /// The tick that was given.
        tick: u64,
        /// The step of the wide band, in ticks.
        step: u32,
        /// The tick of its first sample after tick 0.
        first: u64,
    },
    /// The block that a sample would begin in was taken.
    #[error("samples for tick {tick} are too late: the earliest tick that can still be sent is {earliest}")]
    Late {
        /// The tick of the first sample given.
        tick: u64,
        /// The first tick that is early enough.
        earliest: u64,
    },
    /// The samples begin before the last ones end.
    #[error("samples of tick {tick} begin before the last ones end, at {end}")]
    Overlaps {
        /// The tick of the first sample given.
        tick: u64,
        /// The first tick that is free.
        end: u64,
    },
    /// The output has another length than a block.
    #[error("a block has {block} samples, but the output has room for {given}")]
    BlockLength {
        /// Samples of a block.
        block: usize,
        /// Samples of the slice.
        given: usize,
    },
    /// The key names no open channel.
    #[error("the key names no open channel")]
    NoChannel,
    /// No further channel fits.
    #[error("{MAX_CHANNELS} channels are open; close one first")]
    Full,
}
