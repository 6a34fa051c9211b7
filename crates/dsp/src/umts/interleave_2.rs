//! The second interleaver, TS 25.212 section 4.2.11.

use crate::Binary;
use crate::bits::columns::{self, Layout};

/// Interleaves what one physical channel carries in a radio frame: written row by row into 30 columns, which are permuted and
/// read one after the other, without the padding of the last row (TS 25.212 section 4.2.11).
///
/// # Panics
/// If `out` is not as long as the input.
pub fn interleave_2<T: Binary>(input: &[T], out: &mut [T]) {
    let layout = Layout::new(input.len(), &COLUMNS);
    columns::read(&layout, bytemuck::cast_slice(input), bytemuck::cast_slice_mut(out));
}

/// Takes [`interleave_2`] back.
///
/// # Panics
/// If `out` is not as long as the input.
pub fn deinterleave_2<T: Binary>(input: &[T], out: &mut [T]) {
    let layout = Layout::new(input.len(), &COLUMNS);
    columns::write(&layout, bytemuck::cast_slice(input), bytemuck::cast_slice_mut(out));
}

/// P2, Table 7 of the clause: the columns in the order in which they are read.
const COLUMNS: [u8; 30] =
    [0, 20, 10, 5, 15, 25, 3, 13, 23, 8, 18, 28, 1, 11, 21, 6, 16, 26, 4, 14, 24, 19, 9, 29, 12, 2, 7, 22, 27, 17];
