//! sc16: I then Q, 16 bit signed each.
//!
//! Every function converts as many samples as both sides hold and returns that number; what is left over stays
//! untouched.

use num_complex::{Complex, Complex32};

use super::{ByteOrder, Simd};

/// Bytes of one sample on the wire.
pub const BYTES: usize = 4;

/// Wire to floats: each integer times `scale`.
///
/// ```
/// use takt_wire::sample::{ByteOrder, sc16};
/// let mut out = [Default::default(); 1];
/// assert_eq!(sc16::unpack_f32(&[0x40, 0x00, 0xC0, 0x00], ByteOrder::Big, 1.0 / 32768.0, &mut out), 1);
/// assert_eq!((out[0].re, out[0].im), (0.5, -0.5));
/// ```
pub fn unpack_f32(wire: &[u8], order: ByteOrder, scale: f32, out: &mut [Complex32]) -> usize {
    unpack_f32_with(Simd::best(), wire, order, scale, out)
}

/// [`unpack_f32`] at a chosen level.
pub fn unpack_f32_with(simd: Simd, wire: &[u8], order: ByteOrder, scale: f32, out: &mut [Complex32]) -> usize {
    simd.run(
        #[inline(always)]
        || match order {
            ByteOrder::Big => unpack(wire, out, |bytes| f32::from(i16::from_be_bytes(bytes)) * scale),
            ByteOrder::Little => unpack(wire, out, |bytes| f32::from(i16::from_le_bytes(bytes)) * scale),
        },
    )
}

/// Floats to wire: each float times `scale`, rounded to the nearest (ties to even), saturated; not a number gives 0.
pub fn pack_f32(samples: &[Complex32], order: ByteOrder, scale: f32, wire: &mut [u8]) -> usize {
    pack_f32_with(Simd::best(), samples, order, scale, wire)
}

/// [`pack_f32`] at a chosen level.
pub fn pack_f32_with(simd: Simd, samples: &[Complex32], order: ByteOrder, scale: f32, wire: &mut [u8]) -> usize {
    simd.run(
        #[inline(always)]
        || match order {
            ByteOrder::Big => pack(samples, wire, |value| to_i16(value * scale).to_be_bytes()),
            ByteOrder::Little => pack(samples, wire, |value| to_i16(value * scale).to_le_bytes()),
        },
    )
}

/// Wire to integers.
pub fn unpack_i16(wire: &[u8], order: ByteOrder, out: &mut [Complex<i16>]) -> usize {
    Simd::best().run(
        #[inline(always)]
        || match order {
            ByteOrder::Big => unpack(wire, out, i16::from_be_bytes),
            ByteOrder::Little => unpack(wire, out, i16::from_le_bytes),
        },
    )
}

/// Integers to wire.
pub fn pack_i16(samples: &[Complex<i16>], order: ByteOrder, wire: &mut [u8]) -> usize {
    Simd::best().run(
        #[inline(always)]
        || match order {
            ByteOrder::Big => pack(samples, wire, i16::to_be_bytes),
            ByteOrder::Little => pack(samples, wire, i16::to_le_bytes),
        },
    )
}

#[inline(always)]
fn to_i16(value: f32) -> i16 {
    value.round_ties_even() as i16 // `as` saturates and makes 0 of NaN
}

#[inline(always)]
fn unpack<T>(wire: &[u8], out: &mut [Complex<T>], one: impl Fn([u8; 2]) -> T) -> usize {
    let (samples, _) = wire.as_chunks::<BYTES>();
    let count = samples.len().min(out.len());
    for (sample, &[a, b, c, d]) in out.iter_mut().zip(samples) {
        *sample = Complex::new(one([a, b]), one([c, d]));
    }
    count
}

#[inline(always)]
fn pack<T: Copy>(samples: &[Complex<T>], wire: &mut [u8], one: impl Fn(T) -> [u8; 2]) -> usize {
    let (slots, _) = wire.as_chunks_mut::<BYTES>();
    let count = slots.len().min(samples.len());
    for (slot, sample) in slots.iter_mut().zip(samples) {
        let ([a, b], [c, d]) = (one(sample.re), one(sample.im));
        *slot = [a, b, c, d];
    }
    count
}
