//! Arithmetic on bytes, a lane for each block of a batch. Like [`Lanes`](super::super::lanes::Lanes): a value is the right to execute
//! the instructions, plain Rust is the specification, and sums wrap unless it is said that they saturate.

use super::super::lanes::{Plain, lane_by_lane};

/// Operations on bytes. Unsigned, unless it is said that they take a byte as signed.
pub(in super::super) trait ByteLanes: Copy {
    /// A byte for each block.
    type Group: bytemuck::Pod;
    /// That many.
    const BLOCKS: usize = size_of::<Self::Group>();

    fn all(self, value: u8) -> Self::Group;
    fn add(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn sub(self, a: Self::Group, b: Self::Group) -> Self::Group;
    fn min(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The sum, saturated.
    fn sum(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The mean, rounded up.
    fn mean(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The sum of signed bytes, saturated.
    fn signed_sum(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The difference of signed bytes, saturated.
    fn signed_difference(self, a: Self::Group, b: Self::Group) -> Self::Group;
    /// The greater of signed bytes.
    fn signed_max(self, a: Self::Group, b: Self::Group) -> Self::Group;
}

/// A level's instructions on bytes.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct OfBytes<L>(pub(in super::super) L);

impl ByteLanes for OfBytes<Plain> {
    type Group = [u8; 16];

    #[inline(always)]
    fn all(self, value: u8) -> Self::Group {
        [value; 16]
    }

    lane_by_lane! {
        add = u8::wrapping_add;
        sub = u8::wrapping_sub;
        min = u8::min;
        sum = u8::saturating_add;
        mean = |a, b| (u16::from(a) + u16::from(b)).div_ceil(2) as u8;
        signed_sum = |a, b| a.cast_signed().saturating_add(b.cast_signed()).cast_unsigned();
        signed_difference = |a, b| a.cast_signed().saturating_sub(b.cast_signed()).cast_unsigned();
        signed_max = |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned();
    }
}
