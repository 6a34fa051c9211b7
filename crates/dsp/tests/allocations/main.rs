//! What allocates nothing once it is built, or little. Counted by the global allocator of this program, for each thread by itself:
//! so these tests, too, run side by side.

#[path = "../../../../tests/support/allocations.rs"]
mod allocations;
mod coding;
mod shared_band;
mod sigmf;
