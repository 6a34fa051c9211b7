//! The dot product of real taps and a complex signal in two halves: where a resampler spends its time.
//!
//! Left to itself the compiler makes vectors of two of this sum (four times slower), so the wide form names its vectors.
//! Both forms keep eight sums side by side and add them up in the same order: they give the same bits.

use num_complex::Complex32;

/// Products taken together; slices are whole multiples of it.
pub(crate) const LANES: usize = 8;

/// The sum of `taps[k] * (re[k] + j im[k])`. The rest that does not fill a vector is left out.
#[inline]
pub(crate) fn dot(taps: &[f32], re: &[f32], im: &[f32]) -> Complex32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the only condition of `wide` is that the processor has AVX2, and the line above asked it.
        #[allow(unsafe_code)]
        return unsafe { wide(taps, re, im) };
    }
    narrow(taps, re, im)
}

fn narrow(taps: &[f32], re: &[f32], im: &[f32]) -> Complex32 {
    let one = |x: &[f32]| {
        let mut sum = [0.0f32; LANES];
        for (h, x) in taps.as_chunks::<LANES>().0.iter().zip(x.as_chunks::<LANES>().0) {
            sum = std::array::from_fn(|k| sum[k] + h[k] * x[k]);
        }
        total(sum)
    };
    Complex32::new(one(re), one(im))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn wide(taps: &[f32], re: &[f32], im: &[f32]) -> Complex32 {
    use std::arch::x86_64::{_mm256_add_ps, _mm256_mul_ps, _mm256_setzero_ps};
    let (mut sum_re, mut sum_im) = (_mm256_setzero_ps(), _mm256_setzero_ps());
    let rows = taps.as_chunks::<LANES>().0.iter().zip(re.as_chunks::<LANES>().0).zip(im.as_chunks::<LANES>().0);
    for ((h, re), im) in rows {
        let h = bytemuck::cast(*h);
        sum_re = _mm256_add_ps(sum_re, _mm256_mul_ps(h, bytemuck::cast(*re)));
        sum_im = _mm256_add_ps(sum_im, _mm256_mul_ps(h, bytemuck::cast(*im)));
    }
    Complex32::new(total(bytemuck::cast(sum_re)), total(bytemuck::cast(sum_im)))
}

/// The sum of all lanes, by halves.
#[inline]
fn total(x: [f32; LANES]) -> f32 {
    let x: [f32; 4] = std::array::from_fn(|k| x[k] + x[k + 4]);
    (x[0] + x[2]) + (x[1] + x[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_and_narrow_agree_bit_for_bit_and_with_f64(
            x in prop::collection::vec((-1.0f32..1.0, -1.0f32..1.0, -1.0f32..1.0), 0..200),
        ) {
            let n = x.len() / LANES * LANES;
            let taps: Vec<f32> = x.iter().map(|x| x.0).collect();
            let (re, im): (Vec<f32>, Vec<f32>) = x.iter().map(|x| (x.1, x.2)).unzip();
            let sum = dot(&taps, &re, &im);
            prop_assert_eq!(sum, narrow(&taps, &re, &im));
            let exact: f64 = x[..n].iter().map(|x| f64::from(x.0) * f64::from(x.1)).sum();
            prop_assert!((f64::from(sum.re) - exact).abs() < 1e-5);
        }
    }
}
