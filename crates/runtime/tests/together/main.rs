//! Tests that run side by side, in one program, which is linked once.

#[path = "../common/mod.rs"]
mod common;
mod control;
mod determinism;
mod losses;
mod macros;
mod misses;
mod soak;
