//! CRC attachment to transport blocks and its check, TS 36.212 section 5.1.1.

use crate::items::{bits, bits_mut, counts};
use takt_dsp::crc::Crc;
use takt_dsp::lte;
use takt_graph::Value;
use takt_runtime::{Bit, component};

/// A generator polynomial by its name; parameters have no other names than these.
pub(super) fn polynomial(name: &str) -> Crc {
    match name {
        "CRC24B" => Crc::Crc24B,
        "CRC16" => Crc::Crc16,
        "CRC8" => Crc::Crc8,
        _ => Crc::Crc24A,
    }
}

struct LteCrcAttach {
    crc: Crc,
    transport: usize,
}

/// Appends the CRC of a transport block, first bit first (TS 36.212, 5.1.1).
#[component]
impl LteCrcAttach {
    fn new(
        /// Bits of a transport block, A.
        #[param(name = "A", alias = "length", alias = "tbs", alias = "in_bits", unit = "items", range = 1..=1_000_000, default = 4008)]
        transport: u32,
        /// Which CRC: that of transport blocks, of code blocks, of control information.
        #[param(choice = ["CRC24A", "CRC24B", "CRC16", "CRC8"], default = "CRC24A")]
        crc: String,
    ) -> LteCrcAttach {
        LteCrcAttach { crc: polynomial(&crc), transport: transport as usize }
    }

    fn tick(
        &mut self,
        #[port(exactly = transport)] input: In<Bit>,
        #[port(fixed = transport as usize + polynomial(&crc).bits())] mut output: Out<Bit>,
    ) {
        if input.len() != self.transport {
            return output.truncate(0);
        }
        lte::crc_attach(self.crc, bits(&input), bits_mut(&mut output));
    }
}

struct LteCrcCheck {
    crc: Crc,
    transport: usize,
    blocks: i64,
    wrong: i64,
    missing: i64,
}

/// Takes the CRC off a transport block and counts the blocks for which it does not hold; those are passed on, too (TS 36.212,
/// 5.1.1).
#[component]
impl LteCrcCheck {
    fn new(
        /// Bits of a transport block without its CRC, A.
        #[param(name = "A", alias = "length", alias = "tbs", alias = "in_bits", unit = "items", range = 1..=1_000_000, default = 4008)]
        transport: u32,
        /// Which CRC: that of transport blocks, of code blocks, of control information.
        #[param(choice = ["CRC24A", "CRC24B", "CRC16", "CRC8"], default = "CRC24A")]
        crc: String,
    ) -> LteCrcCheck {
        LteCrcCheck { crc: polynomial(&crc), transport: transport as usize, blocks: 0, wrong: 0, missing: 0 }
    }

    fn tick(
        &mut self,
        #[port(exactly = transport as usize + polynomial(&crc).bits())] input: In<Bit>,
        #[port(fixed = transport)] mut output: Out<Bit>,
    ) {
        self.missing += i64::from(input.missing());
        if input.len() != self.transport + self.crc.bits() {
            return output.truncate(0);
        }
        // A packet that is there although it is missing is the last one, repeated: it was counted before.
        if !input.missing() {
            self.blocks += 1;
            self.wrong += i64::from(!lte::crc_check(self.crc, bits(&input)));
        }
        output.copy_from_slice(&input[..self.transport]);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("blocks", self.blocks), ("block_errors", self.wrong), ("missing_packets", self.missing)])
    }
}
