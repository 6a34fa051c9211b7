//! Coding and modulation of the LTE shared and control channels, 3GPP TS 36.212 and 36.211: from a transport block to symbols,
//! and back on soft values.
//!
//! Each step is a function or a small plan by itself; what takes a table is built beforehand and then called on slices
//! without allocating. Bits are bytes of 0 or 1, soft values `i8`, positive for 0. Shapes the standard does not have are refused
//! when a plan is built, as an [`Error`]; slices of the wrong length are a mistake of the caller and panic.
//!
//! | step | forth | back | clause |
//! | --- | --- | --- | --- |
//! | CRC | [`crc_attach`] | [`crc_check`] | 36.212 5.1.1 |
//! | code blocks and their CRC | [`Segmentation::segment`] | [`Segmentation::join`] | 36.212 5.1.2 |
//! | turbo code | [`TurboEncoder`] | [`turbo::Decoder`](crate::turbo::Decoder) | 36.212 5.1.3.2 |
//! | convolutional code | [`tail_biting_encode`] | [`TailBitingDecoder`] | 36.212 5.1.3.1 |
//! | its rate matching | [`TailBitingMatching::apply`] | [`TailBitingMatching::combine`] | 36.212 5.1.4.2 |
//! | rate matching | [`RateMatching::apply`] | [`RateMatching::combine`], [`RateMatching::read`] | 36.212 5.1.4.1 |
//! | scrambling | [`scramble`] | [`descramble`] | 36.211 6.3.1, 7.2 |
//! | modulation | [`modulate`] | [`demodulate`] | 36.211 7.1 |
mod crc;
mod demodulation;
mod error;
mod modulation;
mod qpp;
mod rate_matching;
mod scrambling;
mod segmentation;
mod sub_blocks;
mod tail_biting;
mod turbo_encoder;
mod wrap_around;

pub use crc::{crc_attach, crc_check};
pub use demodulation::demodulate;
pub use error::Error;
pub use modulation::{Modulation, modulate};
pub use qpp::{TURBO_LENGTHS, qpp, qpp_parameters, turbo_length_at_least};
pub use rate_matching::RateMatching;
pub use scrambling::{Gold, descramble, pdsch_c_init, scramble};
pub use segmentation::Segmentation;
pub use tail_biting::{TailBitingMatching, convolutional_order, tail_biting_encode};
pub use turbo_encoder::TurboEncoder;
pub use wrap_around::TailBitingDecoder;
