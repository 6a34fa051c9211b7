//! Arithmetic on bytes, a lane for each block of a batch. Like [`Lanes`](super::super::lanes::Lanes): a value is the right to execute
//! the instructions, plain Rust is the specification, and sums wrap unless it is said that they saturate.

use super::super::lanes::{Arithmetic, Plain, lane_by_lane, memory, signs};

/// Blocks that are decoded together.
pub(in super::super) const BLOCKS: usize = 32;

/// A value for each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
pub(in super::super) struct ByteRow(pub(in super::super) [i8; BLOCKS]);

impl ByteRow {
    pub(in super::super) const ZERO: ByteRow = ByteRow([0; BLOCKS]);
}

/// Operations on bytes.
pub(in super::super) trait ByteLanes: Arithmetic<Value = i8, Row = ByteRow> {
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

impl Arithmetic for OfBytes<Plain> {
    memory!(ByteRow, BLOCKS, i8, [i8; SIXTEEN], SIXTEEN);
    lane_by_lane! {
        add = i8::wrapping_add;
        sub = i8::wrapping_sub;
        max = i8::max;
    }
}

impl ByteLanes for OfBytes<Plain> {
    lane_by_lane! {
        sum = i8::saturating_add;
        difference = i8::saturating_sub;
        three_quarters = |a, most| {
            let size = a.unsigned_abs().min(most as u8);
            let less = size.saturating_sub(1).div_ceil(2).div_ceil(2);
            (size - less) as i8 * a.signum()
        };
    }

    #[inline(always)]
    fn negative(self, a: Self::Group) -> u32 {
        signs(a)
    }
}
