//! The decoder of the turbo codes of UMTS (TS 25.212 section 4.2.3.2) and LTE (TS 36.212 section 5.1.3.2): max-log-MAP, with 3/4 of
//! what one constituent decoder finds passed to the other. The constituent encoders and their concatenation, which both standards
//! share, are here as well.
//!
//! ```text
//!   received ─▶ streams x z z' ─▶ rows: step t of all windows            W windows, a lane each
//!                                  │
//!          ┌───────────────────────▼──────────────────────────┐
//!          │  train ▶ forward, keeping ▶ backward, output     │ first decoder:  x, z
//!          └───────────────┬──────────────────────────────────┘
//!             x + 3/4 found│ through the interleaver, row by row
//!          ┌───────────────▼──────────────────────────────────┐
//!          │  train ▶ forward, keeping ▶ backward, output     │ second decoder: x', z'
//!          └───────────────┬──────────────────────────────────┘
//!                    found │ back ─▶ x + 3/4 found: next iteration; signs: bits
//! ```
//!
//! The code of a pass is written once over the operations of `Lanes` and compiled for each [`Level`] of instructions; the plain one is
//! the specification, and all give the same bits.
mod batch;
mod code;
mod decoder;
mod exchange;
mod lanes;
mod pass;
pub(crate) mod pccc;
mod row;
pub(crate) mod rsc;
mod simd;
mod spread;
#[cfg(test)]
mod tests;
mod trellis;

pub use batch::BatchDecoder;
pub use decoder::Decoder;
pub use simd::Level;
