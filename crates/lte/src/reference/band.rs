//! Distances on the frequency axis, and the delay of a channel: the slope of its phase over subcarriers.
//!
//! The empty subcarrier in the middle of a downlink counts: the upper half lies one subcarrier higher than its number says.

use std::f64::consts::PI;

use num_complex::{Complex32, Complex64};

use super::angle::{doubt, likely_angle};
use super::sequence::SPACING;

/// How much more the refinement of a slope is doubted than the slope: it is small, and all lags add noise to it.
const FINE: f64 = 14.0;

/// The place of a subcarrier relative to the middle, in subcarriers.
pub(super) fn place_of(subcarrier: usize, subcarriers: usize) -> i32 {
    let below = subcarrier as i32 - (subcarriers / 2) as i32;
    if below < 0 { below } else { below + 1 }
}

/// How much later the channel's phase is per subcarrier, radians: positive for a late signal. Pilots of several symbols, each
/// the lowest first. Unambiguous to a twelfth of the symbol (5.5 us) either way.
pub(super) fn slope(rows: &[Vec<Complex32>]) -> f64 {
    // Neighbours say which turn it is; pilots further apart then say it more exactly, if the channel lets them.
    let lags = [1, 2, 3].map(|lag| rows.iter().map(|row| correlation(row, lag)).sum::<Complex64>());
    let pairs: usize = rows.iter().map(|row| row.len() - 2).sum();
    let power: f32 = rows.iter().flatten().map(Complex32::norm_sqr).sum();
    let count: usize = rows.iter().map(Vec::len).sum();
    let power = f64::from(power) * pairs as f64 / count as f64;
    let coarse = likely_angle(lags[0], power, pairs as f64);
    let (mut along, mut across) = (0.0, 0.0);
    for (lag, sum) in (1..).map(f64::from).zip(lags) {
        let rest = sum * Complex64::from_polar(1.0, -coarse * lag);
        along += lag * lag * rest.re;
        across += lag * rest.im;
    }
    let along = along + FINE * doubt(lags[0].norm(), power, pairs as f64);
    let fine = if along > 0.0 { (across / along).clamp(-0.5, 0.5) } else { 0.0 };
    -(coarse + fine) / SPACING as f64
}

/// The sum of pilots times the conjugate of those `lag` before, neither pair across the middle.
fn correlation(row: &[Complex32], lag: usize) -> Complex64 {
    let halves = row.split_at(row.len() / 2);
    let of = |half: &[Complex32]| half.iter().zip(&half[lag..]).map(|(a, b)| b * a.conj()).sum::<Complex32>();
    let sum = of(halves.0) + of(halves.1);
    Complex64::new(sum.re.into(), sum.im.into())
}

/// Writes exp(-j slope place) for each subcarrier: the phases of a channel that is late by this slope.
pub(super) fn ramp(slope: f64, phases: &mut [Complex32]) {
    let half = phases.len() / 2;
    let step = Complex64::from_polar(1.0, -slope);
    let from = |place: i32| Complex64::from_polar(1.0, (-slope * f64::from(place)) % (2.0 * PI));
    let (low, high) = phases.split_at_mut(half);
    for (part, first) in [(low, -(half as i32)), (high, 1)] {
        let mut turn = from(first);
        for phase in part {
            *phase = Complex32::new(turn.re as f32, turn.im as f32);
            turn *= step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_delay_is_found_and_undone() {
        let mut phases = vec![Complex32::default(); 1200];
        for turns in [-0.06, -0.01, 0.0, 0.003, 0.07] {
            let sent = 2.0 * PI * turns;
            ramp(sent, &mut phases);
            let rows = [0, 3].map(|comb| phases.iter().skip(comb).step_by(SPACING).copied().collect());
            assert!((slope(&rows) - sent).abs() < 1e-5, "{turns}");
            let at = Complex64::from_polar(1.0, -sent * f64::from(place_of(600, 1200)));
            assert!((f64::from(phases[600].re) - at.re).abs() < 1e-6);
        }
    }
}
