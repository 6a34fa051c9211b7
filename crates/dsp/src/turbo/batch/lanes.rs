//! Arithmetic on bytes, a lane for each block of a batch. Like [`Lanes`](super::super::lanes::Lanes): a value is the right to execute
//! the instructions, plain Rust is the specification, and sums wrap unless it is said that they saturate.

use super::super::lanes::{Arithmetic, Plain};

/// Blocks that are decoded together.
pub(in super::super) const BLOCKS: usize = 32;

/// A value for each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub(in super::super) struct ByteRow(pub(in super::super) [i8; BLOCKS]);

impl ByteRow {
    pub(in super::super) const ZERO: ByteRow = ByteRow([0; BLOCKS]);
}

/// Operations on a group of lanes, of which [`ByteLanes::GROUPS`] make a row.
pub(in super::super) trait ByteLanes: Arithmetic {
    /// Groups in a row.
    const GROUPS: usize;

    fn load(self, row: &ByteRow, group: usize) -> Self::Group;
    fn store(self, row: &mut ByteRow, group: usize, values: Self::Group);
    fn all(self, value: i8) -> Self::Group;
    /// The sum, saturated.
    fn sum(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The difference, saturated.
    fn difference(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// Three quarters of the value, itself limited to `most` on either side; rounded to the nearest, to zero if there are two.
    fn three_quarters(self, a: Self::Group, most: Self::Group) -> Self::Group;
    /// A bit a lane, the first lowest: whether the value is below 0.
    fn negative(self, a: Self::Group) -> u32;
}

/// A level's instructions on bytes.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OfBytes<L>(pub(in super::super) L);

const SIXTEEN: usize = 16;

#[inline(always)]
fn each(a: [i8; SIXTEEN], b: [i8; SIXTEEN], f: impl Fn(i8, i8) -> i8) -> [i8; SIXTEEN] {
    let mut out = [0; SIXTEEN];
    for i in 0..SIXTEEN {
        out[i] = f(a[i], b[i]);
    }
    out
}

impl Arithmetic for OfBytes<Plain> {
    type Group = [i8; SIXTEEN];

    #[inline(always)]
    fn add(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i8::wrapping_add)
    }

    #[inline(always)]
    fn sub(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i8::wrapping_sub)
    }

    #[inline(always)]
    fn max(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i8::max)
    }
}

impl ByteLanes for OfBytes<Plain> {
    const GROUPS: usize = BLOCKS / SIXTEEN;

    #[inline(always)]
    fn load(self, row: &ByteRow, group: usize) -> Self::Group {
        row.0.as_chunks().0[group]
    }

    #[inline(always)]
    fn store(self, row: &mut ByteRow, group: usize, values: Self::Group) {
        row.0.as_chunks_mut().0[group] = values;
    }

    #[inline(always)]
    fn all(self, value: i8) -> Self::Group {
        [value; SIXTEEN]
    }

    #[inline(always)]
    fn sum(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i8::saturating_add)
    }

    #[inline(always)]
    fn difference(self, a: Self::Group, b: Self::Group) -> Self::Group {
        each(a, b, i8::saturating_sub)
    }

    #[inline(always)]
    fn three_quarters(self, a: Self::Group, most: Self::Group) -> Self::Group {
        each(a, most, |a, most| {
            let size = a.unsigned_abs().min(most as u8);
            let less = size.saturating_sub(1).div_ceil(2).div_ceil(2);
            (size - less) as i8 * a.signum()
        })
    }

    #[inline(always)]
    fn negative(self, a: Self::Group) -> u32 {
        a.iter().rev().fold(0, |bits, &value| bits << 1 | u32::from(value < 0))
    }
}
