//! Settings that terminal and base station agree on before: the cell's uplink settings, and the allocation of one subframe.

use takt_dsp::lte::Modulation;

use super::ack;
use crate::{Bandwidth, Cell, Error, SUBCARRIERS_OF_BLOCK};

/// Symbols of a subframe that carry data; the other two are reference signals.
pub(super) const DATA_SYMBOLS: usize = 12;

/// The settings of a cell's uplink, from its broadcast and from the terminal's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UplinkConfig {
    /// Identity and bandwidth.
    pub cell: Cell,
    /// `cyclicShift` of the PUSCH's reference signal, 0 to 7: TS 36.211 table 5.5.2.1.1-2.
    pub cyclic_shift: u8,
    /// `groupAssignmentPUSCH`, Delta_ss, 0 to 29.
    pub group_offset: u8,
    /// `betaOffset-ACK-Index`, 0 to 14: TS 36.213 table 8.6.3-1.
    pub ack_offset: u8,
    /// The control channel.
    pub pucch: PucchConfig,
}

impl UplinkConfig {
    /// Usual settings: no shifts, an acknowledgement 20 times as strong as data, a block of each edge for CQI.
    #[must_use]
    pub fn new(cell: Cell) -> UplinkConfig {
        let pucch = PucchConfig { report_blocks: 1, shift_distance: 2, first_acknowledgement: 0 };
        UplinkConfig { cell, cyclic_shift: 0, group_offset: 0, ack_offset: 10, pucch }
    }

    /// Refuses values that the standard lacks.
    ///
    /// # Errors
    /// [`Error::Uplink`], with the first of them.
    pub fn check(&self) -> Result<(), Error> {
        let blocks = self.cell.bandwidth.blocks() as u8;
        let within = |what, value: u8, least, most| {
            if (least..=most).contains(&value) { Ok(()) } else { Err(Error::Uplink { what, value, least, most }) }
        };
        within("cyclic shift of the PUSCH", self.cyclic_shift, 0, 7)?;
        within("group offset of the PUSCH", self.group_offset, 0, 29)?;
        within("offset index of acknowledgements", self.ack_offset, 0, ack::OFFSETS.len() as u8 - 1)?;
        within("distance of cyclic shifts of the PUCCH", self.pucch.shift_distance, 1, 3)?;
        within("number of PUCCH blocks for reports", self.pucch.report_blocks, 0, blocks)
    }

    /// Symbols of the PUSCH that carry the acknowledgement, Q' of TS 36.212 section 5.2.2.6.
    #[must_use]
    pub fn ack_symbols(&self, allocation: &PuschAllocation) -> usize {
        ack::symbols(allocation, usize::from(self.ack_offset))
    }
}

/// The settings of a cell's PUCCH: TS 36.211 section 5.4, TS 36.213 section 10.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PucchConfig {
    /// `nRB-CQI`, N_RB^(2): blocks of each slot for format 2.
    pub report_blocks: u8,
    /// `deltaPUCCH-Shift`, 1 to 3: how far apart the cyclic shifts of format 1 are.
    pub shift_distance: u8,
    /// `n1PUCCH-AN`: the resource of format 1 from which on acknowledgements have theirs.
    pub first_acknowledgement: u16,
}

impl PucchConfig {
    /// The resource of the acknowledgement of a PDSCH by the first control channel element of its grant: TS 36.213 section 10.1.
    #[must_use]
    pub fn acknowledgement(&self, first_cce: u16) -> u16 {
        self.first_acknowledgement.saturating_add(first_cce)
    }

    /// Blocks at each edge of the band that the PUCCH fills, if resources of format 1 go up to `last` inclusive. The PUSCH is to
    /// stay off them.
    #[must_use]
    pub fn blocks_of_edge(&self, last: u16) -> usize {
        let per_block = 36 / usize::from(self.shift_distance.clamp(1, 3));
        (usize::from(self.report_blocks) + usize::from(last) / per_block + 1).div_ceil(2)
    }
}

/// Place and form of one terminal's PUSCH in one subframe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PuschAllocation {
    /// The lowest resource block, in both slots.
    pub first_block: u8,
    /// How many: [`valid_uplink_blocks`].
    pub blocks: u8,
    /// QPSK, 16QAM or 64QAM.
    pub modulation: Modulation,
    /// The field "cyclic shift for DM RS" of the grant, 0 to 7: TS 36.211 table 5.5.2.1.1-1.
    pub cyclic_shift: u8,
    /// Bits of the transport block as first sent. Only the number of symbols of an acknowledgement depends on them.
    pub block_bits: u32,
}

impl PuschAllocation {
    /// G, bits of the code word. An acknowledgement overwrites some and changes no number.
    #[must_use]
    pub fn coded_bits(&self) -> usize {
        DATA_SYMBOLS * self.subcarriers() * self.modulation.bits()
    }

    /// Subcarriers.
    #[must_use]
    pub fn subcarriers(&self) -> usize {
        usize::from(self.blocks) * SUBCARRIERS_OF_BLOCK
    }

    pub(super) fn first_subcarrier(&self) -> usize {
        usize::from(self.first_block) * SUBCARRIERS_OF_BLOCK
    }

    /// Refuses what a carrier lacks, as a grant that was never sent may ask for.
    ///
    /// # Errors
    /// [`Error::UplinkBlocks`].
    pub fn check(&self, bandwidth: Bandwidth) -> Result<(), Error> {
        let PuschAllocation { first_block, blocks, modulation, cyclic_shift, .. } = *self;
        let fits = usize::from(first_block) + usize::from(blocks) <= bandwidth.blocks();
        let sent = modulation != Modulation::Bpsk && cyclic_shift < 8;
        if fits && sent && valid_uplink_blocks(blocks.into()) {
            Ok(())
        } else {
            Err(Error::UplinkBlocks { first_block, blocks, bandwidth })
        }
    }
}

/// Whether a PUSCH may have so many blocks: 2^a 3^b 5^c of them, TS 36.211 section 5.3.3.
#[must_use]
pub fn valid_uplink_blocks(blocks: usize) -> bool {
    let mut rest = blocks;
    for factor in [2, 3, 5] {
        while rest > 0 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_counts_have_no_other_prime_factor() {
        let valid: Vec<usize> = (0..=30).filter(|&blocks| valid_uplink_blocks(blocks)).collect();
        assert_eq!(valid, [1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 18, 20, 24, 25, 27, 30]);
        assert!([50, 75, 96, 100].into_iter().all(valid_uplink_blocks));
    }

    #[test]
    fn resources_of_format_1_fill_blocks_from_both_edges() {
        let config = PucchConfig { report_blocks: 1, shift_distance: 2, first_acknowledgement: 3 };
        assert_eq!((config.blocks_of_edge(17), config.blocks_of_edge(18), config.blocks_of_edge(54)), (1, 2, 3));
        assert_eq!(config.acknowledgement(5), 8);
    }
}
