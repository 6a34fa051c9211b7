//! White Gaussian noise whose value at a tick depends on the seed and the tick alone.
//!
//! The random bits are Philox4x32-10 (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3*, SC 2011):
//! key = seed, counter = tick. A counter is its own state, so blocks cut anywhere agree and a reader may jump. Box and
//! Muller's transform makes a complex normal value of two of its words; with 31 bits for the magnitude the tail ends at
//! 6.6 standard deviations of the magnitude, which a signal of 10^9 samples reaches once.

use num_complex::Complex32;
use takt_base::Tick;

use super::phasor::{LANES, phasors};
use crate::simd::vectorised;

/// Writes complex noise of mean power `power` (the mean of |x|^2; each component has half of it) for the ticks `first`,
/// `first + step`, ... Same seed and tick, same value.
///
/// ```
/// use takt_base::{Complex32, Tick};
/// let (mut all, mut tail) = ([Complex32::default(); 8], [Complex32::default(); 3]);
/// takt_dsp::noise(7, 0.01, Tick(0), 4, &mut all);
/// takt_dsp::noise(7, 0.01, Tick(5 * 4), 4, &mut tail);
/// assert_eq!(all[5..], tail);
/// ```
pub fn noise(seed: u64, power: f32, first: Tick, step: u32, out: &mut [Complex32]) {
    noise_kernel(seed, power, first.0, u64::from(step), out);
}

vectorised!(fn noise_kernel(seed: u64, power: f32, first: u64, step: u64, out: &mut [Complex32]) = noise_scalar);

#[inline(always)]
fn noise_scalar(seed: u64, power: f32, first: u64, step: u64, out: &mut [Complex32]) {
    let mut tick = first;
    for chunk in out.chunks_mut(LANES) {
        let counters = std::array::from_fn(|k| tick.wrapping_add(step.wrapping_mul(k as u64)));
        let [magnitude, phase, ..] = philox(seed, &counters, 0);
        let radius = radii(power, &magnitude);
        let (cos, sin) = phasors(&phase);
        let block: [Complex32; LANES] = std::array::from_fn(|k| Complex32::new(radius[k] * cos[k], radius[k] * sin[k]));
        chunk.copy_from_slice(&block[..chunk.len()]);
        tick = tick.wrapping_add(step.wrapping_mul(LANES as u64));
    }
}

/// Ten rounds of Philox4x32 for each counter, `upper` being the upper half of all of them: word w of lane k at `[w][k]`.
///
/// The words travel in the lower halves of 64-bit lanes, so that a product's two halves need no shuffling; what is left in
/// the upper halves is masked off where it would count.
#[inline(always)]
#[expect(clippy::needless_range_loop, reason = "lanes side by side, in the shape that becomes vectors")]
fn philox(seed: u64, counters: &[u64; LANES], upper: u64) -> [[u32; LANES]; 4] {
    let mut key = seed;
    let mut x = [*counters, counters.map(|c| c >> 32), [upper & LOWER; LANES], [upper >> 32; LANES]];
    for _ in 0..10 {
        for k in 0..LANES {
            let a = (x[0][k] & LOWER) * 0xD251_1F53;
            let b = (x[2][k] & LOWER) * 0xCD9E_8D57;
            x[0][k] = (b >> 32) ^ x[1][k] ^ (key & LOWER);
            x[1][k] = b;
            x[2][k] = (a >> 32) ^ x[3][k] ^ (key >> 32);
            x[3][k] = a;
        }
        key = (key & LOWER).wrapping_add(0x9E37_79B9) & LOWER | (key >> 32).wrapping_add(0xBB67_AE85) << 32;
    }
    x.map(|word| word.map(|lane| lane as u32))
}

const LOWER: u64 = 0xFFFF_FFFF;

/// sqrt(-power * ln u) with u uniform in (0, 1] from the upper 31 bits of each word: the magnitude of a complex normal value
/// of that mean power.
#[inline(always)]
fn radii(power: f32, bits: &[u32; LANES]) -> [f32; LANES] {
    let scale = -power * std::f32::consts::LN_2;
    std::array::from_fn(|k| {
        let u = ((bits[k] >> 1) as i32) as f32 + 0.5; // u * 2^31, 0.5 to 2^31
        // Mantissa from sqrt(1/2) to sqrt(2), so that log2 stays accurate where it is near 0.
        let shifted = u.to_bits().wrapping_sub(SQRT_HALF_BITS);
        let exponent = ((shifted as i32) >> 23) - 31;
        let m = f32::from_bits((shifted & 0x007F_FFFF) + SQRT_HALF_BITS) - 1.0;
        // log2(1 + m) / m, a Chebyshev interpolant of degree 7, relative error 3e-7.
        let p = 0.287_288_88 + m * (-0.249_271_82 + m * (0.232_652_58 + m * -0.142_759_73));
        let p = std::f32::consts::LOG2_E + m * (-0.721_352_93 + m * (0.480_916_7 + m * (-0.360_225_18 + m * p)));
        // At u = 1 the rounding of the polynomial may leave a speck above zero.
        (scale * (exponent as f32 + m * p).min(0.0)).sqrt()
    })
}

