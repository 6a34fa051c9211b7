//! Transmission of a base station.

use num_complex::Complex32;

use super::burst::{CODE_BITS, SYMBOLS, Writer};
use super::codes::{SPREADING, Symbols, qpsk};
use super::{CHIPS, Cell, DOWNLINK_SLOTS, Error, traffic_slot};
use crate::crc::Crc;
use crate::{lte, umts};

/// The parity of a block: gCRC24 of TS 25.222, 4.2.1, which LTE calls CRC24B.
pub(super) const PARITY: Crc = Crc::Crc24B;

/// Scrambles the bits of a block, so that no bits at all are no block: c_init of a Gold sequence.
const SCRAMBLING: u32 = 0x7d5c_ad3a;

/// How a block lies in its slots.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Codes of each slot.
    pub(super) codes: usize,
    /// Payload and parity, K of the turbo code: as many as fit at rate 1/3.
    pub(super) block_bits: usize,
}

impl Shape {
    pub(super) fn new(codes: usize) -> Result<Shape, Error> {
        if !(1..=SPREADING).contains(&codes) {
            return Err(Error::Codes { codes });
        }
        let room = DOWNLINK_SLOTS.len() * CODE_BITS * codes;
        Ok(Shape { codes, block_bits: (room - 12) / 3 }) // 3 K + 12 coded bits
    }

    pub(super) fn payload_bits(self) -> usize {
        self.block_bits - PARITY.bits()
    }

    pub(super) fn coded_bits(self) -> usize {
        3 * self.block_bits + 12
    }

    /// The first bit of symbol `n` of code `code` in the `slot`-th downlink slot.
    pub(super) fn place(self, slot: usize, n: usize, code: usize) -> usize {
        2 * ((slot * SYMBOLS + n) * self.codes + code)
    }
}

/// Scrambles the bits of a block; done twice, it is undone.
pub(super) fn scramble(block: &mut [u8]) {
    lte::scramble(SCRAMBLING, block);
}

/// The downlink of a base station: a block a subframe.
///
/// ```
/// use takt_base::Complex32;
/// use takt_dsp::tdscdma::{BlockAnswer, CHIPS, Cell, Downlink, Receiver};
/// let (mut downlink, mut receiver) = (Downlink::new(Cell::default(), 16)?, Receiver::new(Cell::default(), 16)?);
/// let mut payload = vec![0; downlink.payload_bits()];
/// let (mut chips, mut decoded) = (vec![Complex32::default(); CHIPS], payload.clone());
/// downlink.payload(1, 77, &mut payload);
/// downlink.transmit(&payload, &mut chips);
/// assert_eq!(receiver.receive(&chips, &mut decoded).answer, BlockAnswer::Ack);
/// assert_eq!(decoded, payload);
/// # Ok::<_, takt_dsp::tdscdma::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Downlink {
    shape: Shape,
    writer: Writer,
    encoder: umts::TurboEncoder,
    block: Box<[u8]>,
    coded: Box<[u8]>,
}

impl Downlink {
    /// With so many codes in each slot.
    ///
    /// # Errors
    /// [`Error::Codes`] if there are not 1 to 16.
    pub fn new(cell: Cell, codes: usize) -> Result<Downlink, Error> {
        let shape = Shape::new(codes)?;
        Ok(Downlink {
            shape,
            writer: Writer::new(cell),
            encoder: umts::TurboEncoder::new(shape.block_bits).expect("113 to 1873 bits, and the code has 40 to 5114"),
            block: vec![0; shape.block_bits].into(),
            coded: vec![0; shape.coded_bits()].into(),
        })
    }

    /// Bits of a block's payload.
    #[must_use]
    pub fn payload_bits(&self) -> usize {
        self.shape.payload_bits()
    }

    /// The payload of subframe `number`: bits that a seed and the number determine.
    pub fn payload(&self, seed: u64, number: u64, payload: &mut [u8]) {
        payload.fill(0);
        let mixed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03);
        lte::scramble((mixed >> 33) as u32, payload);
    }

    /// Writes the subframe that carries `payload` to `chips`. The mean power of its bursts is 1, with all codes the peaks are up to 12 dB
    /// above; the rest of the subframe is silent.
    ///
    /// # Panics
    /// If there are not [`Downlink::payload_bits`] bits, or not [`CHIPS`] chips.
    pub fn transmit(&mut self, payload: &[u8], chips: &mut [Complex32]) {
        assert_eq!(chips.len(), CHIPS, "the chips of a subframe");
        umts::crc_attach(PARITY, payload, &mut self.block);
        scramble(&mut self.block);
        self.encoder.encode(&self.block, &mut self.coded);
        chips.fill(0.0.into());
        let (shape, coded) = (self.shape, &self.coded);
        let bit = |place: usize| coded.get(place).copied().unwrap_or(0); // what is left over is sent as 0
        for (slot, number) in DOWNLINK_SLOTS.enumerate() {
            let symbols = |n| {
                let mut symbols = Symbols::default();
                for (code, symbol) in symbols[..shape.codes].iter_mut().enumerate() {
                    let place = shape.place(slot, n, code);
                    *symbol = qpsk(bit(place), bit(place + 1));
                }
                symbols
            };
            self.writer.write((shape.codes as f32).sqrt().recip(), symbols, &mut chips[traffic_slot(number)]);
        }
    }
}
