//! The physical downlink shared channel as a whole, TS 36.211 section 6.4: bytes to elements of a grid, and back.

use num_complex::Complex32;
use takt_dsp::lte::{demodulate, descramble, modulate, scramble};

use super::allocation::PdschAllocation;
use super::decoder::SharedChannelDecoder;
use super::elements::{gather_pdsch, map_pdsch};
use super::encoder::SharedChannelEncoder;
use super::soft_buffer::SoftBuffer;
use crate::{Cell, Error, ResourceGrid, SYMBOLS};

/// The soft value of a log-likelihood ratio of 1. A soft value of 8 bits then ends at a ratio of 16, which is wrong once in ten
/// million times. From 4 to 16 thresholds stay within 0.03 dB; with 32, 64QAM needs up to 0.4 dB more. Transmissions add up
/// whatever the noise of each was.
const UNIT: f32 = 8.0;

/// The least noise that a receiver believes in, below the signal: 40 dB.
const LEAST_NOISE: f32 = 1e-4;

/// Turns transport blocks of a cell into elements of grids.
pub struct PdschTransmitter {
    cell: Cell,
    encoder: SharedChannelEncoder,
    coded: Box<[u8]>,
    symbols: Box<[Complex32]>,
}

impl PdschTransmitter {
    /// Builds the plans of all transport block sizes of the cell.
    #[must_use]
    pub fn new(cell: &Cell) -> PdschTransmitter {
        let elements = SYMBOLS * cell.bandwidth.subcarriers();
        PdschTransmitter {
            cell: *cell,
            encoder: SharedChannelEncoder::new(cell.bandwidth),
            coded: vec![0; MOST_BITS * elements].into(),
            symbols: vec![Complex32::default(); elements].into(),
        }
    }

    /// Puts a transport block on the elements of its allocation; all others of `grid` stay.
    ///
    /// # Errors
    /// [`Error::TransportBlock`] if the cell has no transport block of that size.
    ///
    /// # Panics
    /// If `block` is not of the allocation's size, or the grid not of the cell's bandwidth.
    pub fn transmit(
        &mut self,
        allocation: &PdschAllocation,
        block: &[u8],
        grid: &mut ResourceGrid,
    ) -> Result<(), Error> {
        assert_eq!(8 * block.len(), allocation.block_bits, "bits of the transport block");
        let PdschAllocation { tti, cfi, blocks, modulation, redundancy_version, .. } = *allocation;
        let symbols = &mut self.symbols[..allocation.elements(&self.cell)];
        let coded = &mut self.coded[..symbols.len() * modulation.bits()];
        self.encoder.encode(block, redundancy_version, modulation, coded)?;
        scramble(allocation.c_init(&self.cell), coded);
        modulate(modulation, coded, symbols);
        map_pdsch(&self.cell, tti, cfi, &blocks, symbols, grid);
        Ok(())
    }

    /// The scrambled bits of the last transport block, whose allocation this was.
    #[must_use]
    pub fn scrambled_bits(&self, allocation: &PdschAllocation) -> &[u8] {
        &self.coded[..allocation.coded_bits(&self.cell)]
    }
}

/// Bits of a symbol of the largest constellation.
const MOST_BITS: usize = 6;

/// Turns elements of grids back into transport blocks of a cell.
pub struct PdschReceiver {
    cell: Cell,
    decoder: SharedChannelDecoder,
    symbols: Box<[Complex32]>,
    gains: Box<[Complex32]>,
    weights: Box<[f32]>,
    llrs: Box<[i8]>,
}

impl PdschReceiver {
    /// Builds the plans of all transport block sizes of the cell. `iterations`: see [`SharedChannelDecoder::new`].
    #[must_use]
    pub fn new(cell: &Cell, iterations: usize) -> PdschReceiver {
        let elements = SYMBOLS * cell.bandwidth.subcarriers();
        PdschReceiver {
            cell: *cell,
            decoder: SharedChannelDecoder::new(cell.bandwidth, iterations),
            symbols: vec![Complex32::default(); elements].into(),
            gains: vec![Complex32::default(); elements].into(),
            weights: vec![0.0; elements].into(),
            llrs: vec![0; MOST_BITS * elements].into(),
        }
    }

    /// Receives a transmission: adds it to `process`, and answers the transport block if its CRC holds now or held before.
    /// `new_data` as in [`SharedChannelDecoder::decode`].
    ///
    /// `gains` is the channel at each element and `noise_power` the variance of the complex noise, both on the scale of
    /// `received`, which may be any.
    ///
    /// # Panics
    /// If a grid, or `process`, is not of the cell's bandwidth.
    pub fn receive<'p>(
        &mut self,
        process: &'p mut SoftBuffer,
        allocation: &PdschAllocation,
        new_data: bool,
        received: &ResourceGrid,
        gains: &ResourceGrid,
        noise_power: f32,
    ) -> Option<&'p [u8]> {
        let PdschAllocation { modulation, redundancy_version, block_bits, .. } = *allocation;
        let llrs = self.soft_values(allocation, received, gains, noise_power);
        let llrs = &self.llrs[..llrs];
        self.decoder.decode(process, llrs, redundancy_version, modulation, block_bits, new_data)
    }

    /// Fills the soft values of an allocation, and says how many they are.
    fn soft_values(
        &mut self,
        allocation: &PdschAllocation,
        received: &ResourceGrid,
        gains: &ResourceGrid,
        noise_power: f32,
    ) -> usize {
        let PdschAllocation { tti, cfi, blocks, modulation, .. } = *allocation;
        let elements = allocation.elements(&self.cell);
        let [symbols, channel] = [&mut self.symbols, &mut self.gains].map(|all| &mut all[..elements]);
        gather_pdsch(&self.cell, tti, cfi, &blocks, received, symbols);
        gather_pdsch(&self.cell, tti, cfi, &blocks, gains, channel);
        let weights = &mut self.weights[..elements];
        for ((symbol, gain), weight) in symbols.iter_mut().zip(channel).zip(&mut *weights) {
            *weight = gain.norm_sqr();
            *symbol *= gain.conj();
        }
        let signal: f32 = weights.iter().filter(|weight| weight.is_finite()).sum();
        // Also if the noise is not a number.
        let noise = noise_power.max(LEAST_NOISE * signal / elements.max(1) as f32);
        let llrs = &mut self.llrs[..elements * modulation.bits()];
        demodulate(modulation, UNIT / noise, symbols, Some(weights), llrs);
        descramble(allocation.c_init(&self.cell), llrs);
        llrs.len()
    }
}