/// The bits of sqrt(1/2).
const SQRT_HALF_BITS: u32 = 0x3F35_04F3;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bits_are_those_of_the_published_generator() {
        // The known answers published with Random123 (kat_vectors, philox4x32 10).
        let answer = |key, counter, upper| philox(key, &[counter; LANES], upper).map(|word| word[5]);
        assert_eq!(answer(0, 0, 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(answer(u64::MAX, u64::MAX, u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        assert_eq!(
            answer(0x299f_31d0_a409_3822, 0x85a3_08d3_243f_6a88, 0x0370_7344_1319_8a2e),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn magnitudes_follow_the_logarithm() {
        for bits in (0..=u32::MAX).step_by(65_521).chain([0, 1, 2, 3, u32::MAX]) {
            let u = (f64::from(bits >> 1) + 0.5) / 2_147_483_648.0;
            let exact = -0.5 * u.ln();
            let got = f64::from(radii(0.5, &[bits; LANES])[0]).powi(2);
            // f32 holds u to 6e-8 of itself, the polynomial adds as much again.
            assert!((got - exact).abs() < 1e-6 * exact + 1e-7, "{bits} {got} {exact}");
        }
    }

    #[test]
    fn noise_has_its_power_no_mean_and_no_memory() {
        let mut x = vec![Complex32::default(); 1 << 20];
        noise(42, 0.25, Tick(1 << 40), 4, &mut x);
        let n = x.len() as f64;
        let power = x.iter().map(|x| f64::from(x.norm_sqr())).sum::<f64>() / n;
        // |x|^2 is exponential: its mean over n samples has a relative deviation of 1/sqrt(n) = 0.001.
        assert!((power / 0.25 - 1.0).abs() < 0.005, "{power}");
        for lag in 0..16 {
            let product = x.iter().zip(&x[lag + 1..]).map(|(a, b)| a * b.conj()).sum::<Complex32>() / n as f32;
            assert!(product.norm() < 0.25 * 0.005, "lag {lag}: {product}");
        }
        let pseudo = x.iter().map(|x| x * x).sum::<Complex32>() / n as f32;
        assert!(pseudo.norm() < 0.25 * 0.008, "circular: {pseudo}");
        assert!((x.iter().sum::<Complex32>() / n as f32).norm() < 0.5 * 0.005);
        // Kurtosis of a component: 3 for a Gaussian, deviation sqrt(24 / n) = 0.005.
        let fourth = x.iter().map(|x| f64::from(x.re).powi(4)).sum::<f64>() / n;
        let second = x.iter().map(|x| f64::from(x.re).powi(2)).sum::<f64>() / n;
        assert!((fourth / second.powi(2) - 3.0).abs() < 0.03);
    }

    #[test]
    fn the_tail_is_as_thick_as_a_gaussians() {
        let mut x = vec![Complex32::default(); 1 << 20];
        noise(1, 2.0, Tick(0), 1, &mut x); // unit variance a component
        for (sigmas, expected) in [(1.0, 0.317_310_5), (2.0, 0.045_500_3), (3.0, 0.002_699_8), (4.0, 6.334e-5)] {
            let beyond = x.iter().flat_map(|x| [x.re, x.im]).filter(|v| v.abs() > sigmas).count() as f64;
            let mean = expected * 2.0 * x.len() as f64;
            assert!((beyond - mean).abs() < 5.0 * mean.sqrt(), "{sigmas}: {beyond} for {mean}");
        }
    }

    #[test]
    fn seeds_are_independent() {
        let (mut a, mut b) = (vec![Complex32::default(); 1 << 16], vec![Complex32::default(); 1 << 16]);
        noise(1, 1.0, Tick(0), 1, &mut a);
        noise(2, 1.0, Tick(0), 1, &mut b);
        let cross = a.iter().zip(&b).map(|(a, b)| a * b.conj()).sum::<Complex32>() / a.len() as f32;
        assert!(cross.norm() < 0.02, "{cross}");
    }

    proptest! {
        #[test]
        fn noise_cut_anywhere_is_the_same_noise(seed in any::<u64>(), first in 0u64..1 << 60, step in 1u32..=512, cut in 0usize..100) {
            let mut whole = vec![Complex32::default(); 100];
            let mut parts = whole.clone();
            noise(seed, 0.1, Tick(first), step, &mut whole);
            let (a, b) = parts.split_at_mut(cut);
            noise(seed, 0.1, Tick(first), step, a);
            noise(seed, 0.1, Tick(first + cut as u64 * u64::from(step)), step, b);
            prop_assert_eq!(&whole, &parts);
            noise_scalar(seed, 0.1, first, u64::from(step), &mut parts);
            prop_assert_eq!(&whole, &parts, "wide and narrow kernels");
        }
    }
}
