//! The convolutional code, TS 25.212 section 4.2.3.1.

use super::{bits, bits_mut, llrs};
use takt_dsp::umts::{self, ConvolutionalRate, Viterbi};
use takt_runtime::{Bit, Llr, component};

/// By how many bits there are for one.
pub(super) fn rate(outputs: u32) -> ConvolutionalRate {
    if outputs == 2 { ConvolutionalRate::Half } else { ConvolutionalRate::Third }
}

struct UmtsConvEncode {
    rate: ConvolutionalRate,
    length: usize,
}

/// Convolutional code of constraint length 9 with 8 tail bits (TS 25.212, 4.2.3.1).
#[component]
impl UmtsConvEncode {
    fn new(
        /// Bits of a code block, K.
        #[param(unit = "items", range = 1..=504, default = 112)]
        length: u32,
        /// Coded bits for one bit: rate 1/2 or 1/3.
        #[param(range = 2..=3, default = 3)]
        rate: u32,
    ) -> UmtsConvEncode {
        UmtsConvEncode { rate: self::rate(rate), length: length as usize }
    }

    fn tick(
        &mut self,
        #[port(exactly = length)] input: In<Bit>,
        #[port(fixed = rate * (length + 8))] mut output: Out<Bit>,
    ) {
        if input.len() != self.length || input.missing() {
            return output.truncate(0);
        }
        umts::convolutional_encode(self.rate, bits(&input), bits_mut(&mut output));
    }
}

struct UmtsViterbi {
    decoder: Viterbi,
    coded: usize,
}

/// Decodes the convolutional code: the likeliest bits for the soft values (TS 25.212, 4.2.3.1).
#[component]
impl UmtsViterbi {
    fn new(
        /// Bits of a code block, K.
        #[param(unit = "items", range = 1..=504, default = 112)]
        length: u32,
        /// Coded bits for one bit: rate 1/2 or 1/3.
        #[param(range = 2..=3, default = 3)]
        rate: u32,
    ) -> UmtsViterbi {
        UmtsViterbi { decoder: Viterbi::new(self::rate(rate)), coded: (rate * (length + 8)) as usize }
    }

    fn tick(
        &mut self,
        #[port(exactly = rate * (length + 8))] input: In<Llr>,
        #[port(fixed = length)] mut output: Out<Bit>,
    ) {
        if input.len() != self.coded || input.missing() {
            return output.truncate(0);
        }
        self.decoder.decode(llrs(&input), bits_mut(&mut output));
    }
}
