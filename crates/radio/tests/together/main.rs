//! Tests that run side by side, in one program, which is linked once.

mod amplitude;
mod calibration;
#[path = "../common/mod.rs"]
mod common;
mod control;
mod full_scale;
mod garbage;
mod letters;
mod rx;
mod sigmf;
mod slow;
mod transmit;
mod tx;
mod x310;
