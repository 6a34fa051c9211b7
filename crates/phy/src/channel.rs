//! Channels: white Gaussian noise on 16-bit samples, and on complex symbols.

use takt_base::{Complex32, Tick};
use takt_runtime::{Prepared, component};

struct Awgn {
    ebn0_db: f64,
    amplitude: f32,
    seed: u64,
}

/// Adds white Gaussian noise; the same noise for the same seed and sample index.
#[component(name = "awgn")]
impl Awgn {
    fn new(
        /// Energy of a bit over the noise's spectral density.
        #[param(unit = "dB", range = -20.0..=200.0, default = 200.0, variable)]
        ebn0_db: f64,
        /// Amplitude of the signal: that of the modulator. Samples are whole numbers: from some 64 on that is no noise of its own.
        #[param(range = 1..=32767, default = 4096)]
        amplitude: i16,
        /// Which noise.
        #[param(default = 1)]
        seed: u64,
    ) -> Awgn {
        Awgn { ebn0_db, amplitude: amplitude.into(), seed }
    }

    fn tick(&mut self, input: In<i16>, mut output: Out<i16>) {
        // Real BPSK: a bit's energy is the amplitude squared, the noise's variance N0 / 2. Power is that of both parts of the
        // complex value that two samples share, by index, so that the noise does not depend on how packets are cut.
        let variance = self.amplitude.powi(2) / (2.0 * 10_f64.powf(self.ebn0_db / 10.0) as f32);
        takt_dsp::add_noise(self.seed, 2.0 * variance, input.first_item(), &input, &mut output);
    }

    fn set_ebn0_db(&mut self, ebn0_db: f64) {
        self.ebn0_db = ebn0_db;
    }

    fn ebn0_db(&self) -> f64 {
        self.ebn0_db
    }
}

struct AwgnC32 {
    esn0_db: f64,
    seed: u64,
    noise: Vec<Complex32>,
}

/// Adds white Gaussian noise to complex symbols of mean power 1; the same noise for the same seed and symbol index.
#[component(name = "awgn-c32")]
impl AwgnC32 {
    fn new(
        /// Energy of a symbol over the noise's spectral density.
        #[param(unit = "dB", range = -20.0..=200.0, default = 200.0, variable)]
        esn0_db: f64,
        /// Which noise.
        #[param(default = 1)]
        seed: u64,
    ) -> AwgnC32 {
        AwgnC32 { esn0_db, seed, noise: Vec::new() }
    }

    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        self.noise = vec![Complex32::default(); ports.input_items.first().copied().unwrap_or(0)];
        Ok(())
    }

    fn tick(&mut self, input: In<Complex32>, mut output: Out<Complex32>) {
        let noise = &mut self.noise[..input.len()];
        takt_dsp::noise(self.seed, 10_f64.powf(-self.esn0_db / 10.0) as f32, Tick(input.first_item()), 1, noise);
        output.iter_mut().zip(input).zip(noise).for_each(|((y, x), noise)| *y = x + *noise);
    }

    fn set_esn0_db(&mut self, esn0_db: f64) {
        self.esn0_db = esn0_db;
    }

    fn esn0_db(&self) -> f64 {
        self.esn0_db
    }
}
