//! The answer: an acknowledgement of a block, in one burst.

use num_complex::Complex32;

use super::burst::{CODE_BITS, Reader, SYMBOLS, Writer};
use super::codes::{Symbols, qpsk, soft};
use super::{Cell, SLOT_CHIPS};

/// Result of a block's CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockAnswer {
    /// It holds.
    Ack,
    /// It does not: send the block again.
    Nack,
}

/// Times that the acknowledgement is sent, as in an HS-SICH.
const REPEATED: usize = 36;

/// Bits of a subframe's number, each sent four times behind it; four bits are left over.
const NUMBER_BITS: usize = 12;

/// A burst counts as there if its paths have this part of the power of the rest: 6 dB below, the symbols 6 dB above. Noise alone is
/// 13 dB below.
const PRESENT: f32 = 0.25;

/// Answers of a cell's terminals.
#[derive(Clone, Debug)]
pub struct AnswerBurst {
    writer: Writer,
    reader: Reader,
}

impl AnswerBurst {
    /// Burst of a cell.
    #[must_use]
    pub fn new(cell: Cell) -> AnswerBurst {
        AnswerBurst { writer: Writer::new(cell), reader: Reader::new(cell) }
    }

    /// Writes the burst that answers subframe `number`, of which the lowest 12 bits are sent, to the chips of a slot. Its mean power
    /// is 1, and so is every chip's.
    ///
    /// # Panics
    /// If there are not [`SLOT_CHIPS`] chips.
    ///
    /// ```
    /// use takt_base::Complex32;
    /// use takt_dsp::tdscdma::{AnswerBurst, BlockAnswer, Cell, SLOT_CHIPS};
    /// let (mut burst, mut chips) = (AnswerBurst::new(Cell::default()), [Complex32::default(); SLOT_CHIPS]);
    /// burst.transmit(BlockAnswer::Nack, 77, &mut chips);
    /// assert_eq!(burst.receive(&chips), Some((BlockAnswer::Nack, 77)));
    /// ```
    pub fn transmit(&self, answer: BlockAnswer, number: u64, chips: &mut [Complex32]) {
        assert_eq!(chips.len(), SLOT_CHIPS, "the chips of a slot");
        let bit = |place: usize| match number_bit(place) {
            _ if place < REPEATED => u8::from(answer == BlockAnswer::Nack),
            Some(bit) => (number >> bit & 1) as u8,
            None => 0,
        };
        let symbols = |n: usize| {
            let mut symbols = Symbols::default();
            symbols[0] = qpsk(bit(2 * n), bit(2 * n + 1));
            symbols
        };
        self.writer.write(1.0, symbols, chips);
    }

    /// The answer in the chips of a slot, and the lowest 12 bits of the subframe's number; `None` if there is none.
    ///
    /// # Panics
    /// If there are not [`SLOT_CHIPS`] chips.
    pub fn receive(&mut self, chips: &[Complex32]) -> Option<(BlockAnswer, u16)> {
        assert_eq!(chips.len(), SLOT_CHIPS, "the chips of a slot");
        let mut values = [[0.0; 2]; SYMBOLS];
        let channel = self.reader.read(chips, |n, symbols| values[n] = soft(symbols[0]));
        if channel.power <= PRESENT * channel.noise {
            return None;
        }
        let values = values.as_flattened();
        let answer = if values[..REPEATED].iter().sum::<f32>() > 0.0 { BlockAnswer::Ack } else { BlockAnswer::Nack };
        let mut sums = [0.0; NUMBER_BITS];
        for (place, value) in values.iter().enumerate() {
            if let Some(bit) = number_bit(place) {
                sums[bit] += value;
            }
        }
        let number = sums.iter().rev().fold(0, |number, sum| number << 1 | u16::from(*sum < 0.0));
        Some((answer, number))
    }
}

/// Which bit of the number, counted from the lowest, is sent at a place of the burst.
fn number_bit(place: usize) -> Option<usize> {
    let behind = place.checked_sub(REPEATED)?;
    (behind < CODE_BITS - REPEATED - 4).then_some(behind % NUMBER_BITS)
}
