//! Modulation and soft demodulation, TS 36.211 section 7.1.

use crate::items::{bits, llrs_mut};
use takt_base::Complex32;
use takt_dsp::lte::{self, Modulation};
use takt_runtime::{Bit, Llr, MakeError, component};

/// A constellation by its bits.
fn constellation(bits: u32) -> Result<Modulation, MakeError> {
    let found = Modulation::ALL.into_iter().find(|modulation| modulation.bits() == bits as usize);
    found.ok_or_else(|| MakeError {
        what: format!("no modulation has {bits} bits a symbol"),
        fix: "give 1, 2, 4 or 6".into(),
    })
}

struct LteModulate(Modulation);

/// Maps bits to symbols of BPSK, QPSK, 16QAM or 64QAM, of mean power 1 (TS 36.211, 7.1).
#[component]
impl LteModulate {
    fn new(
        /// Bits of a symbol: 1, 2, 4 or 6.
        #[param(name = "Q_m", alias = "Qm", range = 1..=6, default = 2)]
        symbol_bits: u32,
    ) -> Result<LteModulate, MakeError> {
        constellation(symbol_bits).map(LteModulate)
    }

    fn tick(
        &mut self,
        #[port(multiple_of = symbol_bits)] input: In<Bit>,
        #[port(ratio = 1 / symbol_bits)] mut output: Out<Complex32>,
    ) {
        let whole = output.len() * self.0.bits();
        if input.len() != whole {
            return output.truncate(0);
        }
        lte::modulate(self.0, bits(&input), &mut output);
    }
}

struct LteDemodulate {
    modulation: Modulation,
    scale: f32,
}

/// Soft values of the bits of received symbols: exact max-log, rounded and limited to 127 (TS 36.211, 7.1).
#[component]
impl LteDemodulate {
    fn new(
        /// Bits of a symbol: 1, 2, 4 or 6.
        #[param(name = "Q_m", alias = "Qm", range = 1..=6, default = 2)]
        symbol_bits: u32,
        /// Soft value that a symbol without noise gives its least certain bit. The turbo decoder likes 10 to 30.
        #[param(range = 0.0..=127.0, default = 20.0)]
        loudness: f32,
    ) -> Result<LteDemodulate, MakeError> {
        let modulation = constellation(symbol_bits)?;
        // The nearest points that differ in a bit are 2 a apart on an axis; BPSK's on both.
        let axes = if modulation == Modulation::Bpsk { 2.0 } else { 1.0 };
        Ok(LteDemodulate { modulation, scale: loudness / (4.0 * axes * modulation.amplitude().powi(2)) })
    }

    fn tick(&mut self, input: In<Complex32>, #[port(ratio = symbol_bits / 1)] mut output: Out<Llr>) {
        lte::demodulate(self.modulation, self.scale, &input, None, llrs_mut(&mut output));
    }
}
