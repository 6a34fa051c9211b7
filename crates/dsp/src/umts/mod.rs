//! The bit-level chain of UTRA FDD, 3GPP TS 25.212.
mod crc;
mod error;
mod turbo_encoder;
mod turbo_interleaver;

pub use crc::{crc_attach, crc_check};
pub use error::Error;
pub use turbo_encoder::TurboEncoder;
pub use turbo_interleaver::{TURBO_LENGTHS, turbo_interleaver};
