//! A test that counts allocations while shared radios stream: by itself, since its binary counts all of them.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
#[allow(dead_code, reason = "the other tests use all of it")]
#[path = "../shared/rig.rs"]
mod rig;

mod streaming;
