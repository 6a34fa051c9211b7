//! Soft demodulation of the constellations of TS 36.211 section 7.1: the exact max-log values.
//!
//! The axes of a symbol are demodulated alike. The difference of the squared distances to the nearest point with a bit 1 and the
//! nearest with a bit 0 is 4 a times a function of the received value x that is piecewise linear, with bends at even multiples
//! of a (the points being at odd ones).

use num_complex::Complex32;

use super::Modulation;
use crate::simd::vectorised;

/// Writes Q_m soft values a symbol: `scale` times (squared distance to the nearest point with that bit 1, less the one to the
/// nearest with 0), rounded and limited to 127 either way. With `scale` = s / N0, N0 being the variance of the complex noise,
/// 1 stands for a log-likelihood ratio of 1 / s.
///
/// Without `weights`, `symbols` are as sent, and noise. With them, symbols are y h* and weights |h|^2 of what was received
/// through a channel h: that weighs soft values as they deserve, and nothing is divided.
///
/// # Panics
/// If there are not Q_m soft values, or not one weight, for each symbol.
///
/// ```
/// use takt_base::Complex32;
/// use takt_dsp::lte::{Modulation, demodulate};
/// let mut llrs = [0; 4];
/// let received = Complex32::new(0.9, -0.3); // near the point of 0, 1, 1, 0
/// demodulate(Modulation::Qam16, 50.0, &[received], None, &mut llrs);
/// assert!(llrs[0] > 0 && llrs[1] < 0 && llrs[2] < 0 && llrs[3] > 0);
/// ```
pub fn demodulate(modulation: Modulation, scale: f32, symbols: &[Complex32], weights: Option<&[f32]>, llrs: &mut [i8]) {
    assert_eq!(llrs.len(), modulation.bits() * symbols.len(), "soft values of the symbols");
    if let Some(weights) = weights {
        assert_eq!(weights.len(), symbols.len(), "a weight for each symbol");
    }
    kernel(modulation, scale, symbols, weights, llrs);
}

vectorised!(fn kernel(
    modulation: Modulation, scale: f32, symbols: &[Complex32], weights: Option<&[f32]>, llrs: &mut [i8],
) = scalar);

#[inline(always)]
fn scalar(modulation: Modulation, scale: f32, symbols: &[Complex32], weights: Option<&[f32]>, llrs: &mut [i8]) {
    let (a, factor) = (modulation.amplitude(), 4.0 * modulation.amplitude() * scale);
    match modulation {
        Modulation::Bpsk => {
            for (llr, symbol) in llrs.iter_mut().zip(symbols) {
                *llr = quantised(factor * (symbol.re + symbol.im));
            }
        }
        Modulation::Qpsk => by_block::<1>(a, factor, symbols, weights, llrs),
        Modulation::Qam16 => by_block::<2>(a, factor, symbols, weights, llrs),
        Modulation::Qam64 => by_block::<3>(a, factor, symbols, weights, llrs),
    }
}

/// Symbols at a time.
const BLOCK: usize = 16;

#[inline(always)]
fn by_block<const LEVELS: usize>(a: f32, factor: f32, symbols: &[Complex32], weights: Option<&[f32]>, llrs: &mut [i8]) {
    for (n, (symbols, llrs)) in symbols.chunks(BLOCK).zip(llrs.chunks_mut(2 * LEVELS * BLOCK)).enumerate() {
        let (mut x, mut unit) = ([0.0; 2 * BLOCK], [a; 2 * BLOCK]);
        x[..2 * symbols.len()].copy_from_slice(bytemuck::cast_slice(symbols));
        if let Some(weights) = weights {
            for (unit, weight) in unit.chunks_exact_mut(2).zip(&weights[n * BLOCK..]) {
                unit.fill(a * weight);
            }
        }
        let mut levels = [[0; 2 * BLOCK]; LEVELS];
        for i in 0..2 * BLOCK {
            let soft = axis::<LEVELS>(x[i], unit[i]);
            for level in 0..LEVELS {
                levels[level][i] = quantised(factor * soft[level]);
            }
        }
        for (s, out) in llrs.chunks_exact_mut(2 * LEVELS).enumerate() {
            for level in 0..LEVELS {
                out[2 * level] = levels[level][2 * s];
                out[2 * level + 1] = levels[level][2 * s + 1];
            }
        }
    }
}

/// The soft values of an axis with 1, 2 or 3 bits, over 4 a. `a` has the channel's weight in it.
#[inline(always)]
fn axis<const LEVELS: usize>(x: f32, a: f32) -> [f32; LEVELS] {
    let mut soft = [0.0; LEVELS];
    let t = x.abs();
    let beyond = |bend: f32| (t - bend * a).max(0.0);
    match LEVELS {
        1 => soft[0] = x,
        2 => {
            soft[0] = x + beyond(2.0).copysign(x);
            soft[1] = 2.0 * a - t;
        }
        _ => {
            soft[0] = x + (beyond(2.0) + beyond(4.0) + beyond(6.0)).copysign(x);
            soft[1] = 4.0 * a - t + (2.0 * a - t).max(0.0) - beyond(6.0);
            soft[2] = 2.0 * a - (t - 4.0 * a).abs();
        }
    }
    soft
}

