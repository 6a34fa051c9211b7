//! Reception of a subframe by a terminal.

use num_complex::Complex32;

use super::burst::Reader;
use super::channel::Channel;
use super::codes::soft;
use super::downlink::{PARITY, Shape, scramble};
use super::{BlockAnswer, CHIPS, Cell, DOWNLINK_SLOTS, Error, SLOT_CHIPS, traffic_slot};
use crate::simd::vectorised;
use crate::{turbo, umts};

/// Iterations of the turbo decoder at most; it ends with the first whose CRC holds.
const ITERATIONS: usize = 8;

/// Mean magnitude of the soft values, which suits the decoder's 8 bits.
const MAGNITUDE: f32 = 20.0;

/// Result of a received subframe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reception {
    /// Result of the CRC.
    pub answer: BlockAnswer,
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
    channels: [Channel; DOWNLINK_SLOTS.end - DOWNLINK_SLOTS.start],
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
            decoder: turbo::Decoder::umts(shape.block_bits).expect("113 to 1873 bits, and the code has 40 to 5114"),
            channels: [Channel::NONE; DOWNLINK_SLOTS.end - DOWNLINK_SLOTS.start],
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

    /// Decodes the block of a subframe: [`take_slot`](Receiver::take_slot) for each downlink slot, and
    /// [`decode`](Receiver::decode).
    ///
    /// # Panics
    /// If there are not [`CHIPS`] chips, or not [`Receiver::payload_bits`] bits.
    pub fn receive(&mut self, chips: &[Complex32], payload: &mut [u8]) -> Reception {
        assert_eq!(chips.len(), CHIPS, "the chips of a subframe");
        DOWNLINK_SLOTS.for_each(|number| self.take_slot(number, &chips[traffic_slot(number)]));
        self.decode(payload)
    }

    /// Takes in the chips of traffic slot `number`, which may be done as soon as they are there: nothing of it waits for
    /// another slot.
    ///
    /// # Panics
    /// If it is none of [`DOWNLINK_SLOTS`], or has not [`SLOT_CHIPS`] chips.
    pub fn take_slot(&mut self, number: usize, chips: &[Complex32]) {
        assert!(DOWNLINK_SLOTS.contains(&number), "a downlink slot");
        assert_eq!(chips.len(), SLOT_CHIPS, "the chips of a slot");
        let (slot, shape, values) = (number - DOWNLINK_SLOTS.start, self.shape, &mut self.soft);
        self.channels[slot] = self.reader.read(chips, |n, symbols| {
            let from = shape.place(slot, n, 0).min(values.len());
            for (pair, symbol) in values[from..].chunks_exact_mut(2).zip(&symbols[..shape.codes]) {
                pair.copy_from_slice(&soft(*symbol));
            }
        });
    }

    /// Decodes the block of the slots that were taken in. `payload` is what was decided, which is what was sent if the
    /// answer is [`BlockAnswer::Ack`].
    ///
    /// # Panics
    /// If there are not [`Receiver::payload_bits`] bits.
    pub fn decode(&mut self, payload: &mut [u8]) -> Reception {
        quantise(&self.soft, &mut self.llrs);
        let block = &mut self.block;
        let accepted = self.decoder.decode_until(&self.llrs, ITERATIONS, &mut self.decided, |decided| {
            block.copy_from_slice(decided);
            scramble(block);
            umts::crc_check(PARITY, block)
        });
        payload.copy_from_slice(&self.block[..self.shape.payload_bits()]);
        let answer = if accepted.is_some() { BlockAnswer::Ack } else { BlockAnswer::Nack };
        Reception { answer, iterations: accepted.unwrap_or(ITERATIONS), snr_db: self.snr_db() }
    }

    fn snr_db(&self) -> f32 {
        let power: f32 = self.channels.iter().map(|channel| channel.power).sum();
        let noise: f32 = self.channels.iter().map(|channel| channel.noise).sum();
        if power > 0.0 { 10.0 * (power / noise).log10() } else { f32::NEG_INFINITY }
    }
}

vectorised!(fn quantise(soft: &[f32], llrs: &mut [i8]) = quantise_scalar);

/// To 8 bits, in one scale for all slots. Eight sums side by side, as a vector adds them.
#[inline(always)]
fn quantise_scalar(soft: &[f32], llrs: &mut [i8]) {
    let mut sums = [0.0; 8];
    for values in soft.chunks(sums.len()) {
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.abs());
    }
    let mean = sums.iter().sum::<f32>() / soft.len() as f32;
    let scale = if mean > 0.0 { MAGNITUDE / mean } else { 0.0 };
    for (llr, value) in llrs.iter_mut().zip(soft) {
        *llr = (scale * value).round_ties_even().clamp(-127.0, 127.0) as i8;
    }
}
