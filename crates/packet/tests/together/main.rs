//! Tests that run side by side, in one program, which is linked once.

mod calls;
mod conformance;
mod faults;
mod generator;
mod namespace;
mod opening;
mod queues;
#[path = "../support/refusing.rs"]
mod refusing;
#[path = "../support/mod.rs"]
mod support;
mod uring;
mod xdp;
mod zero_copy;
