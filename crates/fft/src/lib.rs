//! Fourier transforms of any length: rustfft, compiled once.
//!
//! rustfft is generic over the type of a sample. A crate that calls its planner compiles each of its algorithms anew, half a
//! minute of optimisation. These functions are not generic: the crates that call them compile nothing.
//!
//! Nothing is scaled: [`forward`] and then [`inverse`] multiplies by the length.
//!
//! ```
//! use takt_fft::{Complex, forward};
//! let mut one_turn = [1.0, 0.0, -1.0, 0.0].map(|re| Complex::new(re, 0.0));
//! forward(4).process(&mut one_turn);
//! assert_eq!(one_turn.map(|bin| bin.re), [0.0, 2.0, 0.0, 2.0]);
//! ```

#![forbid(unsafe_code)]

use std::sync::Arc;

use rustfft::FftPlanner;
pub use rustfft::num_complex::Complex;
pub use rustfft::{Fft, FftDirection};

/// X\[k\] = sum of x\[n\] e^(-j 2 pi k n / `len`).
#[must_use]
pub fn forward(len: usize) -> Arc<dyn Fft<f32>> {
    plan(len, FftDirection::Forward)
}

/// x\[n\] = sum of X\[k\] e^(j 2 pi k n / `len`).
#[must_use]
pub fn inverse(len: usize) -> Arc<dyn Fft<f32>> {
    plan(len, FftDirection::Inverse)
}

/// One of both.
// Inlined, it would be compiled where it is called after all.
#[inline(never)]
#[must_use]
pub fn plan(len: usize, direction: FftDirection) -> Arc<dyn Fft<f32>> {
    FftPlanner::new().plan_fft(len, direction)
}

/// As [`forward`], with 53 bits.
#[must_use]
pub fn forward64(len: usize) -> Arc<dyn Fft<f64>> {
    plan64(len, FftDirection::Forward)
}

/// As [`inverse`], with 53 bits.
#[must_use]
pub fn inverse64(len: usize) -> Arc<dyn Fft<f64>> {
    plan64(len, FftDirection::Inverse)
}

#[inline(never)]
fn plan64(len: usize, direction: FftDirection) -> Arc<dyn Fft<f64>> {
    FftPlanner::new().plan_fft(len, direction)
}
