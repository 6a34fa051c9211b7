//! White Gaussian noise whose value at a tick depends on the seed and the tick alone.
//!
//! The random bits are Philox4x32-10 (Salmon, Moraes, Dror, Shaw: *Parallel random numbers: as easy as 1, 2, 3*, SC 2011):
//! key = seed, counter = tick. A counter is its own state, so blocks cut anywhere agree and a reader may jump. Box and
//! Muller's transform makes a complex normal value of two of its words; with 31 bits for the magnitude the tail ends at
//! 6.6 standard deviations of the magnitude, which a signal of 10^9 samples reaches once.

use num_complex::Complex32;
use takt_base::Tick;

use super::phasor::phasor;
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

/// Adds noise of mean power `power` to each of `input`, rounds it (halves away from zero) and saturates it. Real samples `first`,
/// `first + 1`, ...; two share a complex value of [`noise`], of tick `index / 2`: the even one has the real part.
///
/// # Panics
/// If `out` is not as long as `input`.
pub fn add_noise(seed: u64, power: f32, first: u64, input: &[i16], out: &mut [i16]) {
    assert_eq!(input.len(), out.len(), "as many samples out as in");
    let odd = usize::from(first % 2 == 1 && !input.is_empty());
    let ((before, input), (alone, out)) = (input.split_at(odd), out.split_at_mut(odd));
    if odd == 1 {
        let mut pair = [0; 2];
        add_kernel(seed, power, first / 2, &[0, before[0]], &mut pair);
        alone[0] = pair[1];
    }
    add_kernel(seed, power, first.div_ceil(2), input, out);
}

vectorised!(512, fn noise_kernel(seed: u64, power: f32, first: u64, step: u64, out: &mut [Complex32]) = noise_scalar);
vectorised!(512, fn add_kernel(seed: u64, power: f32, first: u64, input: &[i16], out: &mut [i16]) = add_scalar);

#[inline(always)]
fn noise_scalar(seed: u64, power: f32, first: u64, step: u64, out: &mut [Complex32]) {
    let (keys, mut tick) = (keys(seed), first);
    for out in out {
        *out = value(&keys, power, tick);
        tick = tick.wrapping_add(step);
    }
}

#[inline(always)]
fn add_scalar(seed: u64, power: f32, first: u64, input: &[i16], out: &mut [i16]) {
    let (keys, mut tick) = (keys(seed), first);
    let (pairs, rest) = input.as_chunks::<2>();
    let (out_pairs, out_rest) = out.as_chunks_mut::<2>();
    for ([even, odd], out) in pairs.iter().zip(out_pairs) {
        let noise = value(&keys, power, tick);
        *out = [rounded(f32::from(*even) + noise.re), rounded(f32::from(*odd) + noise.im)];
        tick = tick.wrapping_add(1);
    }
    if let ([last], [out]) = (rest, out_rest) {
        *out = rounded(f32::from(*last) + value(&keys, power, tick).re);
    }
}

/// The noise of a tick. Straight code without branches: the loops around it become vectors of ticks.
#[inline(always)]
fn value(keys: &Keys, power: f32, tick: u64) -> Complex32 {
    let [magnitude, phase, ..] = philox(keys, tick, 0);
    let (radius, (cos, sin)) = (radius(power, magnitude), phasor(phase));
    Complex32::new(radius * cos, radius * sin)
}

/// `x.round() as i16` for all numbers, in a way that becomes vectors. Adding 2^23 to a positive float below 2^22 leaves no room for
/// its fraction and rounds it, half to even; where that went down by a half, one is added.
#[inline(always)]
fn rounded(x: f32) -> i16 {
    const NO_ROOM: f32 = 8_388_608.0;
    let above = if x > -32768.0 { x } else { -32768.0 };
    let within = if above < 32767.0 { above } else { 32767.0 };
    let size = within.abs();
    let even = (size + NO_ROOM) - NO_ROOM;
    let whole = even + if size - even >= 0.5 { 1.0 } else { 0.0 };
    // As much again in the middle of the room, for two's complement.
    (whole.copysign(within) + 1.5 * NO_ROOM).to_bits() as u16 as i16
}

/// Random words that seed and counter alone decide. Noise has the counters whose `upper` is 0.
pub(super) fn words(seed: u64, counter: u64, upper: u64) -> [u32; 4] {
    philox(&keys(seed), counter, upper)
}

