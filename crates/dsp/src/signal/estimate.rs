//! Contents of a signal: a tone by least squares, and a power spectrum. For judging, not for the sample path: they
//! allocate.

use num_complex::{Complex32, Complex64};

/// A tone found in a block of samples: `amplitude * exp(j (phase_rad + 2 pi frequency * n))`, n = 0 at the first sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToneEstimate {
    /// Cycles a sample, -0.5 to 0.5.
    pub frequency: f64,
    /// Full scale 1.0.
    pub amplitude: f64,
    /// Phase at the first sample, -pi to pi.
    pub phase_rad: f64,
    /// Mean power of what is left when the tone is taken away.
    pub residual_power: f64,
}

impl ToneEstimate {
    /// The tone over everything else, in dB.
    #[must_use]
    pub fn snr_db(&self) -> f64 {
        10.0 * (self.amplitude.powi(2) / self.residual_power).log10()
    }
}

/// Fits one tone to `samples`: the highest bin of a Fourier transform, refined to the maximum of the periodogram, which is
/// the least-squares fit. `None` below 8 samples or if they are all zero.
///
/// ```
/// use takt_base::{Complex32, Tick, TickRate};
/// use takt_dsp::{Rotation, estimate_tone, tone};
/// let clock = TickRate::from_hz(100_000_000).unwrap();
/// let mut x = [Complex32::default(); 1000];
/// tone(Rotation::from_hz(123_456.0, clock), 0.25, Tick(0), 100, &mut x);
/// let found = estimate_tone(&x).unwrap();
/// assert!((found.frequency * 1e6 - 123_456.0).abs() < 0.1 && (found.amplitude - 0.25).abs() < 1e-6);
/// ```
#[must_use]
pub fn estimate_tone(samples: &[Complex32]) -> Option<ToneEstimate> {
    if samples.len() < 8 {
        return None;
    }
    let x: Vec<Complex64> = samples.iter().map(|x| Complex64::new(f64::from(x.re), f64::from(x.im))).collect();
    let n = x.len();
    // Twice the length: the highest bin lies within a quarter of a cycle of the maximum, well inside its main lobe.
    let mut bins = x.clone();
    bins.resize(2 * n, Complex64::default());
    takt_fft::forward64(2 * n).process(&mut bins);
    let peak = (0..bins.len()).max_by(|&a, &b| bins[a].norm_sqr().total_cmp(&bins[b].norm_sqr()))?;
    let coarse = peak as f64 / (2 * n) as f64;
    let half_bin = 0.5 / n as f64;
    let frequency = maximum(coarse - half_bin, coarse + half_bin, |f| correlate(&x, f).norm_sqr());
    let fitted = correlate(&x, frequency) / n as f64;
    let total = x.iter().map(Complex64::norm_sqr).sum::<f64>() / n as f64;
    if total == 0.0 {
        return None;
    }
    let residual =
        x.iter().enumerate().map(|(k, x)| (x - fitted * turn(frequency, k)).norm_sqr()).sum::<f64>() / n as f64;
    Some(ToneEstimate {
        frequency: frequency - frequency.round(),
        amplitude: fitted.norm(),
        phase_rad: fitted.arg(),
        residual_power: residual,
    })
}

/// Power in each of `bins` frequencies, from -0.5 cycles a sample upwards, averaged over half-overlapping blocks under a
/// Blackman-Harris window, scaled so that a tone of amplitude 1 in the middle of a bin reads 1.0.
///
/// # Panics
/// If there are fewer samples than bins, or no bins.
#[must_use]
pub fn power_spectrum(samples: &[Complex32], bins: usize) -> Vec<f64> {
    assert!(bins > 0 && samples.len() >= bins, "a spectrum of {bins} bins needs as many samples");
    let window: Vec<f64> = (0..bins).map(|k| blackman_harris(k as f64 / bins as f64)).collect();
    let gain = window.iter().sum::<f64>().powi(2);
    let fft = takt_fft::forward64(bins);
    let mut power = vec![0.0; bins];
    let hop = (bins / 2).max(1);
    let blocks = (samples.len() - bins) / hop + 1;
    for start in (0..blocks).map(|block| block * hop) {
        let mut block: Vec<Complex64> = samples[start..start + bins]
            .iter()
            .zip(&window)
            .map(|(x, w)| Complex64::new(f64::from(x.re), f64::from(x.im)) * w)
            .collect();
        fft.process(&mut block);
        for (k, x) in block.iter().enumerate() {
            power[(k + bins / 2) % bins] += x.norm_sqr() / gain / blocks as f64;
        }
    }
    power
}

