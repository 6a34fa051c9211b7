//! The angle of a sum of noisy products, drawn towards zero as far as the noise makes it doubtful.
//!
//! Noise alone gives any angle, and a receiver that believes it turns its window or oscillator at random in each deep fade.
//! Angles near zero are the likely ones in a receiver that tracks. For an angle of variance [`SPREAD`], and noise of a
//! variance that the length of the sum tells, the likeliest angle is that of the sum and a real addend.

use num_complex::Complex64;

/// The variance of angles before anything is received, in square radians.
const SPREAD: f64 = 0.5;

/// The likeliest angle of `sum`, radians. Without noise its length would be `power`; it consists of so many `independent`
/// products.
pub(super) fn likely_angle(sum: Complex64, power: f64, independent: f64) -> f64 {
    (sum + doubt(sum.norm(), power, independent)).arg()
}

/// The addend.
pub(super) fn doubt(length: f64, power: f64, independent: f64) -> f64 {
    if power <= 0.0 {
        return 0.0;
    }
    let noise = (power * power - length * length).max(0.0) / independent;
    let least = power / independent.sqrt();
    noise / (2.0 * SPREAD * length.max(least))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clear_angle_stays_and_a_doubtful_one_shrinks() {
        let sum = Complex64::from_polar(40.0, 1.0);
        assert!((likely_angle(sum, 40.0, 40.0) - 1.0).abs() < 1e-9);
        let doubtful = likely_angle(sum, 400.0, 40.0);
        assert!(doubtful > 0.0 && doubtful < 0.6, "{doubtful}");
        assert_eq!(likely_angle(Complex64::default(), 0.0, 40.0), 0.0);
    }
}