/// Ten rounds of Philox4x32, `upper` being the upper half of the counter.
///
/// The words travel in the lower halves of 64 bits, so that a product's two halves need no shuffling; what is left in the upper
/// halves is masked off where it would count.
#[inline(always)]
fn philox(keys: &Keys, counter: u64, upper: u64) -> [u32; 4] {
    let mut x = [counter, counter >> 32, upper, upper >> 32];
    for [key, other] in keys {
        let a = (x[0] & LOWER) * 0xD251_1F53;
        let b = (x[2] & LOWER) * 0xCD9E_8D57;
        x = [(b >> 32) ^ x[1] ^ key, b, (a >> 32) ^ x[3] ^ other, a];
    }
    x.map(|word| word as u32)
}

/// The two words of the key in each round.
type Keys = [[u64; 2]; 10];

#[inline(always)]
fn keys(seed: u64) -> Keys {
    let mut keys = [[seed & LOWER, seed >> 32]; 10];
    for round in 1..10 {
        let [key, other] = keys[round - 1];
        keys[round] = [(key + 0x9E37_79B9) & LOWER, (other + 0xBB67_AE85) & LOWER];
    }
    keys
}

const LOWER: u64 = 0xFFFF_FFFF;

/// sqrt(-power * ln u) with u uniform in (0, 1] from the upper 31 of the bits: the magnitude of a complex normal value of that
/// mean power.
#[inline(always)]
fn radius(power: f32, bits: u32) -> f32 {
    let u = ((bits >> 1) as i32) as f32 + 0.5; // u * 2^31, 0.5 to 2^31
    // Mantissa from sqrt(1/2) to sqrt(2), so that log2 stays accurate where it is near 0.
    let shifted = u.to_bits().wrapping_sub(SQRT_HALF_BITS);
    let exponent = ((shifted as i32) >> 23) - 31;
    let m = f32::from_bits((shifted & 0x007F_FFFF) + SQRT_HALF_BITS) - 1.0;
    // log2(1 + m) / m, a Chebyshev interpolant of degree 7, relative error 3e-7.
    let p = 0.287_288_88 + m * (-0.249_271_82 + m * (0.232_652_58 + m * -0.142_759_73));
    let p = std::f32::consts::LOG2_E + m * (-0.721_352_93 + m * (0.480_916_7 + m * (-0.360_225_18 + m * p)));
    // At u = 1 the rounding of the polynomial may leave a speck above zero.
    (-power * std::f32::consts::LN_2 * (exponent as f32 + m * p).min(0.0)).sqrt()
}

/// The bits of sqrt(1/2).
const SQRT_HALF_BITS: u32 = 0x3F35_04F3;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::without_avx512;
    use proptest::prelude::*;

    #[test]
    fn the_bits_are_those_of_the_published_generator() {
        // The known answers published with Random123 (kat_vectors, philox4x32 10).
        let answer = |key, counter, upper| philox(&keys(key), counter, upper);
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
            let got = f64::from(radius(0.5, bits)).powi(2);
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
            without_avx512(|| noise(seed, 0.1, Tick(first), step, &mut parts));
            prop_assert_eq!(&whole, &parts, "widest and wide kernels");
            noise_scalar(seed, 0.1, first, u64::from(step), &mut parts);
            prop_assert_eq!(&whole, &parts, "wide and narrow kernels");
        }

        #[test]
        fn added_noise_is_that_noise_rounded_wherever_it_begins(
            seed in any::<u64>(), first in 0u64..1 << 60, level in 0.0f32..5.0, input in prop::collection::vec(any::<i16>(), 0..200),
        ) {
            let (power, odd) = (10f32.powf(2.0 * level), (first % 2) as usize);
            let mut pairs = vec![Complex32::default(); (input.len() + odd).div_ceil(2)];
            noise(seed, power, Tick(first / 2), 1, &mut pairs);
            let parts = pairs.iter().flat_map(|pair| [pair.re, pair.im]).skip(odd);
            let expected: Vec<i16> = input.iter().zip(parts).map(|(x, noise)| (f32::from(*x) + noise).round() as i16).collect();
            let mut sums = vec![0; input.len()];
            add_noise(seed, power, first, &input, &mut sums);
            prop_assert_eq!(&sums, &expected);
            without_avx512(|| add_noise(seed, power, first, &input, &mut sums));
            prop_assert_eq!(&sums, &expected, "widest and wide kernels");
            if odd == 0 {
                add_scalar(seed, power, first / 2, &input, &mut sums);
                prop_assert_eq!(&sums, &expected, "wide and narrow kernels");
            }
        }

        #[test]
        fn rounding_is_that_of_the_language(bits in any::<u32>(), halves in -70_000i32..70_000) {
            let any = f32::from_bits(bits);
            prop_assert!(any.is_nan() || rounded(any) == any.round() as i16, "{any}");
            let half = halves as f32 / 2.0;
            for x in [half, half.next_up(), half.next_down()] {
                prop_assert_eq!(rounded(x), x.round() as i16, "{}", x);
            }
        }
    }
}
