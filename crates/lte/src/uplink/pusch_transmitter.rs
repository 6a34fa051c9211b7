//! A code word to the PUSCH: TS 36.212 section 5.2.2.8 and TS 36.211 section 5.3.

use num_complex::Complex32;
use takt_dsp::lte::{modulate, pdsch_c_init, scramble};
use takt_fft::FftDirection;

use super::config::DATA_SYMBOLS;
use super::interleaver::{ack_position, interleave};
use super::reference::{REFERENCE_SYMBOL, References};
use super::transforms::Transforms;
use super::{PuschAllocation, UplinkConfig};
use crate::{Error, ResourceGrid, SYMBOLS_OF_SLOT, Tti};

/// Writes one terminal's PUSCH and its reference signals into grids.
pub struct PuschTransmitter {
    config: UplinkConfig,
    references: References,
    transforms: Transforms,
    bits: Vec<u8>,
    reference: Vec<Complex32>,
}

impl PuschTransmitter {
    /// Plans all numbers of blocks.
    ///
    /// # Errors
    /// If the configuration has a value that the standard lacks.
    pub fn new(config: &UplinkConfig) -> Result<PuschTransmitter, Error> {
        config.check()?;
        let bandwidth = config.cell.bandwidth;
        Ok(PuschTransmitter {
            config: *config,
            references: References::new(config),
            transforms: Transforms::new(bandwidth, FftDirection::Forward),
            bits: vec![0; DATA_SYMBOLS * bandwidth.subcarriers() * 6],
            reference: vec![Complex32::default(); bandwidth.subcarriers()],
        })
    }

    /// Writes `coded`, the bits of the rate matching, and `ack`, true for "right", over the elements of the allocation.
    ///
    /// # Errors
    /// If the allocation is none of this carrier; then nothing is written.
    ///
    /// # Panics
    /// If `coded` has not [`PuschAllocation::coded_bits`] bits, or the grid is one of another bandwidth.
    pub fn map(
        &mut self,
        tti: Tti,
        rnti: u16,
        allocation: &PuschAllocation,
        coded: &[u8],
        ack: Option<bool>,
        grid: &mut ResourceGrid,
    ) -> Result<(), Error> {
        allocation.check(self.config.cell.bandwidth)?;
        assert_eq!(coded.len(), allocation.coded_bits(), "bits of the code word");
        assert_eq!(grid.subcarriers(), self.config.cell.bandwidth.subcarriers(), "bandwidth of the grid");
        let (rows, group) = (allocation.subcarriers(), allocation.modulation.bits());
        let bits = &mut self.bits[..coded.len()];
        interleave(coded, rows, group, bits);
        let ack = ack.map(|ack| (ack, self.config.ack_symbols(allocation)));
        if let Some((ack, symbols)) = ack {
            (0..symbols).for_each(|at| bits[ack_position(at, rows) * group] = ack.into());
        }
        scramble(c_init(self.config.cell.id.get(), rnti, tti), bits);
        // Section 5.3.1: the placeholder y repeats the bit before it, x is 1. That keeps the acknowledgement on two corners.
        for at in 0..ack.map_or(0, |(_, symbols)| symbols) {
            let symbol = &mut bits[ack_position(at, rows) * group..][..group];
            symbol[1] = symbol[0];
            symbol[2..].fill(1);
        }
        self.write(tti, allocation, grid);
        Ok(())
    }

    fn write(&mut self, tti: Tti, allocation: &PuschAllocation, grid: &mut ResourceGrid) {
        let (first, carriers) = (allocation.first_subcarrier(), allocation.subcarriers());
        let of_symbol = carriers * allocation.modulation.bits();
        for (at, bits) in self.bits.chunks_exact(of_symbol).take(DATA_SYMBOLS).enumerate() {
            let elements = &mut grid.symbol_mut(data_symbol(at))[first..][..carriers];
            modulate(allocation.modulation, bits, elements);
            self.transforms.apply(elements);
        }
        for slot in 0..2 {
            let reference = &mut self.reference[..carriers];
            self.references.write(allocation, tti.first_slot() + slot, reference);
            let symbol = grid.symbol_mut(slot * SYMBOLS_OF_SLOT + REFERENCE_SYMBOL);
            symbol[first..][..carriers].copy_from_slice(reference);
        }
    }
}

/// The start of the scrambling sequence, TS 36.211 section 5.3.1.
pub(super) fn c_init(cell: u16, rnti: u16, tti: Tti) -> u32 {
    pdsch_c_init(rnti, 0, tti.first_slot() as u8, cell)
}

/// The symbol of the subframe that is data symbol 0 to 11.
pub(super) fn data_symbol(at: usize) -> usize {
    at + usize::from(at >= 3) + usize::from(at >= 9)
}
