//! The bit-level chain of UTRA FDD, 3GPP TS 25.212: from transport blocks to what a physical channel carries in a radio frame,
//! and back on soft values.
//!
//! Each step is a function or a small plan by itself; what takes a table is built beforehand and then called on slices
//! without allocating. Bits are bytes of 0 or 1, soft values `i8`, positive for 0. Shapes the standard does not have are refused
//! when a plan is built, as an [`Error`]; slices of the wrong length are a mistake of the caller and panic.
//!
//! | step | forth | back | clause |
//! | --- | --- | --- | --- |
//! | CRC | [`crc_attach`] | [`crc_check`] | 4.2.1 |
//! | code blocks | [`Segmentation::segment`] | [`Segmentation::join`] | 4.2.2 |
//! | turbo code | [`TurboEncoder`] | [`turbo::Decoder`](crate::turbo::Decoder) | 4.2.3.2 |
//! | convolutional code | [`convolutional_encode`] | [`Viterbi`] | 4.2.3.1 |
//! | radio frame equalisation | [`Tti::equalised`] | | 4.2.4 |
//! | first interleaver | [`interleave_1`] | [`deinterleave_1`] | 4.2.5 |
//! | radio frames | [`radio_frames`] | | 4.2.6 |
//! | rate matching | [`RateMatching::apply`] | [`RateMatching::invert`] | 4.2.7 |
//! | multiplexing | [`multiplex`] | [`demultiplex`] | 4.2.8, 4.2.9 |
//! | physical channels | [`physical_channels`] | | 4.2.10 |
//! | second interleaver | [`interleave_2`] | [`deinterleave_2`] | 4.2.11 |
//!
//! In the downlink, the rate is matched before the first interleaver; in the uplink, after radio frame segmentation.
mod coding;
mod convolutional;
mod crc;
mod error;
mod interleave_1;
mod interleave_2;
mod multiplex;
mod rate_matching;
mod segmentation;
mod tti;
mod turbo_encoder;
mod turbo_interleaver;
mod viterbi;

pub use coding::{Coding, ConvolutionalRate};
pub use convolutional::convolutional_encode;
pub use crc::{crc_attach, crc_check};
pub use error::Error;
pub use interleave_1::{deinterleave_1, interleave_1, radio_frames};
pub use interleave_2::{deinterleave_2, interleave_2};
pub use multiplex::{DTX, demultiplex, multiplex, physical_channels};
pub use rate_matching::{Demand, Formats, Parity, Pattern, RateMatching, flexible_lengths, shares};
pub use segmentation::Segmentation;
pub use tti::Tti;
pub use turbo_encoder::TurboEncoder;
pub use turbo_interleaver::{TURBO_LENGTHS, turbo_interleaver};
pub use viterbi::Viterbi;

/// Longer blocks, and blocks matched to more, are refused: far beyond any physical channel's.
const MAX_BITS: usize = 1 << 20;
