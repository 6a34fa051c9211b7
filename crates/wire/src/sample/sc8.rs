//! sc8: I then Q, 8 bit signed each.
//!
//! On the wire an N200 packs two samples a word; with an odd number the last word's second half is padding, which the
//! packet's trailer marks. The functions here know samples only: they convert as many as both sides hold and return that
//! number; what is left over stays untouched.

use num_complex::{Complex, Complex32};

use super::Simd;

/// Bytes of one sample on the wire.
pub const BYTES: usize = 2;

/// Wire to floats: each integer times `scale`.
pub fn unpack_f32(wire: &[u8], scale: f32, out: &mut [Complex32]) -> usize {
    unpack_f32_with(Simd::best(), wire, scale, out)
}

/// [`unpack_f32`] at a chosen level.
pub fn unpack_f32_with(simd: Simd, wire: &[u8], scale: f32, out: &mut [Complex32]) -> usize {
    simd.run(
        #[inline(always)]
        || unpack(wire, out, |byte| f32::from(byte) * scale),
    )
}

/// Floats to wire: each float times `scale`, rounded to the nearest (ties to even), saturated; not a number gives 0.
pub fn pack_f32(samples: &[Complex32], scale: f32, wire: &mut [u8]) -> usize {
    pack_f32_with(Simd::best(), samples, scale, wire)
}

/// [`pack_f32`] at a chosen level.
pub fn pack_f32_with(simd: Simd, samples: &[Complex32], scale: f32, wire: &mut [u8]) -> usize {
    simd.run(
        #[inline(always)]
        || pack(samples, wire, |value| (value * scale).round_ties_even() as i8),
    )
}

/// Wire to integers of the same value.
pub fn unpack_i16(wire: &[u8], out: &mut [Complex<i16>]) -> usize {
    Simd::best().run(
        #[inline(always)]
        || unpack(wire, out, i16::from),
    )
}

/// Integers to wire, clipped to 8 bits without a shift, as an N200 does on receive.
pub fn pack_i16(samples: &[Complex<i16>], wire: &mut [u8]) -> usize {
    Simd::best().run(
        #[inline(always)]
        || pack(samples, wire, |value: i16| value.clamp(-128, 127) as i8),
    )
}

#[inline(always)]
fn unpack<T>(wire: &[u8], out: &mut [Complex<T>], one: impl Fn(i8) -> T) -> usize {
    let (samples, _) = wire.as_chunks::<BYTES>();
    let count = samples.len().min(out.len());
    for (sample, &[re, im]) in out.iter_mut().zip(samples) {
        *sample = Complex::new(one(re as i8), one(im as i8));
    }
    count
}

#[inline(always)]
fn pack<T: Copy>(samples: &[Complex<T>], wire: &mut [u8], one: impl Fn(T) -> i8) -> usize {
    let (slots, _) = wire.as_chunks_mut::<BYTES>();
    let count = slots.len().min(samples.len());
    for (slot, sample) in slots.iter_mut().zip(samples) {
        *slot = [one(sample.re) as u8, one(sample.im) as u8];
    }
    count
}
