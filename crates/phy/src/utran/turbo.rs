//! The turbo coder, TS 25.212 section 4.2.3.2, and a decoder for it.

use super::code_blocks::{CodeBlocks, coded_len, interval_len};
use super::crc::polynomial;
use super::{each_block, refused};
use crate::items::{bits, bits_mut, counts, is_silence, llrs};
use crate::turbo::decode;
use takt_dsp::crc::Crc;
use takt_dsp::umts::Coding::Turbo;
use takt_dsp::{turbo, umts};
use takt_graph::Value;
use takt_runtime::{Bit, Llr, MakeError, component};

struct UmtsTurboEncode {
    encoder: umts::TurboEncoder,
    blocks: CodeBlocks,
}

/// Turbo code of rate 1/3: K bits to 3 K + 12 (TS 25.212, 4.2.3.2).
#[component]
impl UmtsTurboEncode {
    fn new(
        /// Bits of a code block.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=5114, default = 3856)]
        length: u32,
        /// Bits of an interval, to be cut into code blocks as TS 25.212, 4.2.2.2, says; 0: one block of K.
        #[param(name = "X", alias = "interval", unit = "items", range = 0..=1_000_000, default = 0)]
        interval: u32,
    ) -> Result<UmtsTurboEncode, MakeError> {
        let blocks = CodeBlocks::new(Turbo, length, interval)?;
        let encoder = umts::TurboEncoder::new(blocks.block_len()).map_err(|error| refused(&error))?;
        Ok(UmtsTurboEncode { encoder, blocks })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = interval_len(length, interval))] input: In<Bit>,
        #[port(ratio = coded_len(Turbo, length, interval) / interval_len(length, interval))] mut output: Out<Bit>,
    ) {
        let UmtsTurboEncode { encoder, blocks } = self;
        each_block(&input, blocks.bits(), &mut output, blocks.coded(), |interval, coded| {
            blocks.encode(bits(interval), bits_mut(coded), |block, coded| encoder.encode(block, coded));
        });
    }
}

struct UmtsTurboDecode {
    decoder: turbo::Decoder,
    blocks: CodeBlocks,
    iterations: usize,
    /// By which decoding stops early.
    crc: Option<Crc>,
    decoded: i64,
    made: i64,
}

/// Decodes the turbo code of rate 1/3 (TS 25.212, 4.2.3.2): max-log-MAP, 3 K + 12 soft values to K bits. If all soft values are 0,
/// nothing was received, and it gives nothing.
#[component]
impl UmtsTurboDecode {
    fn new(
        /// Bits of a code block.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=5114, default = 3856)]
        length: u32,
        /// Bits of an interval, cut into code blocks as TS 25.212, 4.2.2.2, says; 0: one block of K.
        #[param(name = "X", alias = "interval", unit = "items", range = 0..=1_000_000, default = 0)]
        interval: u32,
        /// Iterations at most, in each of which both constituent decoders run once.
        #[param(range = 1..=64, default = 8, variable)]
        iterations: u32,
        /// Stop as soon as the block ends with its CRC of so many bits: 8, 12, 16 or 24; 0: make all iterations.
        #[param(name = "crc", alias = "L", range = 0..=24, default = 0)]
        crc: u32,
    ) -> Result<UmtsTurboDecode, MakeError> {
        let blocks = CodeBlocks::new(Turbo, length, interval)?;
        let crc = if crc == 0 { None } else { Some(polynomial(crc)?) };
        if crc.is_some() && blocks.count() > 1 {
            let what =
                format!("a CRC at the end of each of {} code blocks: only the interval's last has one", blocks.count());
            return Err(MakeError { what, fix: "set crc = 0".into() });
        }
        let decoder = turbo::Decoder::umts(blocks.block_len()).map_err(|error| refused(&error))?;
        Ok(UmtsTurboDecode { decoder, blocks, iterations: iterations as usize, crc, decoded: 0, made: 0 })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = coded_len(Turbo, length, interval))] input: In<Llr>,
        #[port(ratio = interval_len(length, interval) / coded_len(Turbo, length, interval))] mut output: Out<Bit>,
    ) {
        if is_silence(&input) {
            return output.truncate(0);
        }
        let UmtsTurboDecode { decoder, blocks, iterations, crc, decoded, made } = self;
        each_block(&input, blocks.coded(), &mut output, blocks.bits(), |coded, interval| {
            blocks.decode(llrs(coded), bits_mut(interval), |coded, block| {
                let used = decode(decoder, coded, *iterations, *crc, umts::crc_check, block);
                (*decoded, *made) = (*decoded + 1, *made + used as i64);
            });
        });
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.iterations = iterations as usize;
    }

    fn iterations(&self) -> u32 {
        self.iterations as u32
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("blocks", self.decoded), ("iterations", self.made)])
    }
}
