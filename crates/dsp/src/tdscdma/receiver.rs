//! What a terminal makes of a subframe.

use num_complex::Complex32;

use super::burst::Reader;
use super::codes::soft;
use super::downlink::{PARITY, Shape, scramble};
use super::{Answer, CHIPS, Cell, DOWNLINK_SLOTS, Error, traffic_slot};
use crate::{turbo, umts};

/// Iterations of the turbo decoder at most; it ends with the first whose CRC holds.
const ITERATIONS: usize = 8;

/// Mean magnitude of the soft values, which suits the decoder's 8 bits.
const MAGNITUDE: f32 = 20.0;

/// What was made of a subframe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// What the CRC says.
    pub answer: Answer,
    /// Iterations that the decoder took.
    pub iterations: usize,
    /// Power of a chip over that of its noise, and of what the channel's estimate does not explain, over the block's slots;
    /// minus infinity without a signal.
    pub snr_db: f32,
}

/// The receiver of a downlink.
#[derive(Clone, Debug)]
pub struct Receiver {
    shape: Shape,
    reader: Reader,
    decoder: turbo::Decoder,
    soft: Box<[f32]>,
    llrs: Box<[i8]>,
    decided: Box<[u8]>,
    block: Box<[u8]>,
}

impl Receiver {
    /// For so many codes in each slot.
    ///
    /// # Errors
    /// [`Error::Codes`] if there are not 1 to 16.
    pub fn new(cell: Cell, codes: usize) -> Result<Receiver, Error> {
        let shape = Shape::new(codes)?;
        Ok(Receiver {
            shape,
            reader: Reader::new(cell),
            decoder: turbo::Decoder::umts(shape.block_bits).expect("109 to 1873 bits, and the code has 40 to 5114"),
            soft: vec![0.0; shape.coded_bits().next_multiple_of(2 * codes)].into(),
            llrs: vec![0; shape.coded_bits()].into(),
            decided: vec![0; shape.block_bits].into(),
            block: vec![0; shape.block_bits].into(),
        })
    }

    /// Bits of a block's payload.
    #[must_use]
    pub fn payload_bits(&self) -> usize {
        self.shape.payload_bits()
    }

    /// Decodes the block of a subframe. `payload` is what was decided, which is what was sent if the answer is
    /// [`Answer::Ack`].
    ///
    /// # Panics
    /// If there are not [`CHIPS`] chips, or not [`Receiver::payload_bits`] bits.
    pub fn receive(&mut self, chips: &[Complex32], payload: &mut [u8]) -> Reception {
        assert_eq!(chips.len(), CHIPS, "the chips of a subframe");
        let snr_db = self.demodulate(chips);
        self.quantise();
        let block = &mut self.block;
        let accepted = self.decoder.decode_until(&self.llrs, ITERATIONS, &mut self.decided, |decided| {
            block.copy_from_slice(decided);
            scramble(block);
            umts::crc_check(PARITY, block)
        });
        payload.copy_from_slice(&self.block[..self.shape.payload_bits()]);
        let answer = if accepted.is_some() { Answer::Ack } else { Answer::Nack };
        Reception { answer, iterations: accepted.unwrap_or(ITERATIONS), snr_db }
    }

    /// Soft values of all slots; answers the ratio of signal and noise.
    fn demodulate(&mut self, chips: &[Complex32]) -> f32 {
        let (shape, values) = (self.shape, &mut self.soft);
        let (mut power, mut noise) = (0.0, 0.0);
        for (slot, number) in DOWNLINK_SLOTS.enumerate() {
            let channel = self.reader.read(&chips[traffic_slot(number)], |n, symbols| {
                let from = shape.place(slot, n, 0).min(values.len());
                for (pair, symbol) in values[from..].chunks_exact_mut(2).zip(&symbols[..shape.codes]) {
                    pair.copy_from_slice(&soft(*symbol));
                }
            });
            power += channel.power;
            noise += channel.noise;
        }
        if power > 0.0 { 10.0 * (power / noise).log10() } else { f32::NEG_INFINITY }
    }

    /// To 8 bits, in one scale for all slots.
    fn quantise(&mut self) {
        let mean = self.soft.iter().map(|value| value.abs()).sum::<f32>() / self.soft.len() as f32;
        let scale = if mean > 0.0 { MAGNITUDE / mean } else { 0.0 };
        for (llr, value) in self.llrs.iter_mut().zip(&self.soft) {
            *llr = (scale * value).round().clamp(-127.0, 127.0) as i8;
        }
    }
}
