//! Radios that receive each other: the two ends of an air alone, whole radios of both models on a virtual clock, what a command
//! changes while they stream, and files.
//!
//! The judge is the formula of `docs/reference/air.md`, computed here in f64.

mod changes;
mod ends;
mod fading;
mod file;
mod meant;
mod radios;

use crate::support as n200;
use crate::x310::host as x310;
