//! Signal processing on slices, the coding of UMTS and LTE, an exchange of TD-SCDMA, and the files that hold signals.
//!
//! Every kernel is a function of its arguments: time comes in as a [`Tick`](takt_base::Tick), never from a clock, and a
//! sample's value depends on its tick alone, not on the block it was computed in. The scalar code is the specification; what
//! is compiled for wider vectors gives the same bits.
//!
//! | for | use |
//! | --- | --- |
//! | a tone, a frequency shift | [`tone()`], [`mix`], with the frequency as a [`Rotation`] |
//! | noise | [`noise()`] |
//! | a signal on another grid of ticks | [`Resampler`] |
//! | what is in a signal | [`estimate_tone`], [`power_spectrum`] |
//! | checks on bits | [`crc`] |
//! | the bit-level chain of UMTS, 3GPP TS 25.212 | [`umts`] |
//! | coding and modulation of LTE, TS 36.212 and 36.211 | [`lte`] |
//! | decoding the turbo codes of both | [`turbo`] |
//! | a block of TD-SCDMA and its answer, TS 25.221 to 25.223 | [`tdscdma`] |
//! | files of samples | [`mod@file`] |
//! | recordings with what is known of them | [`sigmf`] |

#![warn(missing_docs)]

mod binary;
mod bits;
mod columns;
pub mod crc;
mod dot;
mod estimate;
pub mod file;
mod interlace;
mod kernel;
pub mod lte;
mod noise;
mod pccc;
mod permutation;
mod phasor;
mod resample;
mod rotation;
mod rsc;
mod selection;
pub mod sigmf;
mod simd;
pub mod tdscdma;
mod tone;
pub mod turbo;
pub mod umts;

pub use binary::Binary;
pub use estimate::{ToneEstimate, estimate_tone, power_spectrum};
pub use noise::noise;
pub use resample::{Grid, HALF_SPAN, MAX_STEP, Resampler};
pub use rotation::Rotation;
pub use tone::{mix, tone};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
