//! Bits and soft values of a block, moved about: what the chains of UMTS and LTE are made of, whatever the standard.
//!
//! Blocks travel as one byte an item. Each module here moves items by the fastest instructions that the processor has, behind a
//! safe function; plain Rust beside it is the specification, and a property test compares the two.
//!
//! | for | use |
//! | --- | --- |
//! | 64 bits in a word, and back | [`pack`], [`unpack`], [`with_bits`] |
//! | a fixed interleaver of packed bits | [`permutation`] |
//! | an interleaver of rows and columns | [`columns`] |
//! | items dealt in turn to a few streams | [`interlace`] |
//! | puncturing, and its inverse | [`selection`] |
//! | a function of hard or soft values | [`Binary`] |

mod binary;
pub(crate) mod columns;
pub(crate) mod interlace;
mod pack;
pub(crate) mod permutation;
pub(crate) mod selection;

pub use binary::Binary;
pub(crate) use pack::{pack, unpack, with_bits};
