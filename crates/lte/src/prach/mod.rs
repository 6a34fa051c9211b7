//! The random access channel: preambles of format 0, TS 36.211 section 5.7, sets without restriction.
//!
//! A terminal that has no uplink timing sends one of 64 preambles: a Zadoff-Chu sequence of 839 points on subcarriers of
//! 1.25 kHz, within six resource blocks, for 0.9 ms. The base station finds which preambles came, and how late each was.
//!
//! | part | in |
//! | --- | --- |
//! | settings of a cell, subframes with an opportunity | [`PrachConfig`] |
//! | a preamble in samples | [`PrachTransmitter`] |
//! | preambles in samples found | [`PrachDetector`] |

mod config;
mod detector;
mod peaks;
mod preambles;
mod roots;
mod transmitter;
mod windows;

pub use config::PrachConfig;
pub use detector::{PrachDetector, PreambleFound};
pub use transmitter::PrachTransmitter;

/// Preambles of a cell.
pub const PREAMBLES: u8 = 64;

/// Points of a sequence, N_ZC.
const SEQUENCE_LEN: usize = 839;
/// T_s in the prefix of format 0, T_CP.
const PREFIX_TS: usize = 3168;
/// Symbols of 15 kHz in the sequence, 24576 T_s: the ratio K of the subcarrier spacings.
const SYMBOLS_OF_SEQUENCE: usize = 12;
/// T_s of a symbol of 15 kHz.
const SYMBOL_TS: usize = 2048;
