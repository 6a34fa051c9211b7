//! The way of preambles to a base station: delays of any fraction of a sample, frequency offsets, and noise.

use std::f64::consts::TAU;
use std::sync::Arc;

use num_complex::{Complex32, Complex64};
use takt_base::Tick;
use takt_fft::Fft;
use takt_lte::{Bandwidth, Numerology, PrachConfig, PrachDetector, PrachTransmitter, Sampling};

/// Bandwidth in which noise is counted, six resource blocks.
const NOISE_BANDWIDTH_HZ: f64 = 1.08e6;

pub fn config(root_sequence: u16, zero_correlation_zone: u8) -> PrachConfig {
    PrachConfig { root_sequence, zero_correlation_zone, frequency_offset_blocks: 0, config_index: 3 }
}

pub fn narrow() -> Numerology {
    Numerology::new(Bandwidth::Prb6, Sampling::Standard).unwrap()
}

/// Both ends at 1.92 MS/s.
pub fn ends(config: PrachConfig) -> (PrachTransmitter, PrachDetector) {
    let transmitter = PrachTransmitter::new(narrow(), Bandwidth::Prb6, config).unwrap();
    (transmitter, PrachDetector::new(narrow(), Bandwidth::Prb6, config).unwrap())
}

/// A subframe at the base station.
pub struct Air {
    numerology: Numerology,
    pub samples: Vec<Complex32>,
    sent: Vec<Complex32>,
    padded: Vec<Complex64>,
    forward: Arc<dyn Fft<f64>>,
    back: Arc<dyn Fft<f64>>,
}

impl Air {
    pub fn new(numerology: Numerology) -> Air {
        let len = numerology.subframe_len();
        Air {
            numerology,
            samples: vec![Complex32::default(); len],
            sent: vec![Complex32::default(); len],
            padded: vec![Complex64::default(); 2 * len],
            forward: takt_fft::forward64(2 * len),
            back: takt_fft::inverse64(2 * len),
        }
    }

    pub fn clear(&mut self) {
        self.samples.fill(Complex32::default());
    }

    /// Adds a preamble that is late by `delay_us` and off by `offset_hz`, of this power against 1.
    pub fn add(
        &mut self,
        transmitter: &mut PrachTransmitter,
        preamble: u8,
        delay_us: f64,
        offset_hz: f64,
        power_db: f64,
    ) {
        let gain = Complex64::from(10f64.powf(power_db / 20.0));
        self.add_path(transmitter, preamble, delay_us, offset_hz, gain);
    }

    /// The same with a gain of any phase.
    pub fn add_path(
        &mut self,
        transmitter: &mut PrachTransmitter,
        preamble: u8,
        delay_us: f64,
        offset_hz: f64,
        gain: Complex64,
    ) {
        transmitter.samples(preamble, &mut self.sent);
        let (rate, len) = (self.numerology.rate_sps(), self.padded.len());
        self.padded.fill(Complex64::default());
        for (to, from) in self.padded.iter_mut().zip(&self.sent) {
            *to = Complex64::new(from.re.into(), from.im.into());
        }
        self.forward.process(&mut self.padded);
        for (point, value) in self.padded.iter_mut().enumerate() {
            let signed = if point > len / 2 { point as f64 - len as f64 } else { point as f64 };
            *value *= Complex64::from_polar(1.0 / len as f64, -TAU * signed * delay_us * 1e-6 * rate / len as f64);
        }
        self.back.process(&mut self.padded);
        for (at, (to, from)) in self.samples.iter_mut().zip(&self.padded).enumerate() {
            let value = from * gain * Complex64::from_polar(1.0, TAU * offset_hz * at as f64 / rate);
            *to += Complex32::new(value.re as f32, value.im as f32);
        }
    }

    /// Adds noise, in 1.08 MHz of this power against 1.
    pub fn noise(&mut self, seed: u64, power_db: f64) {
        let power = 10f64.powf(power_db / 10.0) * self.numerology.rate_sps() / NOISE_BANDWIDTH_HZ;
        takt_dsp::noise(seed, power as f32, Tick(0), 1, &mut self.sent);
        self.samples.iter_mut().zip(&self.sent).for_each(|(sample, noise)| *sample += noise);
    }
}

/// Evenly over 0 to 1, for a number.
pub fn share(number: u64) -> f64 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) as f64 / (1u64 << 53) as f64
}
