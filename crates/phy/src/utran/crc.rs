//! CRC attachment and its check, TS 25.212 section 4.2.1.

use super::{bits, bits_mut};
use takt_dsp::crc::Crc;
use takt_dsp::umts;
use takt_graph::Value;
use takt_runtime::{Bit, MakeError, component};

/// A generator polynomial by the number of its parity bits.
fn polynomial(parity: u32) -> Result<Crc, MakeError> {
    Ok(match parity {
        8 => Crc::Crc8,
        12 => Crc::Crc12,
        16 => Crc::Crc16,
        24 => Crc::Crc24B,
        _ => return Err(MakeError { what: format!("a CRC of {parity} bits"), fix: "8, 12, 16 or 24".into() }),
    })
}

struct UmtsCrcAttach {
    crc: Crc,
    length: usize,
}

/// Appends the CRC of a transport block, last bit first (TS 25.212, 4.2.1).
#[component]
impl UmtsCrcAttach {
    fn new(
        /// Bits of a transport block, A.
        #[param(unit = "items", range = 0..=1_000_000, default = 3840)]
        length: u32,
        /// Bits of the CRC, L: 8, 12, 16 or 24.
        #[param(range = 8..=24, default = 16)]
        crc: u32,
    ) -> Result<UmtsCrcAttach, MakeError> {
        Ok(UmtsCrcAttach { crc: polynomial(crc)?, length: length as usize })
    }

    fn tick(&mut self, #[port(exactly = length)] input: In<Bit>, #[port(fixed = length + crc)] mut output: Out<Bit>) {
        if input.len() != self.length || input.missing() {
            return output.truncate(0);
        }
        umts::crc_attach(self.crc, bits(&input), bits_mut(&mut output));
    }
}

struct UmtsCrcCheck {
    crc: Crc,
    length: usize,
    blocks: i64,
    wrong: i64,
    missing: i64,
}

/// Takes the CRC off a transport block and counts the blocks for which it does not hold; those are passed on, too (TS 25.212,
/// 4.2.1).
#[component]
impl UmtsCrcCheck {
    fn new(
        /// Bits of a transport block without its CRC, A.
        #[param(unit = "items", range = 0..=1_000_000, default = 3840)]
        length: u32,
        /// Bits of the CRC, L: 8, 12, 16 or 24.
        #[param(range = 8..=24, default = 16)]
        crc: u32,
    ) -> Result<UmtsCrcCheck, MakeError> {
        Ok(UmtsCrcCheck { crc: polynomial(crc)?, length: length as usize, blocks: 0, wrong: 0, missing: 0 })
    }

    fn tick(&mut self, #[port(exactly = length + crc)] input: In<Bit>, #[port(fixed = length)] mut output: Out<Bit>) {
        if input.len() != self.length + self.crc.bits() || input.missing() {
            self.missing += 1;
            return output.truncate(0);
        }
        self.blocks += 1;
        self.wrong += i64::from(!umts::crc_check(self.crc, bits(&input)));
        output.copy_from_slice(&input[..self.length]);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![
            ("blocks", self.blocks.into()),
            ("block_errors", self.wrong.into()),
            ("missing_packets", self.missing.into()),
        ]
    }
}
