//! The arithmetic that the decoder is written in: integers, as many at once as the processor takes.
//!
//! A value of a type that implements [`Lanes`] is the right to execute the instructions behind it; there is one for plain Rust,
//! which is the specification, and one for each extension (`simd`). All give the same bits: sums wrap, although none of the
//! decoder's ever does (`pass.rs` argues why).

use super::batch::{ByteLanes, OfBytes};
use super::row::{LANES, Row};

/// Operations on 16-bit integers.
pub(super) trait Lanes: Copy {
    /// The values of a group of lanes.
    type Group: Copy;
    /// Groups in a row.
    const GROUPS: usize;
    /// The same instructions on bytes.
    type Bytes: ByteLanes;
    /// Sixteen bytes.
    type Line: bytemuck::Pod;

    fn bytes(self) -> Self::Bytes;
    fn load(self, row: &Row, group: usize) -> Self::Group;
    fn store(self, row: &mut Row, group: usize, values: Self::Group);
    fn all(self, value: i16) -> Self::Group;
    fn add(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn sub(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn max(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn min(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The product with `factor` / 2^15, rounded to the nearest, up if there are two.
    fn scale(self, a: Self::Group, factor: Self::Group) -> Self::Group;
    /// A bit a lane, the first lowest: whether the value is below 0.
    fn negative(self, a: Self::Group) -> u32;
    /// Items of two lines in turn, those of the first before.
    fn in_turn(self, a: Self::Line, b: Self::Line) -> [Self::Line; 2];
    /// Lane i of the result is lane `from[i]` of `row`, each below 32.
    fn permute(self, row: &Row, from: &Row) -> Row;
}

/// Work that is done with the fastest instructions there are.
pub(super) trait Task {
    type Output;
    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// The memory of [`Lanes`]: rows are read and written as arrays.
macro_rules! memory {
    ($Group:ty, $lanes:expr) => {
        type Group = $Group;
        const GROUPS: usize = LANES / $lanes;

        #[inline(always)]
        fn load(self, row: &Row, group: usize) -> $Group {
            bytemuck::cast(row.0.as_chunks::<{ $lanes }>().0[group])
        }

        #[inline(always)]
        fn store(self, row: &mut Row, group: usize, values: $Group) {
            row.0.as_chunks_mut::<{ $lanes }>().0[group] = bytemuck::cast(values);
        }

        #[inline(always)]
        fn all(self, value: i16) -> $Group {
            bytemuck::cast([value; $lanes])
        }
    };
}

/// Operations of plain Rust on two groups, lane by lane.
macro_rules! lane_by_lane {
    ($($name:ident = $f:expr;)*) => { $(
        #[inline(always)]
        fn $name(self, a: Self::Group, b: Self::Group) -> Self::Group {
            $crate::turbo::lanes::each(a, b, $f)
        }
    )* };
}

pub(super) use {lane_by_lane, memory};

#[inline(always)]
pub(super) fn each<T: Copy + Default, const N: usize>(a: [T; N], b: [T; N], f: impl Fn(T, T) -> T) -> [T; N] {
    let mut out = [T::default(); N];
    for i in 0..N {
        out[i] = f(a[i], b[i]);
    }
    out
}

/// A bit a lane: whether the value is below 0.
#[inline(always)]
pub(super) fn signs<T: Copy + Default + PartialOrd, const N: usize>(a: [T; N]) -> u32 {
    a.iter().rev().fold(0, |bits, &value| bits << 1 | u32::from(value < T::default()))
}

/// Plain Rust, eight lanes at a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plain;

const EIGHT: usize = 8;

impl Lanes for Plain {
    memory!([i16; EIGHT], EIGHT);
    type Bytes = OfBytes<Plain>;
    type Line = [u8; 16];

    #[inline(always)]
    fn bytes(self) -> OfBytes<Plain> {
        OfBytes(self)
    }

    lane_by_lane! {
        add = i16::wrapping_add;
        sub = i16::wrapping_sub;
        max = i16::max;
        min = i16::min;
        scale = |a, factor| ((i32::from(a) * i32::from(factor) + (1 << 14)) >> 15) as i16;
    }

    #[inline(always)]
    fn negative(self, a: Self::Group) -> u32 {
        signs(a)
    }

    #[inline(always)]
    fn in_turn(self, a: [u8; 16], b: [u8; 16]) -> [[u8; 16]; 2] {
        let from = |start: usize| std::array::from_fn(|j| if j % 2 == 0 { a[start + j / 2] } else { b[start + j / 2] });
        [from(0), from(8)]
    }

    #[inline(always)]
    fn permute(self, row: &Row, from: &Row) -> Row {
        Row(from.0.map(|lane| row.0[lane as usize % LANES]))
    }
}
