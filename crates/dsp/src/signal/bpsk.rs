//! Soft values of BPSK samples.

use crate::simd::vectorised;

/// Soft values of 16-bit BPSK samples, positive for bit 0: a sample of `amplitude` becomes `loudness`, others in proportion, cut
/// towards zero and at -127 and 127.
///
/// # Panics
/// If `llrs` is not as long as `samples`, or `amplitude` or `loudness` not positive, or `loudness` above 127.
pub fn bpsk_soft(amplitude: i16, loudness: i16, samples: &[i16], llrs: &mut [i8]) {
    assert_eq!(samples.len(), llrs.len(), "a soft value a sample");
    assert!(amplitude > 0 && (1..=127).contains(&loudness), "amplitude {amplitude}, loudness {loudness}");
    kernel(amplitude, loudness, samples, llrs);
}

vectorised!(fn kernel(amplitude: i16, loudness: i16, samples: &[i16], llrs: &mut [i8]) = scalar);

#[inline(always)]
fn scalar(amplitude: i16, loudness: i16, samples: &[i16], llrs: &mut [i8]) {
    let (amplitude, loudness) = (f32::from(amplitude), f32::from(loudness));
    for (llr, sample) in llrs.iter_mut().zip(samples) {
        // The product is a whole number below 2^24, so the quotient is the exact one, rounded.
        *llr = cut(f32::from(*sample) * loudness / amplitude);
    }
}

/// A quotient of whole numbers, the divisor below 2^15, cut towards zero and at -127 and 127. A division of integers would not
/// become vectors.
///
/// Behind the point there is nothing or between 2^-15 and 1 - 2^-15, give or take the 2^-18 of rounding below 127: less a half
/// but for 2^-16, the nearest whole number is the one towards zero. Adding 3 * 2^22 leaves room for it alone.
#[inline(always)]
fn cut(quotient: f32) -> i8 {
    const NEARLY_HALF: f32 = 0.5 - 1.0 / 65_536.0;
    let above = if quotient > -127.0 { quotient } else { -127.0 };
    let within = if above < 127.0 { above } else { 127.0 };
    (within - NEARLY_HALF.copysign(within) + 12_582_912.0).to_bits() as u8 as i8
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All samples there are.
    fn is_the_division_of_integers(amplitude: i16, loudness: i16) {
        let samples: Vec<i16> = (i16::MIN..=i16::MAX).collect();
        let (mut llrs, mut narrow) = (vec![0; samples.len()], vec![0; samples.len()]);
        bpsk_soft(amplitude, loudness, &samples, &mut llrs);
        scalar(amplitude, loudness, &samples, &mut narrow);
        assert!(llrs == narrow, "wide and narrow, {amplitude} {loudness}");
        for (&sample, &llr) in samples.iter().zip(&llrs) {
            let exact = i32::from(sample) * i32::from(loudness) / i32::from(amplitude);
            assert_eq!(i32::from(llr), exact.clamp(-127, 127), "{sample} {amplitude} {loudness}");
        }
    }

    #[test]
    fn soft_values_are_those_of_whole_numbers_at_the_ends_of_the_ranges() {
        for amplitude in [1, 2, 3, 127, 4096, 16_383, 32_766, 32_767] {
            for loudness in [1, 20, 126, 127] {
                is_the_division_of_integers(amplitude, loudness);
            }
        }
    }

    proptest! {
        #[test]
        fn soft_values_are_those_of_whole_numbers(amplitude in 1..=i16::MAX, loudness in 1i16..=127) {
            is_the_division_of_integers(amplitude, loudness);
        }
    }
}
