//! Coding and modulation of the LTE shared channels, 3GPP TS 36.212 and 36.211.
mod crc;
mod error;
mod qpp;
mod turbo_encoder;

pub use crc::{crc_attach, crc_check};
pub use error::Error;
pub use qpp::{TURBO_LENGTHS, qpp, qpp_parameters, turbo_length_at_least};
pub use turbo_encoder::TurboEncoder;
