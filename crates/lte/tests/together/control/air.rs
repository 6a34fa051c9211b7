//! Air for tests: a gain, and noise from a seed.

use num_complex::Complex32;
use takt_base::Tick;
use takt_lte::{Bandwidth, ResourceGrid};

/// Noise that goes on from call to call.
pub struct Noise {
    seed: u64,
    next: u64,
}

impl Noise {
    pub fn new(seed: u64) -> Noise {
        Noise { seed, next: 0 }
    }

    /// Fills elements with noise of this power.
    pub fn fill(&mut self, power: f32, out: &mut [Complex32]) {
        takt_dsp::noise(self.seed, power, Tick(self.next), 1, out);
        self.next += out.len() as u64;
    }

    /// The received grid, the channel, and the noise's power, with elements of power 1 sent.
    pub fn channel(&mut self, sent: &ResourceGrid, gain: Complex32, snr_db: f32) -> (ResourceGrid, ResourceGrid, f32) {
        let power = gain.norm_sqr() * 10f32.powf(-snr_db / 10.0);
        let mut received = sent.clone();
        self.fill(power, received.elements_mut());
        received.elements_mut().iter_mut().zip(sent.elements()).for_each(|(value, sent)| *value += sent * gain);
        let bandwidth = Bandwidth::try_from((sent.subcarriers() / 12) as u8).unwrap();
        let mut gains = ResourceGrid::new(bandwidth);
        gains.elements_mut().fill(gain);
        (received, gains, power)
    }
}
