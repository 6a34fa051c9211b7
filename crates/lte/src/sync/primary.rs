//! The primary synchronisation signal: TS 36.211 section 6.11.1.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};

use super::LEN;

/// The root of the Zadoff-Chu sequence of each identity within a group, table 6.11.1.1-1.
const ROOTS: [usize; 3] = [25, 29, 34];

/// The 62 elements, the lowest subcarrier first, of an identity within the group, 0 to 2.
pub(super) fn primary(within_group: usize) -> [Complex32; LEN] {
    std::array::from_fn(|n| {
        // The element 31 of the sequence of 63 would be on the empty subcarrier.
        let n = if n < LEN / 2 { n } else { n + 1 };
        // The argument is reduced in integers: a float of its size has lost digits.
        let halves = (ROOTS[within_group] * n * (n + 1)) % 126;
        let value = Complex64::from_polar(1.0, -PI * halves as f64 / 63.0);
        Complex32::new(value.re as f32, value.im as f32)
    })
}
