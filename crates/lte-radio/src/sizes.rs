//! The tables of the shared channels, as the link layer asks for them.

use takt_lte::{BlockSet, Cell, Mcs, Tti, pdsch_elements, transport_block_bits, transport_block_bits_common};
use takt_lte_link::BlockSizes;

/// Sizes of a cell's transport blocks.
#[derive(Clone, Copy, Debug)]
pub struct CellSizes {
    /// The cell.
    pub cell: Cell,
    /// Its control format indicator.
    pub cfi: u8,
}

impl BlockSizes for CellSizes {
    fn downlink_bits(&self, mcs: u8, blocks: usize) -> usize {
        Mcs::downlink(mcs).map_or(0, |(_, i_tbs)| transport_block_bits(i_tbs, blocks))
    }

    fn uplink_bits(&self, mcs: u8, blocks: usize) -> usize {
        Mcs::uplink(mcs).map_or(0, |(_, i_tbs)| transport_block_bits(i_tbs, blocks))
    }

    fn common_bits(&self, mcs: u8, column: u8) -> usize {
        transport_block_bits_common(mcs, column.into())
    }

    fn downlink_elements(&self, tti: Tti, first_block: u8, blocks: u8) -> usize {
        let blocks = BlockSet::from_range(first_block.into(), blocks.into());
        pdsch_elements(&self.cell, tti, self.cfi, &blocks)
    }
}

/// The shortest control region that has room for some grants and for what all terminals must hear.
#[must_use]
pub fn usual_cfi(cell: &Cell) -> u8 {
    match cell.bandwidth.blocks() {
        ..=15 => 3,
        16..=25 => 2,
        _ => 1,
    }
}
