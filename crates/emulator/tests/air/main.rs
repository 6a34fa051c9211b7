//! Radios that receive each other: the two ends of an air alone, whole radios of both models on a virtual clock, what a command
//! changes while they stream, and files.
//!
//! The judge is the formula of `docs/reference/air.md`, computed here in f64.

#[path = "../support/mod.rs"]
mod n200;
#[path = "../x310/host.rs"]
#[allow(dead_code, reason = "the X310's own tests use the rest")]
mod x310;

/// The X310's host looks for it here.
mod signals {
    pub use crate::n200::ramps;
}

mod changes;
mod ends;
mod fading;
mod file;
mod meant;
mod radios;
