//! cos and sin of a block of phases: the one approximation that tone, mixer and noise share.
//!
//! The phase is a fraction of a turn in 32 bits. Its nearest quarter turn is taken off, which leaves an eighth of a turn to
//! either side for two short polynomials (Chebyshev interpolants); the quarter then swaps and negates. Every lane does the
//! same, so the compiler makes vectors of it. A recurrence, rotating by the step from sample to sample, was not taken: it
//! saves little once this is vectorised, and its rounding depends on where a block starts.

use std::f32::consts::FRAC_PI_4;

/// Phases evaluated together: two AVX2 vectors, enough independent work to hide the latency of the multiplications.
pub(crate) const LANES: usize = 16;

/// Largest error of either component against the exact value: polynomials, rounding of the angle and of the arithmetic.
/// Judged against f64 by a test here; -134 dB of full scale.
#[cfg(test)]
pub(crate) const ERROR: f64 = 2e-7;

/// cos and sin of each phase, 2^32 a turn.
#[inline(always)]
pub(crate) fn phasors(phase: &[u32; LANES]) -> ([f32; LANES], [f32; LANES]) {
    let (mut cos, mut sin) = ([0.0; LANES], [0.0; LANES]);
    for k in 0..LANES {
        (cos[k], sin[k]) = phasor(phase[k]);
    }
    (cos, sin)
}

/// cos and sin of a phase, 2^32 a turn.
#[inline(always)]
pub(crate) fn phasor(phase: u32) -> (f32, f32) {
    let quarter = phase.wrapping_add(1 << 29) >> 30;
    // Eighths of a turn from the nearest quarter, -1 to 1.
    let t = (phase.wrapping_sub(quarter << 30) as i32) as f32 * (1.0 / 536_870_912.0);
    let z = t * t;
    let s = t * (FRAC_PI_4 + z * (-0.080_745_43 + z * (0.002_490_006_8 + z * -3.595_429e-5)));
    let c = 1.0 + z * (-0.308_424_25 + z * (0.015_849_91 + z * -0.000_318_877_5));
    let odd = 0u32.wrapping_sub(quarter & 1);
    let (s, c) = (s.to_bits(), c.to_bits());
    let cos = f32::from_bits(((s & odd) | (c & !odd)) ^ (((quarter + 1) & 2) << 30));
    let sin = f32::from_bits(((c & odd) | (s & !odd)) ^ ((quarter & 2) << 30));
    (cos, sin)
}

/// The phases of a block: `start`, `start + step`, ..., 2^64 a turn, cut to 32 bits.
#[inline(always)]
pub(crate) fn phases(start: u64, step: u64) -> [u32; LANES] {
    std::array::from_fn(|k| (start.wrapping_add(step.wrapping_mul(k as u64)) >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phasors_are_within_their_bound_all_around_the_circle() {
        let mut worst = 0.0f64;
        for block in 0u32..1 << 16 {
            // A step coprime to 2^32 visits phases of every kind, the borders between the quarters among them.
            let phase = std::array::from_fn(|k| (block * 16 + k as u32).wrapping_mul(0x0001_000F));
            let (cos, sin) = phasors(&phase);
            for k in 0..LANES {
                let angle = f64::from(phase[k]) / 4_294_967_296.0 * std::f64::consts::TAU;
                worst = worst.max((f64::from(cos[k]) - angle.cos()).abs()).max((f64::from(sin[k]) - angle.sin()).abs());
            }
        }
        assert!(worst < ERROR, "{worst:e}");
    }

    #[test]
    fn quarter_turns_are_near_exact() {
        let (cos, sin) = phasors(&std::array::from_fn(|k| (k as u32) << 30));
        assert_eq!((cos[0], sin[0]), (1.0, 0.0));
        assert_eq!((cos[1].abs(), sin[1]), (0.0, 1.0));
        assert_eq!((cos[2], sin[2].abs()), (-1.0, 0.0));
        assert_eq!((cos[3].abs(), sin[3]), (0.0, -1.0));
    }
}
