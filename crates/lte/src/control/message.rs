//! A message of some tens of bits: CRC with a mask, tail-biting code, rate matching. Grants and the master information block are
//! such messages (TS 36.212 sections 5.3.1 and 5.3.3).

use takt_dsp::crc::Crc;
use takt_dsp::lte::{TailBitingDecoder, TailBitingMatching, tail_biting_encode};

const CRC_BITS: usize = 16;

/// Encodes and decodes messages of one length.
#[derive(Clone, Debug)]
pub(crate) struct MessageCode {
    matching: TailBitingMatching,
    decoder: TailBitingDecoder,
    /// The message and its parity.
    block: Vec<u8>,
    coded: Vec<u8>,
    sums: Vec<i16>,
    soft: Vec<i8>,
    /// The last message as it is sent.
    matched: Vec<u8>,
}

impl MessageCode {
    /// For messages of `bits`, 1 to 64, that are sent in up to `longest` bits.
    pub(crate) fn new(bits: usize, longest: usize) -> MessageCode {
        let length = bits + CRC_BITS;
        MessageCode {
            matching: TailBitingMatching::new(length),
            decoder: TailBitingDecoder::new(length),
            block: vec![0; length],
            coded: vec![0; 3 * length],
            sums: vec![0; 3 * length],
            soft: vec![0; 3 * length],
            matched: vec![0; longest],
        }
    }

    /// Fills `sent` with the message, its first bit being the highest of those in use.
    pub(crate) fn encode(&mut self, message: u64, mask: u16, sent: &mut [u8]) {
        let bits = self.block.len() - CRC_BITS;
        let (data, parity) = self.block.split_at_mut(bits);
        write_bits(message, data);
        write_bits(u64::from(Crc::Crc16.remainder(data) as u16 ^ mask), parity);
        tail_biting_encode(&self.block, &mut self.coded);
        self.matching.apply(&self.coded, sent);
    }

    /// Forgets what was received.
    pub(crate) fn clear(&mut self) {
        self.sums.fill(0);
    }

    /// Adds a transmission of the message.
    pub(crate) fn add(&mut self, llrs: &[i8]) {
        self.matching.combine(llrs, &mut self.sums);
    }

    /// The message that was likely sent, if its parity has this mask.
    pub(crate) fn decide(&mut self, mask: u16) -> Option<u64> {
        self.matching.read(&self.sums, &mut self.soft);
        self.decoder.decode(&self.soft, &mut self.block);
        let (data, parity) = self.block.split_at(self.block.len() - CRC_BITS);
        let found = Crc::Crc16.remainder(data) as u16 ^ read_bits(parity) as u16;
        (found == mask).then(|| read_bits(data))
    }

    /// How far the soft values of a transmission agree with the message decided for: their sum, each in the direction of its bit.
    ///
    /// # Panics
    /// If there are more than the code was made for.
    pub(crate) fn agreement(&mut self, llrs: &[i8]) -> f32 {
        tail_biting_encode(&self.block, &mut self.coded);
        let sent = &mut self.matched[..llrs.len()];
        self.matching.apply(&self.coded, sent);
        llrs.iter()
            .zip(sent)
            .map(|(&llr, &mut bit)| if bit == 0 { i32::from(llr) } else { -i32::from(llr) })
            .sum::<i32>() as f32
    }

    /// The same for all that was added, over what it would be if every bit agreed: 1 without noise.
    pub(crate) fn likeness(&mut self) -> f32 {
        tail_biting_encode(&self.block, &mut self.coded);
        let signed = |(&sum, &bit): (&i16, &u8)| if bit == 0 { i32::from(sum) } else { -i32::from(sum) };
        let agreeing: i32 = self.sums.iter().zip(&self.coded).map(signed).sum();
        let all: i32 = self.sums.iter().map(|&sum| i32::from(sum).abs()).sum();
        agreeing as f32 / all.max(1) as f32
    }
}

fn write_bits(value: u64, bits: &mut [u8]) {
    bits.iter_mut().rev().enumerate().for_each(|(i, bit)| *bit = (value >> i & 1) as u8);
}

fn read_bits(bits: &[u8]) -> u64 {
    bits.iter().fold(0, |value, &bit| value << 1 | u64::from(bit))
}
