//! The residual frequency: how far the channel turns from one symbol with pilots to the next.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};

use super::angle::likely_angle;
use super::channel::seconds_of;
use super::sequence::REFERENCE_SYMBOLS;

/// The filters over frequency smooth so much that the noise of subcarriers this far apart is independent.
const INDEPENDENT: f64 = 36.0;

/// The frequency in hertz, from the channel of the four symbols with pilots on all subcarriers. Unambiguous to 1.75 kHz.
pub(super) fn frequency_hz(rows: &[Vec<Complex32>; 4]) -> f64 {
    // Four symbols apart the turn is unambiguous far enough; a slot apart it is more exact.
    let short = turn(&rows[0], &rows[1]) + turn(&rows[2], &rows[3]);
    let long = turn(&rows[0], &rows[2]) + turn(&rows[1], &rows[3]);
    let power = 0.5 * rows.iter().flatten().map(|value| f64::from(value.norm_sqr())).sum::<f64>();
    let independent = (2 * rows[0].len()) as f64 / INDEPENDENT;
    let time = |later: usize| seconds_of(REFERENCE_SYMBOLS[later]);
    let coarse = likely_angle(short, power, independent) / time(1);
    let rest = long * Complex64::from_polar(1.0, -coarse * time(2));
    (coarse + likely_angle(rest, power, independent) / time(2)) / (2.0 * PI)
}

fn turn(before: &[Complex32], after: &[Complex32]) -> Complex64 {
    let sum: Complex32 = before.iter().zip(after).map(|(before, after)| after * before.conj()).sum();
    Complex64::new(sum.re.into(), sum.im.into())
}
