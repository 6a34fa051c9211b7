//! A test that counts allocations while a radio streams over real sockets: by itself.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;

mod streaming;
