//! Reports of the studies that `takt paper` runs again: what was measured here, beside what the paper printed.

pub mod aloe;
mod common;
pub mod linux_rt;
pub mod sweep;
