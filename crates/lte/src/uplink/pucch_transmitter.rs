//! Requests, acknowledgements and reports to the PUCCH, TS 36.211 section 5.4.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, modulate, scramble};

use super::UplinkConfig;
use super::block_code::{BLOCK_CODE_BITS, report_code};
use super::pucch_resource::{
    DATA_OF_1, DATA_OF_2, Place, REFERENCES_OF_1, Resources, data_cover, reference_cover, report_c_init,
};
use crate::{Error, ResourceGrid, SUBCARRIERS_OF_BLOCK, SYMBOLS_OF_SLOT, Tti};

/// Writes a terminal's PUCCH into grids: over the 168 elements of one block in each slot.
pub struct PucchTransmitter {
    cell: u16,
    resources: Resources,
}

impl PucchTransmitter {
    /// # Errors
    /// If the configuration has a value that the standard lacks.
    pub fn new(config: &UplinkConfig) -> Result<PucchTransmitter, Error> {
        config.check()?;
        Ok(PucchTransmitter { cell: config.cell.id.get(), resources: Resources::new(config) })
    }

    /// Format 1: a scheduling request, on a resource n^(1).
    ///
    /// # Panics
    /// If the grid is one of another bandwidth, as the others.
    pub fn request(&self, tti: Tti, resource: u16, grid: &mut ResourceGrid) {
        self.format_1(tti, resource, 1.0, grid);
    }

    /// Format 1a: an acknowledgement, true for "right", on a resource n^(1). With a request at the same time, it goes to the
    /// resource of the request (TS 36.213 section 10.1).
    pub fn acknowledge(&self, tti: Tti, resource: u16, ack: bool, grid: &mut ResourceGrid) {
        self.format_1(tti, resource, if ack { -1.0 } else { 1.0 }, grid);
    }

    /// Format 2: a wide-band CQI, of which 4 bits count, on a resource n^(2).
    pub fn report(&self, tti: Tti, rnti: u16, resource: u16, cqi: u8, grid: &mut ResourceGrid) {
        let mut values = [Complex32::default(); BLOCK_CODE_BITS / 2];
        report_values(cqi, report_c_init(self.cell, rnti, tti), &mut values);
        for (slot, place) in self.resources.format_2(resource).iter().enumerate() {
            let mut factors = [Complex32::new(1.0, 0.0); SYMBOLS_OF_SLOT];
            DATA_OF_2.iter().zip(&values[5 * slot..]).for_each(|(&symbol, &value)| factors[symbol] = value);
            self.write(tti, slot, place, &factors, grid);
        }
    }

    fn format_1(&self, tti: Tti, resource: u16, value: f32, grid: &mut ResourceGrid) {
        for (slot, place) in self.resources.format_1(resource).iter().enumerate() {
            self.write(tti, slot, place, &factors_of_1(place, value), grid);
        }
    }

    fn write(
        &self,
        tti: Tti,
        slot: usize,
        place: &Place,
        factors: &[Complex32; SYMBOLS_OF_SLOT],
        grid: &mut ResourceGrid,
    ) {
        for (symbol, factor) in factors.iter().enumerate() {
            let elements = &mut grid.symbol_mut(slot * SYMBOLS_OF_SLOT + symbol)[place.block * SUBCARRIERS_OF_BLOCK..];
            let sequence = self.resources.sequence(tti, slot, symbol, place.shift);
            elements.iter_mut().zip(sequence).for_each(|(element, value)| *element = value * factor);
        }
    }
}

/// The factors of the sequences of a slot's symbols in formats 1 and 1a, d(0) being `value`.
pub(super) fn factors_of_1(place: &Place, value: f32) -> [Complex32; SYMBOLS_OF_SLOT] {
    let mut factors = [Complex32::default(); SYMBOLS_OF_SLOT];
    let turn = if place.turned { Complex32::new(0.0, value) } else { Complex32::new(value, 0.0) };
    DATA_OF_1.iter().zip(data_cover(place.cover)).for_each(|(&symbol, cover)| factors[symbol] = turn * cover);
    REFERENCES_OF_1.iter().zip(reference_cover(place.cover)).for_each(|(&symbol, cover)| factors[symbol] = cover);
    factors
}

/// d(0) to d(9) of format 2.
pub(super) fn report_values(cqi: u8, c_init: u32, values: &mut [Complex32; BLOCK_CODE_BITS / 2]) {
    let mut bits = report_code(cqi);
    scramble(c_init, &mut bits);
    modulate(Modulation::Qpsk, &bits, values);
}
