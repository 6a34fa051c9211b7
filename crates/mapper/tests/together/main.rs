//! Tests that run side by side, in one program, which is linked once.

mod chains;
#[path = "../common/mod.rs"]
mod common;
mod mapping;
mod platform;
mod published;
