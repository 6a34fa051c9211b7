//! The bit-level chain of UTRA FDD, 3GPP TS 25.212.
mod coding;
mod crc;
mod error;
mod interleave_1;
mod interleave_2;
mod rate_matching;
mod tti;
mod turbo_encoder;
mod turbo_interleaver;

pub use coding::{Coding, ConvolutionalRate};
pub use crc::{crc_attach, crc_check};
pub use error::Error;
pub use interleave_1::{deinterleave_1, interleave_1, radio_frames};
pub use interleave_2::{deinterleave_2, interleave_2};
pub use rate_matching::{Demand, Parity, Pattern, RateMatching, shares};
pub use tti::Tti;
pub use turbo_encoder::TurboEncoder;
pub use turbo_interleaver::{TURBO_LENGTHS, turbo_interleaver};
