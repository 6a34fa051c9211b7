//! sc16: I then Q, 16 bit signed each.
//!
//! Every function converts as many samples as both sides hold and returns that number; what is left over stays
//! untouched.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use num_complex::{Complex, Complex32};

use super::round::round;
use super::{ByteOrder, Simd};

/// Bytes of one sample on the wire.
pub const BYTES: usize = 4;

/// Numbers that a turn of the widest loop takes: what is behind the last whole turn is taken by one more over the last so many,
/// and not one by one, which for the 22 of 726 in a full datagram was a third of the cost of all.
const LOOP: usize = 64;

/// Wire to floats: each integer times `scale`.
///
/// ```
/// use takt_wire::sample::{ByteOrder, full_scale, sc16};
/// let mut out = [Default::default(); 1];
/// assert_eq!(sc16::unpack_f32(&[0x7F, 0xFF, 0x80, 0x01], ByteOrder::Big, 1.0 / full_scale::SC16, &mut out), 1);
/// assert_eq!((out[0].re, out[0].im), (1.0, -1.0));
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
    round(value, -32768.0, 32767.0) as i16
}

#[inline(always)]
fn unpack<T: Pod>(wire: &[u8], out: &mut [Complex<T>], one: impl Fn([u8; 2]) -> T) -> usize {
    let count = out.len().min(wire.len() / BYTES);
    // I and Q are treated alike, so the pairs need not be kept together: flat slices make the shorter loop.
    let (parts, bytes) = (&mut cast_slice_mut(out)[..2 * count], &wire.as_chunks::<2>().0[..2 * count]);
    match parts.len().checked_sub(LOOP) {
        None => unpack_all(parts, bytes, &one),
        Some(last) => {
            let whole = parts.len() - parts.len() % LOOP;
            unpack_all(&mut parts[..whole], &bytes[..whole], &one);
            unpack_all(&mut parts[last..], &bytes[last..], &one);
        }
    }
    count
}

#[inline(always)]
fn unpack_all<T>(parts: &mut [T], bytes: &[[u8; 2]], one: impl Fn([u8; 2]) -> T) {
    for (part, bytes) in parts.iter_mut().zip(bytes) {
        *part = one(*bytes);
    }
}

#[inline(always)]
fn pack<T: Pod>(samples: &[Complex<T>], wire: &mut [u8], one: impl Fn(T) -> [u8; 2]) -> usize {
    let count = samples.len().min(wire.len() / BYTES);
    for (bytes, part) in wire.as_chunks_mut::<2>().0.iter_mut().zip(cast_slice(samples)).take(2 * count) {
        *bytes = one(*part);
    }
    count
}
