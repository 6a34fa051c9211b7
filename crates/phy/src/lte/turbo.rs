//! The turbo coder, TS 36.212 section 5.1.3.2, and a decoder for it.

use super::blocks::{Block, ByBlock, LENGTH, block_bits, blocks, coded_bits};
use super::crc::polynomial;
use crate::items::{bits, bits_mut, counts, is_silence, llrs};
use crate::turbo::decode;
use takt_dsp::crc::Crc;
use takt_dsp::{lte, turbo};
use takt_graph::Value;
use takt_runtime::{Bit, Llr, MakeError, component};

/// The fillers do not matter to the code.
fn by_length<T>(
    transport: u32,
    length: u32,
    make: impl Fn(usize) -> Result<T, lte::Error>,
) -> Result<ByBlock<T>, MakeError> {
    let all = blocks(transport, length, 0)?.into_iter();
    ByBlock::new(all.map(|block| Block { fillers: 0, ..block }), |block| make(block.bits))
}

struct LteTurboEncode {
    encoders: ByBlock<lte::TurboEncoder>,
    bits: usize,
}

/// Turbo code of rate 1/3: K bits to d0, d1, d2 of K + 4 bits each, one after the other; block by block (TS 36.212, 5.1.3.2).
#[component]
impl LteTurboEncode {
    fn new(
        /// Bits of a code block, K: one of the 188 lengths.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=6144, default = LENGTH)]
        length: u32,
        /// Bits of a transport block whose code blocks make a packet, A; 0: one code block of K bits.
        #[param(name = "A", alias = "tbs", unit = "items", range = 0..=1_000_000, default = 0)]
        transport: u32,
    ) -> Result<LteTurboEncode, MakeError> {
        let encoders = by_length(transport, length, lte::TurboEncoder::new)?;
        Ok(LteTurboEncode { encoders, bits: block_bits(transport, length) })
    }

    fn tick(
        &mut self,
        #[port(exactly = block_bits(transport, length))] input: In<Bit>,
        #[port(fixed = coded_bits(transport, length))] mut output: Out<Bit>,
    ) {
        if input.len() != self.bits {
            return output.truncate(0);
        }
        let lengths = |_, encoder: &lte::TurboEncoder| (encoder.block_len(), encoder.coded_len());
        self.encoders.each(bits(&input), bits_mut(&mut output), lengths, lte::TurboEncoder::encode);
    }
}

struct LteTurboDecode {
    decoders: ByBlock<turbo::Decoder>,
    coded: usize,
    iterations: usize,
    crc: Option<Crc>,
    blocks: i64,
    made: i64,
}

/// Decodes the turbo code of rate 1/3: max-log-MAP, soft values of d0, d1, d2 to K bits, block by block (TS 36.212, 5.1.3.2).
/// If all of them are 0, nothing was received, and it gives nothing.
#[component]
impl LteTurboDecode {
    fn new(
        /// Bits of a code block, K: one of the 188 lengths.
        #[param(name = "K", alias = "length", unit = "items", range = 40..=6144, default = LENGTH)]
        length: u32,
        /// Bits of a transport block whose code blocks make a packet, A; 0: one code block of K bits.
        #[param(name = "A", alias = "tbs", unit = "items", range = 0..=1_000_000, default = 0)]
        transport: u32,
        /// Iterations at most, in each of which both constituent decoders run once.
        #[param(range = 1..=64, default = 8, variable)]
        iterations: u32,
        /// The CRC that ends a block's iterations once it holds. attached: that which segmentation gave the block, CRC24A if it is
        /// the only one, else CRC24B.
        #[param(choice = ["none", "attached", "CRC24A", "CRC24B"], default = "none")]
        crc: String,
    ) -> Result<LteTurboDecode, MakeError> {
        let decoders = by_length(transport, length, turbo::Decoder::lte)?;
        let crc = match crc.as_str() {
            "none" => None,
            "attached" if decoders.count() == 1 => Some(Crc::Crc24A),
            "attached" => Some(Crc::Crc24B),
            name => Some(polynomial(name)),
        };
        let coded = coded_bits(transport, length);
        Ok(LteTurboDecode { decoders, coded, iterations: iterations as usize, crc, blocks: 0, made: 0 })
    }

    fn tick(
        &mut self,
        #[port(exactly = coded_bits(transport, length))] input: In<Llr>,
        #[port(fixed = block_bits(transport, length))] mut output: Out<Bit>,
    ) {
        if input.len() != self.coded || is_silence(&input) {
            return output.truncate(0);
        }
        let LteTurboDecode { decoders, iterations, crc, blocks, made, .. } = self;
        let lengths = |_, decoder: &turbo::Decoder| (decoder.coded_len(), decoder.block_len());
        decoders.each(llrs(&input), bits_mut(&mut output), lengths, |decoder, coded, block| {
            *made += decode(decoder, coded, *iterations, *crc, lte::crc_check, block) as i64;
            *blocks += 1;
        });
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.iterations = iterations as usize;
    }

    fn iterations(&self) -> u32 {
        self.iterations as u32
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("blocks", self.blocks), ("iterations", self.made)])
    }
}
