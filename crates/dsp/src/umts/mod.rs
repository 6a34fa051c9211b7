//! The bit-level chain of UTRA FDD, 3GPP TS 25.212.
mod error;
mod turbo_interleaver;

pub use error::Error;
pub use turbo_interleaver::{TURBO_LENGTHS, turbo_interleaver};
