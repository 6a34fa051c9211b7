//! The reference signal of the PUSCH, TS 36.211 section 5.5.2.1.

use num_complex::Complex32;
use takt_dsp::lte::Gold;

use super::sequence::{base_sequence, twelfths};
use super::{PuschAllocation, UplinkConfig, valid_uplink_blocks};
use crate::SYMBOLS_OF_SLOT;

/// The symbol of each slot that carries it.
pub(super) const REFERENCE_SYMBOL: usize = 3;

/// n_DMRS^(1) by `cyclicShift`, table 5.5.2.1.1-2.
const SHIFT_OF_CELL: [u8; 8] = [0, 2, 3, 4, 6, 8, 9, 10];
/// n_DMRS^(2) by the field of the grant, table 5.5.2.1.1-1.
const SHIFT_OF_GRANT: [u8; 8] = [0, 6, 3, 4, 2, 8, 10, 9];

/// The signals of a cell, for all slots and numbers of blocks.
pub(super) struct References {
    /// By blocks; empty where there are never so many.
    sequences: Vec<Vec<Complex32>>,
    /// n_DMRS^(1) + n_PN by the slot of the frame.
    shifts: [u8; 20],
    twelfths: [Complex32; 12],
}

impl References {
    pub(super) fn new(config: &UplinkConfig) -> References {
        let id = usize::from(config.cell.id.get());
        let group = (id + usize::from(config.group_offset)) % 30;
        let sequence = |blocks| if valid_uplink_blocks(blocks) { base_sequence(group, blocks) } else { Vec::new() };
        let mut gold = Gold::new((id / 30 * 32 + group) as u32);
        // n_PN(n_s) is made of 8 bits from 8 * 7 n_s on.
        let bytes: Vec<u8> = (0..18).flat_map(|_| gold.next_word().to_le_bytes()).collect();
        let of_cell = SHIFT_OF_CELL[usize::from(config.cyclic_shift)];
        let shift = |slot: usize| ((u16::from(bytes[SYMBOLS_OF_SLOT * slot]) + u16::from(of_cell)) % 12) as u8;
        References {
            sequences: (0..=config.cell.bandwidth.blocks()).map(sequence).collect(),
            shifts: std::array::from_fn(shift),
            twelfths: twelfths(),
        }
    }

    /// Fills the signal of a slot, 0 to 19.
    pub(super) fn write(&self, allocation: &PuschAllocation, slot: usize, out: &mut [Complex32]) {
        let shift = self.shifts[slot] + SHIFT_OF_GRANT[usize::from(allocation.cyclic_shift)];
        let step = usize::from(shift % 12);
        let sequence = &self.sequences[usize::from(allocation.blocks)];
        assert_eq!(out.len(), sequence.len());
        for (n, (out, value)) in out.iter_mut().zip(sequence).enumerate() {
            *out = value * self.twelfths[step * n % 12];
        }
    }
}
