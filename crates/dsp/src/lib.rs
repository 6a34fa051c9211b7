//! Signal processing on slices, the coding of UMTS and LTE, an exchange of TD-SCDMA, and the files that hold signals.
//!
//! Every kernel is a function of its arguments: time comes in as a [`Tick`](takt_base::Tick), never from a clock, and a
//! sample's value depends on its tick alone, not on the block it was computed in. The scalar code is the specification; what
//! is compiled for wider vectors gives the same bits.
//!
//! | for | use |
//! | --- | --- |
//! | a tone, a frequency shift | [`tone()`], [`mix`], with the frequency as a [`Rotation`] |
//! | noise | [`noise()`], [`add_noise`] |
//! | fading channels of LTE: EPA, EVA, ETU with Doppler | [`Fading`], [`FadingChannel`] |
//! | soft values of BPSK | [`bpsk_soft`] |
//! | a signal on another grid of ticks | [`Resampler`] |
//! | a signal between its samples: other clocks, delays, drift | [`Interpolator`] |
//! | many channels of one wide band, received or sent | [`shared_band`] |
//! | what is in a signal | [`estimate_tone`], [`power_spectrum`] |
//! | checks on bits | [`crc`] |
//! | the bit-level chain of UMTS, 3GPP TS 25.212 | [`umts`] |
//! | coding and modulation of LTE, TS 36.212 and 36.211 | [`lte`] |
//! | decoding the turbo codes of both | [`turbo`] |
//! | a block of TD-SCDMA and its answer, TS 25.221 to 25.223 | [`tdscdma`] |
//! | files of samples | [`mod@file`] |
//! | recordings with what is known of them | [`sigmf`] |

#![warn(missing_docs)]

mod bits;
mod butterflies;
pub mod crc;
pub mod file;
pub mod lte;
pub mod shared_band;
pub mod sigmf;
mod signal;
mod simd;
pub mod tdscdma;
pub mod turbo;
pub mod umts;

pub use bits::Binary;
pub use signal::{
    DelayProfile, Fading, FadingChannel, FadingModel, Grid, HALF_SPAN, Interpolator, MAX_RATIO, MAX_STEP, NoFading,
    PathParams, Places, ProfileTap, Resampler, Rotation, Taps, ToneEstimate, add_noise, bpsk_soft, estimate_tone, mix,
    noise, power_spectrum, tone,
};

/// The example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
