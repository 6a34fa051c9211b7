//! The air between two antennas.

use num_complex::Complex32;
use takt_base::Tick;
use takt_dsp::{Fading, FadingModel, Rotation, mix, noise};
use takt_lte_radio::demo::AMPLITUDE;
use takt_runtime::{MakeError, component, graph::Value};

use crate::settings::{numerology, refused, subframe_len};

/// Samples that a signal may be delayed by, a fading channel's paths included.
const MOST_DELAY: usize = 4096;

struct LteAir {
    /// The samples before this subframe, and this subframe.
    sent: Vec<Complex32>,
    len: usize,
    delay: usize,
    amplitude: f32,
    rotation: Rotation,
    fading: Option<Paths>,
    noise_power: f32,
    noise: Vec<Complex32>,
    /// Noise power of an element at 0 dB, times the sampled band over the used one.
    full_power: f32,
    snr_db: f64,
    seed: u64,
}

/// The paths of a fading channel, each with its delay in whole samples.
struct Paths {
    fading: Fading,
    delays: Vec<usize>,
}

/// Is the air from one end to the other: delays, weakens, shifts in frequency, fades (TS 36.101 annex B.2), and adds noise of the
/// receiver. The same seed and sample number give the same noise. An empty packet is silence.
#[component(name = "lte-air")]
impl LteAir {
    fn new(
        /// Resource blocks.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// How much later a sample arrives.
        #[param(unit = "samples", range = 0..=1000, default = 7)]
        delay: usize,
        /// Gain of the path.
        #[param(unit = "dB", range = -200.0..=40.0, default = -20.0)]
        gain_db: f64,
        /// Signal to noise of a full carrier's elements, without fading.
        #[param(unit = "dB", range = -40.0..=100.0, default = 25.0, variable)]
        snr_db: f64,
        /// How much higher the receiver hears it.
        #[param(unit = "Hz", range = -100e3..=100e3, default = 0.0)]
        frequency_hz: f64,
        /// Channel and maximum Doppler frequency. Delays of its paths are rounded to samples.
        #[param(choice = ["none", "EPA 5", "EVA 5", "EVA 70", "ETU 70", "ETU 300"], default = "none")]
        fading: String,
        /// Which noise and fading.
        #[param(default = 1)]
        seed: u64,
    ) -> Result<LteAir, MakeError> {
        let numerology = numerology(prb)?;
        let (len, rate_sps) = (numerology.subframe_len(), numerology.rate_sps());
        let fading = match fading.as_str() {
            "none" => None,
            name => Some(Paths::new(name, rate_sps, seed)?),
        };
        let amplitude = 10f64.powf(gain_db / 20.0) as f32;
        let band = numerology.fft_len as f32 / numerology.subcarriers as f32;
        let mut air = LteAir {
            sent: vec![Complex32::default(); MOST_DELAY + len],
            len,
            delay,
            amplitude,
            rotation: Rotation::from_turns(frequency_hz / rate_sps),
            fading,
            noise_power: 0.0,
            noise: vec![Complex32::default(); len],
            full_power: (AMPLITUDE * amplitude).powi(2) * band,
            snr_db,
            seed,
        };
        air.set_snr_db(snr_db);
        Ok(air)
    }

    fn tick(&mut self, input: In<Complex32>, #[port(fixed = subframe_len(prb))] mut output: Out<Complex32>) {
        let first = Tick(output.first_item());
        self.sent.copy_within(self.len.., 0);
        let now = &mut self.sent[MOST_DELAY..];
        if input.len() == self.len {
            now.copy_from_slice(&input);
        } else {
            now.fill(Complex32::default());
        }
        let newest = MOST_DELAY - self.delay;
        match &self.fading {
            None => output.copy_from_slice(&self.sent[newest..newest + self.len]),
            Some(Paths { fading, delays }) => {
                output.fill(Complex32::default());
                for (path, delay) in delays.iter().enumerate() {
                    let from = newest - delay;
                    fading.add(path, first, 1, &self.sent[from..from + self.len], &mut output);
                }
            }
        }
        mix(self.rotation, self.amplitude, first, 1, &mut output);
        noise(self.seed, self.noise_power, first, 1, &mut self.noise);
        output.iter_mut().zip(&self.noise).for_each(|(sample, noise)| *sample += noise);
    }

    fn set_snr_db(&mut self, snr_db: f64) {
        self.snr_db = snr_db;
        self.noise_power = self.full_power * 10f64.powf(-snr_db / 10.0) as f32;
    }

    fn snr_db(&self) -> f64 {
        self.snr_db
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("delay_samples", Value::Int(self.delay as i64))]
    }
}

impl Paths {
    fn new(name: &str, rate_sps: f64, seed: u64) -> Result<Paths, MakeError> {
        let model: FadingModel =
            name.parse().map_err(|error| refused(format!("{name}: {error}"), "give another `fading`"))?;
        let samples = |ns: f64| ((ns * 1e-9 * rate_sps).round() as usize).min(MOST_DELAY - 1000);
        let delays = model.profile.taps().iter().map(|tap| samples(tap.delay_ns)).collect();
        Ok(Paths { fading: Fading::new(model, rate_sps, seed), delays })
    }
}
