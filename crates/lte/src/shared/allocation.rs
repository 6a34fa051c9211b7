//! An allocation on the PDSCH: the grant, and everything else that a terminal needs to receive it.

use takt_dsp::lte::{Modulation, pdsch_c_init};

use super::blocks::BlockSet;
use super::elements::pdsch_elements;
use crate::{Cell, Tti};

/// A transmission on the physical downlink shared channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PdschAllocation {
    /// The subframe.
    pub tti: Tti,
    /// The control format indicator, 1 to 3: how much of the subframe control channels have.
    pub cfi: u8,
    /// The identity of the terminal, which scrambling depends on.
    pub rnti: u16,
    /// The resource blocks, the same in both slots.
    pub blocks: BlockSet,
    /// The constellation.
    pub modulation: Modulation,
    /// Bits of the transport block.
    pub block_bits: usize,
    /// 0 to 3.
    pub redundancy_version: u8,
}

impl PdschAllocation {
    /// How many elements carry it.
    #[must_use]
    pub fn elements(&self, cell: &Cell) -> usize {
        pdsch_elements(cell, self.tti, self.cfi, &self.blocks)
    }

    /// G, the bits that these carry.
    #[must_use]
    pub fn coded_bits(&self, cell: &Cell) -> usize {
        self.elements(cell) * self.modulation.bits()
    }

    pub(super) fn c_init(&self, cell: &Cell) -> u32 {
        pdsch_c_init(self.rnti, 0, self.tti.first_slot() as u8, cell.id.get())
    }
}
