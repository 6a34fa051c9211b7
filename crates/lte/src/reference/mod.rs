//! The cell's reference signal and what a receiver learns from it: TS 36.211 section 6.10.1, port 0.
//!
//! Four symbols of a subframe carry pilots, 0, 4, 7 and 11, on every sixth subcarrier. The pilots of two of them lie between
//! those of the other two. [`ChannelEstimator`] turns them into the channel at each element, the power of the noise, the delay
//! and the residual frequency. [`equalise`] takes the channel off; [`Tracker`] keeps a receiver's window and oscillator right.
//!
//! No scale is assumed: all but `timing_samples` and `frequency_hz` follow the scale of the received grid.

mod angle;
mod band;
mod channel;
mod cqi;
mod drift;
mod equaliser;
mod estimate;
mod filter;
mod noise;
mod sequence;
mod tracker;

pub use cqi::{Cqi, cqi_of_snr_db, efficiency};
pub use equaliser::{equalise, match_filter};
pub use estimate::{ChannelEstimate, ChannelEstimator};
pub use sequence::{REFERENCE_SYMBOLS, map_cell_reference, reference_comb};
pub use tracker::{Correction, Tracker};
