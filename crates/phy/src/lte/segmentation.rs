//! Code block segmentation and its inverse, TS 36.212 section 5.1.2.

use super::blocks::{block_bits, cut};
use crate::items::{bits, bits_mut, counts};
use takt_dsp::crc::Crc;
use takt_dsp::lte::{self, Segmentation};
use takt_graph::Value;
use takt_runtime::{Bit, MakeError, component};

struct LteSegment(Segmentation);

/// Cuts a transport block with its CRC24A into code blocks, which follow each other in the packet: filler bits (zeros) before the
/// first, and, if there are several, a CRC24B behind each (TS 36.212, 5.1.2).
#[component]
impl LteSegment {
    fn new(
        /// Bits of a transport block without its CRC, A; B = A + 24.
        #[param(name = "A", alias = "length", alias = "tbs", unit = "items", range = 1..=1_000_000, default = 4008)]
        transport: u32,
    ) -> Result<LteSegment, MakeError> {
        cut(transport).map(LteSegment)
    }

    fn tick(
        &mut self,
        #[port(exactly = transport + 24)] input: In<Bit>,
        #[port(fixed = block_bits(transport, 0))] mut output: Out<Bit>,
    ) {
        if input.len() != self.0.bits() {
            return output.truncate(0);
        }
        self.0.segment(bits(&input), bits_mut(&mut output));
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let ((plus, plus_blocks), (minus, minus_blocks)) = (self.0.longer(), self.0.shorter());
        counts([
            ("C", self.0.blocks()),
            ("K_plus", plus),
            ("C_plus", plus_blocks),
            ("K_minus", minus),
            ("C_minus", minus_blocks),
            ("F", self.0.fillers()),
        ])
    }
}

struct LteDesegment {
    cut: Segmentation,
    blocks: i64,
    wrong: i64,
    missing: i64,
}

/// Joins decoded code blocks to a transport block with its CRC24A, and counts the blocks whose CRC24B does not hold, or whose CRC24A
/// where there is one block only (TS 36.212, 5.1.2).
#[component]
impl LteDesegment {
    fn new(
        /// Bits of a transport block without its CRC, A; B = A + 24.
        #[param(name = "A", alias = "length", alias = "tbs", unit = "items", range = 1..=1_000_000, default = 4008)]
        transport: u32,
    ) -> Result<LteDesegment, MakeError> {
        cut(transport).map(|cut| LteDesegment { cut, blocks: 0, wrong: 0, missing: 0 })
    }

    fn tick(
        &mut self,
        #[port(exactly = block_bits(transport, 0))] input: In<Bit>,
        #[port(fixed = transport + 24)] mut output: Out<Bit>,
    ) {
        self.missing += i64::from(input.missing());
        if input.len() != self.cut.blocks_len() {
            return output.truncate(0);
        }
        // A packet that is there although it is missing is the last one, repeated: it was counted before.
        if !input.missing() {
            self.blocks += self.cut.blocks() as i64;
            self.wrong += wrong_blocks(&self.cut, bits(&input));
        }
        let _holds = self.cut.join(bits(&input), bits_mut(&mut output));
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("code_blocks", self.blocks), ("code_block_errors", self.wrong), ("missing_packets", self.missing)])
    }
}

/// How many code blocks have a wrong CRC: a CRC24B each, or the transport block's if there is one only. Fillers, zeros before the
/// first, change no CRC.
fn wrong_blocks(cut: &Segmentation, blocks: &[u8]) -> i64 {
    let crc = if cut.blocks() == 1 { Crc::Crc24A } else { Crc::Crc24B };
    let mut rest = blocks;
    let mut wrong = |r| !lte::crc_check(crc, rest.split_off(..cut.block_len(r)).unwrap_or_default());
    (0..cut.blocks()).map(|r| i64::from(wrong(r))).sum()
}
