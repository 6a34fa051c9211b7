//! What allocates nothing while samples flow. Counted by the global allocator of this program, for each thread by itself: so
//! these tests, too, run side by side.

mod air;
#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
mod n200;
mod signals;
#[path = "../support/mod.rs"]
mod support;
mod x310;