/// Rounded to the nearest, ties to even: with so much added that the last place is worth 1, the number stands in the lowest bits.
/// (With a saturating cast, demodulation takes 2.5 times as long.) Not a number gives 0.
#[inline(always)]
fn quantised(value: f32) -> i8 {
    const LAST_PLACE_1: f32 = 12_582_912.0; // 1.5 * 2^23
    let value = if value.is_nan() { 0.0 } else { value };
    (value.clamp(-127.0, 127.0) + LAST_PLACE_1).to_bits() as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lte::modulate;
    use proptest::prelude::*;

    /// All points of a constellation, with their numbers, b(0) being the highest bit.
    fn points(modulation: Modulation) -> Vec<(usize, Complex32)> {
        let bits = modulation.bits();
        let point = |number: usize| {
            let mut symbol = [Complex32::default()];
            let digits: Vec<u8> = (0..bits).map(|i| (number >> (bits - 1 - i) & 1) as u8).collect();
            modulate(modulation, &digits, &mut symbol);
            (number, symbol[0])
        };
        (0..1 << bits).map(point).collect()
    }

    /// The soft values before rounding, from the distances to all points.
    fn by_distances(modulation: Modulation, received: Complex32, channel: Complex32) -> Vec<f32> {
        let points = points(modulation);
        let nearest = |i: usize, bit: usize| {
            let with_bit = points.iter().filter(|(number, _)| number >> (modulation.bits() - 1 - i) & 1 == bit);
            with_bit.map(|(_, point)| (received - channel * point).norm_sqr()).fold(f32::INFINITY, f32::min)
        };
        (0..modulation.bits()).map(|i| nearest(i, 1) - nearest(i, 0)).collect()
    }

    proptest! {
        #[test]
        fn soft_values_are_differences_of_squared_distances(
            modulation in prop::sample::select(&Modulation::ALL[..]),
            values in prop::collection::vec(((-2.0f32..2.0, -2.0f32..2.0), (-1.0f32..1.0, -1.0f32..1.0)), 1..50),
            weighted in any::<bool>(),
            scale in 1.0f32..100.0,
        ) {
            let complex = |(re, im)| Complex32::new(re, im);
            let received: Vec<_> = values.iter().map(|v| complex(v.0)).collect();
            let channels: Vec<_> = values.iter().map(|v| if weighted { complex(v.1) } else { complex((1.0, 0.0)) }).collect();
            let matched: Vec<_> = received.iter().zip(&channels).map(|(y, h)| y * h.conj()).collect();
            let weights: Vec<f32> = channels.iter().map(Complex32::norm_sqr).collect();
            let mut llrs = vec![99; modulation.bits() * received.len()];
            demodulate(modulation, scale, &matched, weighted.then_some(&weights[..]), &mut llrs);
            let expected = received.iter().zip(&channels).flat_map(|(y, h)| by_distances(modulation, *y, *h));
            for (llr, exact) in llrs.iter().zip(expected) {
                // Rounding, and what f32 loses of squares of up to 16 times the scale: 2^-24 * 16 * 100 and a few more.
                let exact = (exact * scale).clamp(-127.0, 127.0);
                prop_assert!((f32::from(*llr) - exact).abs() <= 0.501, "{llr} for {exact}");
            }
            let mut narrow = vec![99; llrs.len()];
            scalar(modulation, scale, &matched, weighted.then_some(&weights[..]), &mut narrow);
            prop_assert_eq!(llrs, narrow);
        }

        #[test]
        fn sent_bits_come_back(modulation in prop::sample::select(&Modulation::ALL[..]), bits in prop::collection::vec(0u8..2, 0..300)) {
            let symbols = bits.len() / modulation.bits();
            let bits = &bits[..symbols * modulation.bits()];
            let (mut sent, mut llrs) = (vec![Complex32::default(); symbols], vec![0; bits.len()]);
            modulate(modulation, bits, &mut sent);
            demodulate(modulation, 40.0, &sent, None, &mut llrs);
            let decided: Vec<u8> = llrs.iter().map(|&llr| u8::from(llr < 0)).collect();
            prop_assert!(decided == bits && !llrs.contains(&0));
        }
    }

    #[test]
    fn what_is_no_number_says_nothing_and_infinity_is_sure() {
        for modulation in Modulation::ALL {
            let mut llrs = vec![99; 2 * modulation.bits()];
            let received = [Complex32::new(f32::NAN, f32::NAN), Complex32::new(f32::INFINITY, f32::INFINITY)];
            demodulate(modulation, 1.0, &received, None, &mut llrs);
            let (unknown, sure) = llrs.split_at(modulation.bits());
            assert!(unknown.iter().all(|&llr| llr == 0), "{modulation:?}: {unknown:?}");
            assert!(sure[0] == 127, "{modulation:?}: {sure:?}");
        }
    }
}
