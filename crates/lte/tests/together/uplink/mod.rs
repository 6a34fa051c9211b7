//! The uplink's channels: against vectors of others, through channels, with hostile input, and their rates of detection.
#![allow(clippy::print_stderr, reason = "with --nocapture it is a measurement")]

mod code_word;
mod hostile;
mod link;
mod pucch;
mod pusch;
mod vectors;
