//! Complex chips as two rows of numbers, which is how vectors take them.

use num_complex::Complex32;

/// Real and imaginary parts, apart.
#[derive(Clone, Debug)]
pub(super) struct Parts<const N: usize> {
    pub(super) re: [f32; N],
    pub(super) im: [f32; N],
}

impl<const N: usize> Parts<N> {
    pub(super) const ZERO: Parts<N> = Parts { re: [0.0; N], im: [0.0; N] };

    pub(super) fn from_fn(chip: impl Fn(usize) -> Complex32) -> Parts<N> {
        let mut parts = Parts::ZERO;
        for (i, (re, im)) in parts.re.iter_mut().zip(&mut parts.im).enumerate() {
            (*re, *im) = (chip(i).re, chip(i).im);
        }
        parts
    }

    /// Power of all chips together.
    pub(super) fn power(&self) -> f32 {
        self.re.iter().zip(&self.im).map(|(re, im)| re * re + im * im).sum()
    }
}
