//! Signals as functions of ticks: tones, noise, fading, frequency shifts, another grid of ticks, and what is in a signal.
//!
//! Every phase and every random value is computed from the tick of its sample, never from the sample before. So a signal may be
//! cut into blocks anywhere, and two radios with one clock agree on it. A caller gives the tick of the first sample, the
//! ticks from sample to sample, and a slice to fill; the table in the crate's page says which function is for what.

mod bpsk;
pub(crate) mod dot;
mod estimate;
mod fading;
mod interpolate;
mod noise;
mod phasor;
mod resample;
mod rotation;
mod tone;

pub use bpsk::bpsk_soft;
pub use estimate::{ToneEstimate, estimate_tone, power_spectrum};
pub use fading::{DelayProfile, Fading, FadingChannel, FadingModel, NoFading, ProfileTap};
pub use interpolate::{Interpolator, MAX_RATIO, PathParams, Places, Taps};
pub use noise::{add_noise, noise};
pub(crate) use resample::kernel::{TRANSITION, WINDOW_POINTS, interpolate, kaiser_half};
pub use resample::{Grid, HALF_SPAN, MAX_STEP, Resampler};
pub use rotation::Rotation;
pub use tone::{mix, tone};
