//! Transmission of a base station: a block a subframe, as chips and as samples.

use takt_base::Complex32;
use takt_dsp::tdscdma::{CHIPS, Cell, Converter, Downlink, SAMPLES};
use takt_runtime::component;

struct TdScdmaDownlink {
    downlink: Downlink,
    seed: u64,
    payload: Vec<u8>,
}

/// Gives the chips of a subframe: a block of known payload in TS3 to TS6, of mean power 1 there and silent elsewhere.
#[component(name = "td-scdma-downlink")]
impl TdScdmaDownlink {
    fn new(
        /// Codes of 16 chips in each slot.
        #[param(range = 1..=16, default = 16)]
        codes: u8,
        /// Which payload.
        #[param(default = 1)]
        seed: u64,
    ) -> TdScdmaDownlink {
        let downlink = Downlink::new(Cell::default(), codes.into()).expect("1 to 16 codes, as declared");
        let payload = vec![0; downlink.payload_bits()];
        TdScdmaDownlink { downlink, seed, payload }
    }

    fn tick(&mut self, #[port(fixed = 6400)] mut output: Out<Complex32>, slot: u64) {
        self.downlink.payload(self.seed, slot, &mut self.payload);
        self.downlink.transmit(&self.payload, &mut output);
    }
}

struct TdScdmaToSamples {
    amplitude: f32,
    converter: Converter,
}

/// Makes the 6250 samples at 1.25 MS/s of a subframe's 6400 chips.
#[component(name = "td-scdma-to-samples")]
impl TdScdmaToSamples {
    fn new(
        /// Amplitude of a chip of power 1; with all codes the peaks are four times as high.
        #[param(range = 0.0..=1.0, default = 0.15)]
        amplitude: f32,
    ) -> TdScdmaToSamples {
        TdScdmaToSamples { amplitude, converter: Converter::new() }
    }

    fn tick(
        &mut self,
        #[port(exactly = 6400)] input: In<Complex32>,
        #[port(ratio = 125 / 128)] mut output: Out<Complex32>,
    ) {
        if (input.len(), output.len()) != (CHIPS, SAMPLES) {
            return output.fill(Complex32::default());
        }
        self.converter.to_samples(&input, &mut output);
        output.iter_mut().for_each(|sample| *sample *= self.amplitude);
    }
}
