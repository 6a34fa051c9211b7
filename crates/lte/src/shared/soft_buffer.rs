//! The memory of a receiver for a transport block, between its transmissions: TS 36.212 section 5.1.4.1.2, TS 36.213 section 7.1.

use takt_dsp::lte::Segmentation;

use super::bytes::to_bytes;
use super::plans::{PARITY, most};
use crate::Bandwidth;

/// The soft buffer of a HARQ process: the sums of its soft values, and what is right already.
pub struct SoftBuffer {
    /// The sums of all code blocks, one after the other, 3 (K + 4) each.
    pub(super) sums: Box<[i8]>,
    /// The code blocks as decided.
    pub(super) blocks: Box<[u8]>,
    /// A bit for each code block whose CRC holds.
    right_blocks: u32,
    /// Bits of the transport block, 0 before the first.
    block_bits: usize,
    /// The transport block, once its CRC holds.
    block: Box<[u8]>,
    right: bool,
}

impl SoftBuffer {
    /// For any transport block of a bandwidth.
    #[must_use]
    pub fn new(bandwidth: Bandwidth) -> SoftBuffer {
        SoftBuffer {
            sums: vec![0; most(bandwidth, |cut| 3 * (cut.blocks_len() + 4 * cut.blocks()))].into(),
            blocks: vec![0; most(bandwidth, Segmentation::blocks_len)].into(),
            right_blocks: 0,
            block_bits: 0,
            block: vec![0; most(bandwidth, Segmentation::bits) / 8].into(),
            right: false,
        }
    }

    /// Forgets the transport block.
    pub fn clear(&mut self) {
        self.block_bits = 0;
        self.right = false;
    }

    /// The transport block, if its CRC holds.
    #[must_use]
    pub fn block(&self) -> Option<&[u8]> {
        self.right.then(|| &self.block[..self.block_bits / 8])
    }

    /// Bits of the transport block that it holds soft values of; 0 if there is none. A retransmission may be announced without
    /// its size.
    #[must_use]
    pub fn block_bits(&self) -> usize {
        self.block_bits
    }

    /// Begins a transmission: empties the sums if it is of another transport block.
    ///
    /// # Panics
    /// If the buffer was made for a smaller bandwidth.
    pub(super) fn begin(&mut self, cut: &Segmentation, new_data: bool) {
        let bits = cut.bits() - PARITY;
        if new_data || bits != self.block_bits {
            self.sums[..3 * (cut.blocks_len() + 4 * cut.blocks())].fill(0);
            (self.block_bits, self.right_blocks, self.right) = (bits, 0, false);
        }
    }

    pub(super) fn is_right(&self) -> bool {
        self.right
    }

    pub(super) fn is_block_right(&self, block: usize) -> bool {
        self.right_blocks >> block & 1 == 1
    }

    pub(super) fn block_is_right(&mut self, block: usize) {
        self.right_blocks |= 1 << block;
    }

    /// Takes the bits of the transport block, whose CRC holds.
    pub(super) fn accept(&mut self, bits: &[u8]) {
        to_bytes(bits, &mut self.block[..self.block_bits / 8]);
        self.right = true;
    }

    /// A code block passed its CRC though it was wrong: all are decided again with the next transmission.
    pub(super) fn doubt(&mut self) {
        self.right_blocks = 0;
    }
}
