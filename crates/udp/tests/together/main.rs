//! Tests that run side by side, in one program, which is linked once.

mod inside;
mod udp;
mod udp_paths;
mod udp_truth;
