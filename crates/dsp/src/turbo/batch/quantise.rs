//! Received blocks to rows of small integers: a block in each lane, a step in each row.
//!
//! Bytes have no room for loud values, so each block is scaled by itself: the mean of what is known of its bits becomes
//! [`MEAN`]. Punctured bits do not count.

use super::lanes::ByteLanes;
use super::pass::{ABOVE, NOTHING};
use super::trellis::MOST_INPUT;
use crate::turbo::code::Code;
use crate::turbo::lanes::{Lanes, Task};
use crate::turbo::row::Row;
use crate::turbo::spread::{TILE, transposed};

/// Mean magnitude of scaled values: of BPSK at 1 dB and rate 1/3, the amplitude is 5.5 then, and one value in 20 is limited.
const MEAN: u32 = 7;

/// Takes up to [`TILE`] blocks to lanes `first` and up. Streams are in whole tiles.
pub(super) struct Take<'a> {
    pub(super) code: Code,
    pub(super) bits: usize,
    pub(super) coded: &'a [i8],
    /// Room for [`TILE`] blocks.
    pub(super) scaled: &'a mut [[i8; TILE]],
    /// See [`Pass`](super::pass::Pass): what is systematic, and the parities with the tails behind them.
    pub(super) soft: &'a mut [[Row; 2]],
    pub(super) parities: &'a mut [Row],
    pub(super) first: usize,
}

impl Task for Take<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let tiles = self.scaled.len() / TILE;
        let blocks = self.coded.chunks_exact(self.code.coded_len(self.bits));
        for (block, scaled) in blocks.zip(self.scaled.chunks_exact_mut(tiles)) {
            let scaled = scaled.as_flattened_mut();
            let (streams, tails) = scaled.split_at_mut((tiles - 1) * TILE);
            let mut streams = streams.chunks_exact_mut((tiles - 1) / 3 * TILE);
            let streams = std::array::from_fn(|_| &mut streams.next().unwrap()[..self.bits]);
            self.code.sort(block, streams);
            for (to, from) in tails.chunks_mut(2).zip([0, 1].iter().flat_map(|&which| self.code.tail(self.bits, which)))
            {
                to.copy_from_slice(&[block[from.0], block[from.1]]);
            }
            scale(scaled);
        }
        let soft: &mut [[u8; TILE]] = bytemuck::cast_slice_mut(self.soft);
        let parities: &mut [[u8; TILE]] = bytemuck::cast_slice_mut(self.parities);
        let (pitch, column) = (L::Bytes::BLOCKS / TILE, self.first / TILE);
        let lines = |i: usize| transposed(l, self.scaled[i..].iter().step_by(tiles));
        for (i, rows) in soft.chunks_exact_mut(2 * pitch * TILE).take((tiles - 1) / 3).enumerate() {
            for (rows, line) in rows.chunks_exact_mut(2 * pitch).zip(lines(i)) {
                let llrs: [i8; TILE] = bytemuck::cast(line);
                let x = llrs.map(|llr| llr.cast_unsigned() ^ ABOVE);
                rows[column % pitch] = x.map(|x| x.wrapping_sub(NOTHING));
                rows[pitch + column % pitch] = x;
            }
        }
        for (i, rows) in ((tiles - 1) / 3..tiles).zip(parities.chunks_exact_mut(pitch * TILE)) {
            for (row, line) in rows.chunks_exact_mut(pitch).zip(lines(i)) {
                let llrs: [i8; TILE] = bytemuck::cast(line);
                row[column % pitch] = llrs.map(|llr| llr.cast_unsigned() ^ ABOVE);
            }
        }
    }
}

/// Scales a block to the mean [`MEAN`], rounded to the nearest and limited.
#[inline(always)]
fn scale(block: &mut [i8]) {
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
    // The scaled value is beyond the limit, or is all there is: no product is more than 2^13 then.
    let most = (256 * i16::from(MOST_INPUT) / gain + 1).min(128);
    for llr in block {
        let size = ((i16::from(*llr).abs().min(most) * gain + 128) >> 8).min(i16::from(MOST_INPUT));
        *llr = (if *llr < 0 { -size } else { size }) as i8;
    }
}
