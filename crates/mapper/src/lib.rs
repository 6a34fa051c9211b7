//! Resource manager.
#![forbid(unsafe_code)]

pub mod chain;
