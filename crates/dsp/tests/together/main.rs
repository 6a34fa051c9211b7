//! Tests that run side by side, in one program, which is linked once.

mod coding_chain;
mod coding_hostile;
mod resample;
mod shared_band;
mod sigmf;
mod sigmf_others;
mod sigmf_peer;
mod turbo;
mod vectors;
