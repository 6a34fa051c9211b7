//! CRC attachment and its check, TS 25.212 section 4.2.1.

use super::each_block;
use crate::items::{bits, bits_mut, counts};
use takt_dsp::crc::Crc;
use takt_dsp::umts;
use takt_graph::Value;
use takt_runtime::{Bit, MakeError, component};

/// A generator polynomial by the number of its parity bits.
pub(super) fn polynomial(parity: u32) -> Result<Crc, MakeError> {
    Ok(match parity {
        8 => Crc::Crc8,
        12 => Crc::Crc12,
        16 => Crc::Crc16,
        24 => Crc::Crc24B,
        _ => return Err(MakeError { what: format!("no CRC has {parity} bits"), fix: "give 8, 12, 16 or 24".into() }),
    })
}

struct UmtsCrcAttach {
    crc: Crc,
    length: usize,
}

/// Appends to each transport block its CRC, last bit first (TS 25.212, 4.2.1).
#[component]
impl UmtsCrcAttach {
    fn new(
        /// Bits of a transport block.
        #[param(name = "A", alias = "length", alias = "in_bits", unit = "items", range = 1..=1_000_000, default = 3840)]
        length: u32,
        /// Bits of the CRC: 8, 12, 16 or 24.
        #[param(name = "L", alias = "crc", range = 8..=24, default = 16)]
        crc: u32,
    ) -> Result<UmtsCrcAttach, MakeError> {
        Ok(UmtsCrcAttach { crc: polynomial(crc)?, length: length as usize })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = length)] input: In<Bit>,
        #[port(ratio = (length + crc) / length)] mut output: Out<Bit>,
    ) {
        let made = self.length + self.crc.bits();
        each_block(&input, self.length, &mut output, made, |block, out| {
            umts::crc_attach(self.crc, bits(block), bits_mut(out));
        });
    }
}

struct UmtsCrcCheck {
    crc: Crc,
    length: usize,
    blocks: i64,
    wrong: i64,
    missing: i64,
}

/// Takes the CRC off each transport block and counts the blocks for which it does not hold; those are passed on, too (TS 25.212,
/// 4.2.1).
#[component]
impl UmtsCrcCheck {
    fn new(
        /// Bits of a transport block without its CRC.
        #[param(name = "A", alias = "length", alias = "in_bits", unit = "items", range = 1..=1_000_000, default = 3840)]
        length: u32,
        /// Bits of the CRC: 8, 12, 16 or 24.
        #[param(name = "L", alias = "crc", range = 8..=24, default = 16)]
        crc: u32,
    ) -> Result<UmtsCrcCheck, MakeError> {
        Ok(UmtsCrcCheck { crc: polynomial(crc)?, length: length as usize, blocks: 0, wrong: 0, missing: 0 })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = length + crc)] input: In<Bit>,
        #[port(ratio = length / (length + crc))] mut output: Out<Bit>,
    ) {
        if input.missing() {
            // The packet that the link repeats in its place was counted before.
            self.missing += 1;
            return output.truncate(0);
        }
        let taken = self.length + self.crc.bits();
        each_block(&input, taken, &mut output, self.length, |block, out| {
            self.blocks += 1;
            self.wrong += i64::from(!umts::crc_check(self.crc, bits(block)));
            out.copy_from_slice(&block[..self.length]);
        });
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("blocks", self.blocks), ("block_errors", self.wrong), ("missing_packets", self.missing)])
    }
}
