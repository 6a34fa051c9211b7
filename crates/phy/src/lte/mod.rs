//! The coding and modulation of LTE's shared channels, TS 36.212 and TS 36.211, a component a step: shells over `takt_dsp::lte`.
//!
//! A packet is what a subframe carries: one transport block. The steps between segmentation and scrambling take the code
//! blocks of a transport block of A bits, one after the other; or, where A is not given, one code block of K bits. A packet of
//! another length than a component was made for, so also a missing one, gives an empty packet.
//!
//! ```text
//!  lte-crc-attach ▶ lte-segment ▶ lte-turbo-encode ▶ lte-rate-match ▶ lte-scramble ▶ lte-modulate
//!                                                                                        ▼ symbols, channel
//!  lte-crc-check ◀ lte-desegment ◀ lte-turbo-decode ◀ lte-rate-dematch ◀ lte-descramble ◀ lte-demodulate
//! ```

mod blocks;
mod crc;
mod modulation;
mod rate;
mod scrambling;
mod segmentation;
mod turbo;

use takt_dsp::lte;
use takt_runtime::MakeError;

/// The standard has no such shape.
fn refused(error: &lte::Error) -> MakeError {
    MakeError { what: error.to_string(), fix: "use lengths that TS 36.212 defines".into() }
}
