//! sc8: I then Q, 8 bit signed each.
//!
//! On the wire an N200 packs two samples a word; with an odd number the last word's second half is padding, which the
//! packet's trailer marks. The functions here know samples only: they convert as many as both sides hold and return that
//! number; what is left over stays untouched.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use num_complex::{Complex, Complex32};

use super::Simd;
use super::round::round;

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
        || pack(samples, wire, |value| round(value * scale, -128.0, 127.0) as i8),
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
fn unpack<T: Pod>(wire: &[u8], out: &mut [Complex<T>], one: impl Fn(i8) -> T) -> usize {
    let count = out.len().min(wire.len() / BYTES);
    for (part, byte) in cast_slice_mut(out).iter_mut().zip(wire).take(2 * count) {
        *part = one(*byte as i8);
    }
    count
}

#[inline(always)]
fn pack<T: Pod>(samples: &[Complex<T>], wire: &mut [u8], one: impl Fn(T) -> i8) -> usize {
    let count = samples.len().min(wire.len() / BYTES);
    for (byte, part) in wire.iter_mut().zip(cast_slice(samples)).take(2 * count) {
        *byte = one(*part) as u8;
    }
    count
}
