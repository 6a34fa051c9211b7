//! Code blocks, TS 25.212 section 4.2.2.2: the bits of an interval cut into blocks of one length, zeros before the first.

use takt_dsp::umts::{Coding, Segmentation};
use takt_runtime::MakeError;

use super::refused;

/// An interval's bits and its code blocks.
pub(super) struct CodeBlocks {
    plan: Segmentation,
    coding: Coding,
    /// The code blocks with their fillers, where there are any.
    filled: Vec<u8>,
}

/// Segmentation of an interval's bits, X, where they are given; otherwise of one block of K.
fn plan(coding: Coding, block: u32, interval: u32) -> Result<Segmentation, MakeError> {
    Segmentation::new(coding, interval_len(block, interval) as usize).map_err(|error| refused(&error))
}

/// Bits of an interval, for shapes.
pub(super) fn interval_len(block: u32, interval: u32) -> u32 {
    if interval == 0 { block } else { interval }
}

/// Coded bits of an interval, for shapes.
pub(super) fn coded_len(coding: Coding, block: u32, interval: u32) -> u32 {
    plan(coding, block, interval).map_or(1, |plan| (plan.blocks() * coding.coded_len(plan.block_len())) as u32)
}

impl CodeBlocks {
    pub(super) fn new(coding: Coding, block: u32, interval: u32) -> Result<CodeBlocks, MakeError> {
        let plan = plan(coding, block, interval)?;
        let filled = if plan.fillers() == 0 { 0 } else { plan.blocks() * plan.block_len() };
        Ok(CodeBlocks { plan, coding, filled: vec![0; filled] })
    }

    /// X, bits of an interval.
    pub(super) fn bits(&self) -> usize {
        self.plan.bits()
    }

    /// C.
    pub(super) fn count(&self) -> usize {
        self.plan.blocks()
    }

    /// K.
    pub(super) fn block_len(&self) -> usize {
        self.plan.block_len()
    }

    /// Bits of an interval's code blocks when they are coded.
    pub(super) fn coded(&self) -> usize {
        self.count() * self.coding.coded_len(self.block_len())
    }

    /// Codes an interval, block by block.
    pub(super) fn encode(&mut self, bits: &[u8], coded: &mut [u8], mut encode: impl FnMut(&[u8], &mut [u8])) {
        let each = self.coding.coded_len(self.block_len());
        let blocks = if self.filled.is_empty() {
            bits
        } else {
            self.plan.segment(bits, &mut self.filled);
            &self.filled
        };
        blocks.chunks_exact(self.plan.block_len()).zip(coded.chunks_exact_mut(each)).for_each(|(b, c)| encode(b, c));
    }

    /// Decodes an interval, block by block.
    pub(super) fn decode(&mut self, llrs: &[i8], bits: &mut [u8], mut decode: impl FnMut(&[i8], &mut [u8])) {
        let each = self.coding.coded_len(self.block_len());
        let length = self.block_len();
        let blocks = if self.filled.is_empty() { &mut *bits } else { &mut self.filled[..] };
        llrs.chunks_exact(each).zip(blocks.chunks_exact_mut(length)).for_each(|(c, b)| decode(c, b));
        if !self.filled.is_empty() {
            bits.copy_from_slice(self.plan.join(&self.filled));
        }
    }
}
