//! Takes the channel off received elements: one tap each.

use num_complex::Complex32;

/// Divides elements by their gains: `symbols` are as sent, and noise; `weights` are the powers of the gains, which say how much a
/// symbol is worth. An element that cannot be divided becomes 0 with weight 0; all that is written is finite.
///
/// # Panics
/// If the slices differ in length.
pub fn equalise(received: &[Complex32], gains: &[Complex32], symbols: &mut [Complex32], weights: &mut [f32]) {
    each(received, gains, symbols, weights, |element, gain, weight| element * gain.conj() / weight);
}

/// As [`equalise`], but `symbols` are multiplied by the weights, and nothing is divided: as
/// [`takt_dsp::lte::demodulate`] wants them.
///
/// # Panics
/// If the slices differ in length.
pub fn match_filter(received: &[Complex32], gains: &[Complex32], symbols: &mut [Complex32], weights: &mut [f32]) {
    each(received, gains, symbols, weights, |element, gain, _| element * gain.conj());
}

#[inline(always)]
fn each(
    received: &[Complex32],
    gains: &[Complex32],
    symbols: &mut [Complex32],
    weights: &mut [f32],
    divide: impl Fn(Complex32, Complex32, f32) -> Complex32,
) {
    let len = received.len();
    assert_eq!((gains.len(), symbols.len(), weights.len()), (len, len, len), "gains, symbols and weights of elements");
    let outputs = symbols.iter_mut().zip(weights);
    for ((element, gain), (symbol, weight)) in received.iter().zip(gains).zip(outputs) {
        let power = gain.norm_sqr();
        let divided = divide(*element, *gain, power);
        // Infinite or not a number, times 0, is not a number, which equals nothing.
        let finite = (divided.re + divided.im + power) * 0.0 == 0.0;
        *symbol = if finite { divided } else { Complex32::default() };
        *weight = if finite { power } else { 0.0 };
    }
}
