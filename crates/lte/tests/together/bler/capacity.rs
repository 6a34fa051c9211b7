//! The capacity of the bits of a constellation in white Gaussian noise: the generalised mutual information of bit-interleaved coded
//! modulation with max-log soft values (Caire, Taricco, Biglieri, 1998; Martinez et al., 2009), by numerical integration.

use num_complex::Complex32;
use takt_dsp::lte::{Modulation, modulate};

/// The receiver's treatment of a soft value, which is a log-likelihood ratio.
pub type Quantiser = fn(f64) -> f64;

/// The points of an axis, with the bits that choose them.
fn axis(modulation: Modulation) -> Vec<(f64, Vec<u8>)> {
    let levels = modulation.bits() / 2;
    let point = |number: usize| {
        let digits: Vec<u8> = (0..levels).map(|i| (number >> i & 1) as u8).collect();
        let both: Vec<u8> = digits.iter().flat_map(|&digit| [digit, 0]).collect();
        let mut symbol = [Complex32::default()];
        modulate(modulation, &both, &mut symbol);
        (f64::from(symbol[0].re), digits)
    };
    (0..1 << levels).map(point).collect()
}

/// Bits a symbol that can be carried at a ratio of signal to noise. The best factor of the soft values is chosen, since the turbo
/// decoder does not depend on it. `steps`: of the integral, either way.
pub fn capacity(modulation: Modulation, snr_db: f64, steps: i32, quantiser: Quantiser) -> f64 {
    let noise = 10f64.powf(-snr_db / 10.0);
    let values = soft_values(modulation, noise, steps, quantiser);
    let information = |factor: f64| {
        let lost: f64 = values.iter().map(|&(weight, llr)| weight * (-factor * llr).exp().ln_1p()).sum();
        modulation.bits() as f64 - 2.0 * lost / std::f64::consts::LN_2
    };
    (8..=24).map(|n| information(f64::from(n) / 16.0)).fold(f64::NEG_INFINITY, f64::max)
}

/// Soft values of all bits of an axis, positive if right, and how often they are met.
fn soft_values(modulation: Modulation, noise: f64, steps: i32, quantiser: Quantiser) -> Vec<(f64, f64)> {
    const REACH: f64 = 6.0;
    let (points, sigma) = (axis(modulation), (noise / 2.0).sqrt());
    let mut values = Vec::new();
    for (point, bits) in &points {
        for step in -steps..=steps {
            let deviation = REACH * f64::from(step) / f64::from(steps);
            let density = (-deviation * deviation / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
            let weight = density * REACH / f64::from(steps) / points.len() as f64;
            let received = point + sigma * deviation;
            for (level, &bit) in bits.iter().enumerate() {
                let nearest = |wanted: u8| {
                    let those = points.iter().filter(|(_, bits)| bits[level] == wanted);
                    those.map(|(point, _)| (received - point).powi(2)).fold(f64::INFINITY, f64::min)
                };
                let llr = (nearest(1 - bit) - nearest(bit)) / noise;
                values.push((weight, quantiser(llr)));
            }
        }
    }
    values
}

/// The ratio of signal to noise in dB at which so many bits a symbol can be carried.
pub fn required_snr_db(modulation: Modulation, bits_a_symbol: f64, quantiser: Quantiser) -> f64 {
    let (mut low, mut high) = (-15.0, 40.0);
    while high - low > 1e-3 {
        let middle = (low + high) / 2.0;
        if capacity(modulation, middle, 300, quantiser) < bits_a_symbol { low = middle } else { high = middle }
    }
    high
}

/// The same with any constellation.
pub fn shannon_snr_db(bits_a_symbol: f64) -> f64 {
    10.0 * (bits_a_symbol.exp2() - 1.0).log10()
}
