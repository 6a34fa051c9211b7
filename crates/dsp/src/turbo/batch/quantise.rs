//! Received blocks to rows of small integers: a block in each lane, a step in each row.
//!
//! Bytes have no room for loud values, so each block is scaled by itself: the mean of what is known of its bits becomes
//! [`MEAN`]. What is punctured does not count.

use super::lanes::{BLOCKS, ByteRow};
use super::pass::MOST_INPUT;
use crate::turbo::lanes::{Lanes, Task};
use crate::turbo::spread::{TILE, transposed};

/// Mean magnitude of scaled values: of BPSK at 1 dB and rate 1/3, the amplitude is 5.5 then, and one value in 20 is limited.
const MEAN: u32 = 7;

/// Takes up to [`TILE`] blocks to lanes `first` and up; item i of each to row i.
pub(super) struct Take<'a> {
    pub(super) coded: &'a [i8],
    /// Room for [`TILE`] blocks.
    pub(super) scaled: &'a mut [i8],
    pub(super) rows: &'a mut [ByteRow],
    pub(super) first: usize,
}

impl Task for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _l: L) {
        let items = self.rows.len();
        for (block, scaled) in self.coded.chunks(items).zip(self.scaled.chunks_mut(items)) {
            scale(block, scaled);
        }
        for i in (0..items).step_by(TILE) {
            // The last tile overlaps its neighbour.
            let i = i.min(items - TILE);
            let tile = std::array::from_fn(|lane| *self.scaled[lane * items + i..].first_chunk().unwrap());
            for (row, llrs) in self.rows[i..].iter_mut().zip(transposed(tile)) {
                row.0.as_chunks_mut::<TILE>().0[self.first / TILE % (BLOCKS / TILE)] = llrs;
            }
        }
    }
}

/// Scales a block to the mean [`MEAN`], rounded to the nearest and limited.
#[inline(always)]
fn scale(block: &[i8], scaled: &mut [i8]) {
    let (mut sum, mut known) = (0, 0);
    for llrs in block.chunks(128) {
        // Sixteen bits are enough for 128 of them, and twice as fast.
        let (mut sum_here, mut known_here) = (0u16, 0u16);
        for llr in llrs {
            sum_here += u16::from(llr.unsigned_abs());
            known_here += u16::from(*llr != 0);
        }
        sum += u32::from(sum_here);
        known += u32::from(known_here);
    }
    // Times 2^8. The mean is 1 to 128; with nothing known, any will do.
    let gain = ((256 * MEAN * known + sum / 2) / sum.max(1)).clamp(1, 256 * MEAN) as i16;
    // What this is scaled to is beyond the limit, or is all there is: no product is more than 2^13 then.
    let most = (256 * i16::from(MOST_INPUT) / gain + 1).min(128);
    for (scaled, &llr) in scaled.iter_mut().zip(block) {
        let llr = i16::from(llr);
        let size = ((llr.abs().min(most) * gain + 128) >> 8).min(i16::from(MOST_INPUT));
        *scaled = (if llr < 0 { -size } else { size }) as i8;
    }
}
