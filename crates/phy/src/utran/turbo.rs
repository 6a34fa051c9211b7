//! The turbo coder, TS 25.212 section 4.2.3.2, and a decoder for it.

use super::{bits, bits_mut, llrs, refused};
use takt_dsp::{turbo, umts};
use takt_graph::Value;
use takt_runtime::{Bit, Llr, MakeError, component};

struct UmtsTurboEncode(umts::TurboEncoder);

/// Turbo code of rate 1/3: K bits to 3 K + 12 (TS 25.212, 4.2.3.2).
#[component]
impl UmtsTurboEncode {
    fn new(
        /// Bits of a code block, K.
        #[param(unit = "items", range = 40..=5114, default = 3856)]
        length: u32,
    ) -> Result<UmtsTurboEncode, MakeError> {
        umts::TurboEncoder::new(length as usize).map(UmtsTurboEncode).map_err(|error| refused(&error))
    }

    fn tick(
        &mut self,
        #[port(exactly = length)] input: In<Bit>,
        #[port(fixed = 3 * length + 12)] mut output: Out<Bit>,
    ) {
        if input.len() != self.0.block_len() || input.missing() {
            return output.truncate(0);
        }
        self.0.encode(bits(&input), bits_mut(&mut output));
    }
}

struct UmtsTurboDecode {
    decoder: turbo::Decoder,
    iterations: usize,
    blocks: i64,
}

/// Decodes the turbo code of rate 1/3 (TS 25.212, 4.2.3.2): max-log-MAP, 3 K + 12 soft values to K bits.
#[component]
impl UmtsTurboDecode {
    fn new(
        /// Bits of a code block, K.
        #[param(unit = "items", range = 40..=5114, default = 3856)]
        length: u32,
        /// Iterations, in each of which both constituent decoders run once.
        #[param(range = 1..=64, default = 8, variable)]
        iterations: u32,
    ) -> Result<UmtsTurboDecode, MakeError> {
        let decoder = turbo::Decoder::umts(length as usize).map_err(|error| refused(&error))?;
        Ok(UmtsTurboDecode { decoder, iterations: iterations as usize, blocks: 0 })
    }

    fn tick(
        &mut self,
        #[port(exactly = 3 * length + 12)] input: In<Llr>,
        #[port(fixed = length)] mut output: Out<Bit>,
    ) {
        if input.len() != self.decoder.coded_len() || input.missing() {
            return output.truncate(0);
        }
        self.decoder.decode(llrs(&input), self.iterations, bits_mut(&mut output));
        self.blocks += 1;
    }

    fn set_iterations(&mut self, iterations: u32) {
        self.iterations = iterations as usize;
    }

    fn iterations(&self) -> u32 {
        self.iterations as u32
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("blocks", self.blocks.into())]
    }
}
