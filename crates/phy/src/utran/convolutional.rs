//! The convolutional code, TS 25.212 section 4.2.3.1.

use super::code_blocks::{CodeBlocks, coded_len, interval_len};
use super::each_block;
use crate::items::{bits, bits_mut, is_silence, llrs};
use takt_dsp::umts::{self, Coding, ConvolutionalRate, Viterbi};
use takt_runtime::{Bit, Llr, MakeError, component};

/// By how many bits there are for one.
pub(super) fn rate(outputs: u32) -> ConvolutionalRate {
    if outputs == 2 { ConvolutionalRate::Half } else { ConvolutionalRate::Third }
}

fn coding(outputs: u32) -> Coding {
    Coding::Convolutional(rate(outputs))
}

struct UmtsConvEncode {
    rate: ConvolutionalRate,
    blocks: CodeBlocks,
}

/// Convolutional code of constraint length 9 with 8 tail bits (TS 25.212, 4.2.3.1).
#[component]
impl UmtsConvEncode {
    fn new(
        /// Bits of a code block.
        #[param(name = "K", alias = "length", unit = "items", range = 1..=504, default = 112)]
        length: u32,
        /// Bits of an interval, to be cut into code blocks as TS 25.212, 4.2.2.2, says; 0: one block of K.
        #[param(name = "X", alias = "interval", unit = "items", range = 0..=1_000_000, default = 0)]
        interval: u32,
        /// Coded bits for one bit: rate 1/2 or 1/3.
        #[param(range = 2..=3, default = 3)]
        rate: u32,
    ) -> Result<UmtsConvEncode, MakeError> {
        Ok(UmtsConvEncode { rate: self::rate(rate), blocks: CodeBlocks::new(coding(rate), length, interval)? })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = interval_len(length, interval))] input: In<Bit>,
        #[port(ratio = coded_len(coding(rate), length, interval) / interval_len(length, interval))] mut output: Out<
            Bit,
        >,
    ) {
        let UmtsConvEncode { rate, blocks } = self;
        each_block(&input, blocks.bits(), &mut output, blocks.coded(), |interval, coded| {
            blocks.encode(bits(interval), bits_mut(coded), |block, coded| {
                umts::convolutional_encode(*rate, block, coded);
            });
        });
    }
}

struct UmtsViterbi {
    decoder: Viterbi,
    blocks: CodeBlocks,
}

/// Decodes the convolutional code: the likeliest bits for the soft values (TS 25.212, 4.2.3.1). If all of them are 0, nothing was
/// received, and it gives nothing.
#[component]
impl UmtsViterbi {
    fn new(
        /// Bits of a code block.
        #[param(name = "K", alias = "length", unit = "items", range = 1..=504, default = 112)]
        length: u32,
        /// Bits of an interval, cut into code blocks as TS 25.212, 4.2.2.2, says; 0: one block of K.
        #[param(name = "X", alias = "interval", unit = "items", range = 0..=1_000_000, default = 0)]
        interval: u32,
        /// Coded bits for one bit: rate 1/2 or 1/3.
        #[param(range = 2..=3, default = 3)]
        rate: u32,
    ) -> Result<UmtsViterbi, MakeError> {
        let blocks = CodeBlocks::new(coding(rate), length, interval)?;
        Ok(UmtsViterbi { decoder: Viterbi::new(self::rate(rate)), blocks })
    }

    fn tick(
        &mut self,
        #[port(multiple_of = coded_len(coding(rate), length, interval))] input: In<Llr>,
        #[port(ratio = interval_len(length, interval) / coded_len(coding(rate), length, interval))] mut output: Out<
            Bit,
        >,
    ) {
        if is_silence(&input) {
            return output.truncate(0);
        }
        let UmtsViterbi { decoder, blocks } = self;
        each_block(&input, blocks.coded(), &mut output, blocks.bits(), |coded, interval| {
            blocks.decode(llrs(coded), bits_mut(interval), |coded, block| decoder.decode(coded, block));
        });
    }
}
