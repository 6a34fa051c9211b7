//! White Gaussian noise on symbols.

use takt_base::{Complex32, Tick};
use takt_runtime::{Prepared, component};

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
