//! The sizes of transport blocks, which the shared channels own: TS 36.213 section 7.1.7.

use takt_lte::Tti;

/// The tables of the shared channels, as far as the link layer needs them.
pub trait BlockSizes: Send + Sync {
    /// Bits of a downlink block with this `mcs` 0 to 28 on this many resource blocks; 0 if there is none.
    fn downlink_bits(&self, mcs: u8, blocks: usize) -> usize;

    /// Bits of an uplink block with this `mcs` 0 to 28 on this many resource blocks; 0 if there is none.
    fn uplink_bits(&self, mcs: u8, blocks: usize) -> usize;

    /// Bits of a block with system information or an answer to random access: row `mcs` 0 to 26, column 2 or 3.
    fn common_bits(&self, mcs: u8, column: u8) -> usize;

    /// Elements that PDSCH has on these blocks of a subframe. Less than in truth is safe.
    fn downlink_elements(&self, tti: Tti, first_block: u8, blocks: u8) -> usize {
        let _ = (tti, first_block);
        usize::from(blocks) * 120
    }
}
