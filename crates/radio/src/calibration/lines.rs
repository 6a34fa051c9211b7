//! Levels of tones in received samples.

use num_complex::Complex64;
use takt_base::Complex32;

/// Level and phase of the tone at `turns` turns a sample, at the first sample: of a tone of amplitude 1, 1.
///
/// A Blackman-Harris window keeps other tones out: by 92 dB from four bins on, a bin being the sample rate divided by the number of
/// samples.
#[must_use]
pub fn line_level(samples: &[Complex32], turns: f64) -> Complex64 {
    const TERMS: [f64; 4] = [0.35875, -0.48829, 0.14128, -0.01168];
    let per_sample = std::f64::consts::TAU / samples.len().max(1) as f64;
    let back = Complex64::from_polar(1.0, -std::f64::consts::TAU * turns);
    let (mut phase, mut sum, mut weights) = (Complex64::new(1.0, 0.0), Complex64::default(), 0.0);
    for (n, sample) in samples.iter().enumerate() {
        let cosine = (per_sample * n as f64).cos();
        let double = 2.0 * cosine * cosine - 1.0;
        let triple = cosine * (2.0 * double - 1.0);
        let weight = TERMS[0] + TERMS[1] * cosine + TERMS[2] * double + TERMS[3] * triple;
        sum += phase * weight * Complex64::new(sample.re.into(), sample.im.into());
        weights += weight;
        phase *= back;
    }
    if weights > 0.0 { sum / weights } else { Complex64::default() }
}

/// The tones that a receiver sees beside a transmitter that sends one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ToneLines {
    /// The tone itself.
    pub tone: Complex64,
    /// The transmitter's image of it, beyond its oscillator.
    pub image: Complex64,
    /// The transmitter's oscillator.
    pub carrier: Complex64,
    /// The receiver's image of the tone, beyond its own oscillator.
    pub rx_image: Complex64,
}

impl ToneLines {
    /// Measures samples whose 0 Hz is the receiver's oscillator. The transmitter's is `offset` above it, and the tone `tone` above that;
    /// both in turns a sample.
    #[must_use]
    pub fn of(samples: &[Complex32], offset: f64, tone: f64) -> ToneLines {
        let level = |turns| line_level(samples, turns);
        ToneLines {
            tone: level(offset + tone),
            image: level(offset - tone),
            carrier: level(offset),
            rx_image: level(-offset - tone),
        }
    }

    /// The transmitter's image beside the tone. Its phase does not depend on when the samples began, as long as the tone began
    /// equally long before.
    #[must_use]
    pub fn tx_imbalance(&self) -> Complex64 {
        self.image / self.tone
    }

    /// The transmitter's carrier beside the tone.
    #[must_use]
    pub fn tx_offset(&self) -> Complex64 {
        self.carrier / self.tone
    }

    /// The receiver's image beside the tone, both of the same samples.
    #[must_use]
    pub fn rx_imbalance(&self) -> Complex64 {
        self.rx_image / self.tone.conj()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_weak_tone_is_seen_beside_a_strong_one() {
        let tone = |turns: f64, n: usize| Complex64::from_polar(1.0, std::f64::consts::TAU * turns * n as f64);
        let weak = Complex64::new(3e-5, -4e-5);
        let samples: Vec<Complex32> = (0..4096)
            .map(|n| 0.5 * tone(0.2003, n) + weak * tone(-0.1001, n))
            .map(|x| Complex32::new(x.re as f32, x.im as f32))
            .collect();
        assert!((line_level(&samples, 0.2003) - 0.5).norm() < 1e-5);
        assert!((line_level(&samples, -0.1001) - weak).norm() < 1e-6);
        assert!(line_level(&samples, 0.31).norm() < 1e-6);
        assert_eq!(line_level(&[], 0.1), Complex64::default());
    }
}
