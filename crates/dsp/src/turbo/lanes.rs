//! The arithmetic that the decoder is written in: 16-bit integers, as many at once as the processor takes.
//!
//! A value of a type that implements [`Lanes`] is the right to execute the instructions behind it; there is one for plain Rust,
//! which is the specification, and one for each extension (`simd`). All give the same bits: sums wrap, although none of the
//! decoder's ever does (`pass.rs` argues why).

use super::batch::{ByteLanes, OfBytes};
use super::row::{LANES, Row};

/// What a step through the trellis takes.
pub(super) trait Arithmetic: Copy {
    /// The values of a group of lanes.
    type Group: Copy;

    fn add(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn sub(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn max(self, a: Self::Group, b: Self::Group) -> Self::Group;
}

/// Operations on a group of lanes, of which [`Lanes::GROUPS`] make a row.
pub(super) trait Lanes: Arithmetic {
    /// Groups in a row.
    const GROUPS: usize;
    /// The same instructions on bytes.
    type Bytes: ByteLanes;

    fn bytes(self) -> Self::Bytes;
    fn load(self, row: &Row, group: usize) -> Self::Group;
    fn store(self, row: &mut Row, group: usize, values: Self::Group);
    fn all(self, value: i16) -> Self::Group;
    fn min(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The product with `factor` / 2^15, rounded to the nearest, up if there are two.
    fn scale(self, a: Self::Group, factor: Self::Group) -> Self::Group;
    /// A bit a lane, the first lowest: whether the value is below 0.
    fn negative(self, a: Self::Group) -> u32;
    /// Lane i of the result is lane `from[i]` of `row`, each below 32.
    fn permute(self, row: &Row, from: &Row) -> Row;
}

/// What is done with the fastest instructions there are.
pub(super) trait Task {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// Plain Rust, eight lanes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

const EIGHT: usize = 8;

#[inline(always)]
fn each(a: [i16; EIGHT], b: [i16; EIGHT], f: impl Fn(i16, i16) -> i16) -> [i16; EIGHT] {
    let mut out = [0; EIGHT];
    for i in 0..EIGHT {
        out[i] = f(a[i], b[i]);
    }
    out
}

impl Arithmetic for Plain {
    type Group = [i16; EIGHT];

    #[inline(always)]
    fn add(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i16::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i16::wrapping_sub)
    }

    #[inline(always)]
    fn max(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i16::max)
    }
}

impl Lanes for Plain {
    const GROUPS: usize = LANES / EIGHT;
    type Bytes = OfBytes<Plain>;

    #[inline(always)]
    fn bytes(self) -> OfBytes<Plain> {
        OfBytes(self)
    }

    #[inline(always)]
    fn load(self, row: &Row, group: usize) -> Self::Group {
        row.0.as_chunks().0[group]
    }

    #[inline(always)]
    fn store(self, row: &mut Row, group: usize, values: Self::Group) {
        row.0.as_chunks_mut().0[group] = values;
    }

    #[inline(always)]
    fn all(self, value: i16) -> Self::Group {
        [value; EIGHT]
    }

    #[inline(always)]
    fn min(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i16::min)
    }

    #[inline(always)]
    fn scale(self, a: Self::Group, factor: Self::Group) -> Self::Group {
        each(a, factor, |a, factor| ((i32::from(a) * i32::from(factor) + (1 << 14)) >> 15) as i16)
    }

    #[inline(always)]
    fn negative(self, a: Self::Group) -> u32 {
        a.iter().rev().fold(0, |bits, &value| bits << 1 | u32::from(value < 0))
    }

    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        Row(from.0.map(|lane| row.0[lane as usize % LANES]))
    }
}
