//! Tests that run side by side, in one program, which is linked once.

mod bler;
mod control;
mod control_rates;
mod fading;
mod ofdm_vectors;
mod prach;
mod prach_statistics;
mod reference;
mod shared;
mod sync;
mod uplink;
