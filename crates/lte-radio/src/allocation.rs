//! Assignments and grants become places on the grid.

use takt_dsp::lte::Modulation;
use takt_lte::{BlockSet, Mcs, PdschAllocation, PuschAllocation, Rnti, Tti};
use takt_lte_link::{BlockSizes, PuschShape};

use crate::CellSizes;

/// Samples of the standard clock in a step of the timing advance, TS 36.213 section 4.2.3.
pub(crate) const TIMING_STEP: f64 = 16.0 / 30.72e6;

/// The allocation of an assignment; `None` if the cell has no such block.
pub(crate) fn downlink_allocation(
    sizes: &CellSizes,
    tti: Tti,
    rnti: Rnti,
    grant: &takt_lte::DownlinkGrant,
) -> Option<PdschAllocation> {
    let takt_lte::DownlinkGrant { first_block, blocks, mcs, redundancy_version, power, .. } = *grant;
    let fits = usize::from(first_block) + usize::from(blocks) <= sizes.cell.bandwidth.blocks();
    let (modulation, block_bits) = if rnti.is_common() {
        (Modulation::Qpsk, sizes.common_bits(mcs, 2 + (power & 1)))
    } else {
        (Mcs::downlink(mcs)?.0, sizes.downlink_bits(mcs, blocks.into()))
    };
    let blocks = BlockSet::from_range(first_block.into(), blocks.into());
    let allocation =
        PdschAllocation { tti, cfi: sizes.cfi, rnti: rnti.0, blocks, modulation, block_bits, redundancy_version };
    (fits && block_bits > 0).then_some(allocation)
}

/// The allocation of a grant; `None` if the cell has no such block.
pub(crate) fn uplink_allocation(sizes: &CellSizes, shape: &PuschShape) -> Option<PuschAllocation> {
    let PuschShape { first_block, blocks, mcs, cyclic_shift, .. } = *shape;
    let (modulation, _) = Mcs::uplink(mcs)?;
    let block_bits = sizes.uplink_bits(mcs, blocks.into()) as u32;
    let allocation = PuschAllocation { first_block, blocks, modulation, cyclic_shift, block_bits };
    (block_bits > 0 && allocation.check(sizes.cell.bandwidth).is_ok()).then_some(allocation)
}
