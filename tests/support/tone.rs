//! Powers beside a tone in samples that a radio sent or received.

use takt_base::Complex32;

/// Powers at a tone's mirror frequency and at the oscillator, in the middle of the band.
#[derive(Debug)]
pub struct Spurs {
    /// The tone's, dB of full scale.
    pub tone_db: f64,
    /// In dB of the tone's.
    pub image_db: f64,
    /// In dB of the tone's.
    pub carrier_db: f64,
}

impl Spurs {
    /// Beside a tone of so many turns a sample, of which the samples hold whole ones.
    pub fn of(samples: &[Complex32], turns: f64) -> Spurs {
        let [tone_db, image_db, carrier_db] = [turns, -turns, 0.0].map(|turns| level_db(samples, turns));
        Spurs { tone_db, image_db: image_db - tone_db, carrier_db: carrier_db - tone_db }
    }
}

/// The samples of a file of fc32; what is left of the last one is left out.
pub fn fc32(bytes: &[u8]) -> Vec<Complex32> {
    let float = |bytes: &[u8]| bytes.try_into().map_or(0.0, f32::from_le_bytes);
    bytes.chunks_exact(8).map(|x| Complex32::new(float(&x[..4]), float(&x[4..]))).collect()
}

/// Level of a tone of so many turns a sample, dB of full scale.
fn level_db(samples: &[Complex32], turns: f64) -> f64 {
    let (re, im) = samples.iter().enumerate().fold((0.0, 0.0), |(re, im), (n, x)| {
        let (sin, cos) = (-std::f64::consts::TAU * turns * n as f64).sin_cos();
        let [x, y] = [x.re, x.im].map(f64::from);
        (re + x * cos - y * sin, im + x * sin + y * cos)
    });
    20.0 * (f64::hypot(re, im) / samples.len() as f64).max(1e-9).log10()
}
