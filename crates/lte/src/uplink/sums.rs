//! Sums over complex values, in partial sums that the compiler can make at once.

use num_complex::Complex32;

/// Partial sums.
const LANES: usize = 8;

/// The sum of values of `high` times the conjugates of those of `low`, as many as both have.
pub(super) fn correlation(low: &[Complex32], high: &[Complex32]) -> Complex32 {
    let len = low.len().min(high.len());
    let (low, low_rest) = low[..len].as_chunks::<LANES>();
    let (high, high_rest) = high[..len].as_chunks::<LANES>();
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    for (low, high) in low.iter().zip(high) {
        for at in 0..LANES {
            re[at] += high[at].re * low[at].re + high[at].im * low[at].im;
            im[at] += high[at].im * low[at].re - high[at].re * low[at].im;
        }
    }
    let rest: Complex32 = low_rest.iter().zip(high_rest).map(|(low, high)| high * low.conj()).sum();
    Complex32::new(re.iter().sum(), im.iter().sum()) + rest
}

/// The sum of squared magnitudes.
pub(super) fn energy(values: &[Complex32]) -> f32 {
    sum(values, values, |value, _| value)
}

/// The sum of squared magnitudes of differences, of slices of one length.
pub(super) fn energy_of_difference(values: &[Complex32], others: &[Complex32]) -> f32 {
    sum(values, others, |value, other| value - other)
}

#[inline(always)]
fn sum(values: &[Complex32], others: &[Complex32], f: impl Fn(Complex32, Complex32) -> Complex32) -> f32 {
    let (parts, rest) = values.as_chunks::<LANES>();
    let (other_parts, other_rest) = others.as_chunks::<LANES>();
    let (mut re, mut im) = ([0.0; LANES], [0.0; LANES]);
    for (values, others) in parts.iter().zip(other_parts) {
        for at in 0..LANES {
            let value = f(values[at], others[at]);
            re[at] += value.re * value.re;
            im[at] += value.im * value.im;
        }
    }
    let rest: f32 = rest.iter().zip(other_rest).map(|(&value, &other)| f(value, other).norm_sqr()).sum();
    re.iter().chain(&im).sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn partial_sums_are_the_sum(values in prop::collection::vec((-9i8..9, -9i8..9), 0..70), distance in 0usize..9) {
            let values: Vec<Complex32> = values.iter().map(|&(re, im)| Complex32::new(re.into(), im.into())).collect();
            let others = &values[distance.min(values.len())..];
            let plain: Complex32 = values.iter().zip(others).map(|(low, high)| high * low.conj()).sum();
            prop_assert_eq!(correlation(&values, others), plain);
            prop_assert_eq!(energy(&values), values.iter().map(Complex32::norm_sqr).sum::<f32>());
            let low = &values[..others.len()];
            let plain: f32 = low.iter().zip(others).map(|(low, high)| (low - high).norm_sqr()).sum();
            prop_assert_eq!(energy_of_difference(low, others), plain);
        }
    }
}