/// The 4-term Blackman-Harris window (92 dB), x from 0 to 1.
fn blackman_harris(x: f64) -> f64 {
    let angle = std::f64::consts::TAU * x;
    0.35875 - 0.48829 * angle.cos() + 0.14128 * (2.0 * angle).cos() - 0.01168 * (3.0 * angle).cos()
}

fn turn(frequency: f64, n: usize) -> Complex64 {
    // The product in turns first: only its fraction matters, and there it is still precise.
    let turns = frequency * n as f64;
    Complex64::from_polar(1.0, (turns - turns.round()) * std::f64::consts::TAU)
}

fn correlate(x: &[Complex64], frequency: f64) -> Complex64 {
    x.iter().enumerate().map(|(n, x)| x * turn(frequency, n).conj()).sum()
}

/// Argument for which `f` is highest between `low` and `high`, if it has one maximum there: golden sections.
fn maximum(mut low: f64, mut high: f64, f: impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut a, mut b) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
    let (mut at_a, mut at_b) = (f(a), f(b));
    for _ in 0..40 {
        if at_a > at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - GOLDEN * (high - low);
            at_a = f(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + GOLDEN * (high - low);
            at_b = f(b);
        }
    }
    (low + high) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tone(frequency: f64, amplitude: f64, phase: f64, n: usize) -> Vec<Complex32> {
        (0..n)
            .map(|k| {
                let x = turn(frequency, k) * Complex64::from_polar(amplitude, phase);
                Complex32::new(x.re as f32, x.im as f32)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn a_tone_is_found_wherever_it_lies(f in -0.5f64..0.5, amplitude in 1e-3f64..1.0, phase in -3.1f64..3.1, n in 64usize..3000) {
            let found = estimate_tone(&tone(f, amplitude, phase, n)).unwrap();
            let off = found.frequency - f;
            prop_assert!((off - off.round()).abs() < 1e-4 / n as f64, "{found:?}");
            prop_assert!((found.amplitude / amplitude - 1.0).abs() < 1e-6);
            prop_assert!((found.phase_rad - phase).abs() < 1e-3);
            prop_assert!(found.snr_db() > 80.0);
        }
    }

    #[test]
    fn noise_limits_the_estimate_as_theory_says() {
        let (n, amplitude, noise_power) = (4096, 0.5, 1e-3);
        let mut x = tone(0.1234, amplitude, 1.0, n);
        let mut disturbance = x.clone();
        crate::noise(3, noise_power as f32, takt_base::Tick(0), 1, &mut disturbance);
        x.iter_mut().zip(&disturbance).for_each(|(x, d)| *x += d);
        let found = estimate_tone(&x).unwrap();
        // Cramer-Rao: the deviation of the amplitude is sqrt(noise / 2n).
        assert!((found.amplitude - amplitude).abs() < 5.0 * (noise_power / 2.0 / n as f64).sqrt());
        assert!((found.residual_power / noise_power - 1.0).abs() < 0.1);
    }

    #[test]
    fn silence_and_scraps_have_no_tone() {
        assert_eq!(estimate_tone(&[Complex32::new(1.0, 0.0); 7]), None);
        assert_eq!(estimate_tone(&[Complex32::default(); 100]), None);
    }

    #[test]
    fn a_spectrum_shows_a_tone_in_its_bin_at_its_power() {
        let power = power_spectrum(&tone(-0.25, 0.5, 0.3, 4096), 256);
        assert!((power[64] - 0.25).abs() < 1e-6);
        assert!(power.iter().enumerate().all(|(k, p)| k.abs_diff(64) < 4 || *p < 0.25e-9));
    }
}
