//! The mean over rounds with Student's t interval (W. S. Gosset, Biometrika 6, 1908).

use crate::dist::t_quantile;
use crate::{Estimate, Method};

/// Mean over rounds, Student's t, in the unit of `rounds`. `level` is 0.95 for a 95 % interval.
///
/// `None` below two rounds, for a value that is not finite, or for a level outside 0 to 1: nothing is invented.
/// The interval assumes that rounds are independent ([`crate::order_warning`] looks) and not wildly skewed.
///
/// ```
/// use takt_stats::mean;
/// let lost_share = [0.45, 0.47, 0.49];
/// assert_eq!(mean(&lost_share, 0.95).unwrap().to_string(), "0.47 [0.42, 0.52] (95 %, t, n = 3)");
/// assert_eq!(mean(&[0.45], 0.95), None, "one round has no interval");
/// ```
pub fn mean(rounds: &[f64], level: f64) -> Option<Estimate> {
    let Moments { mean, sd } = moments(rounds)?;
    let n = rounds.len();
    let half_width = t_quantile(0.5 + level / 2.0, n - 1)? * sd / (n as f64).sqrt();
    Estimate::new(mean, mean - half_width, mean + half_width, level, n, Method::T)
}

/// Sample mean and standard deviation (n - 1).
pub(crate) struct Moments {
    pub(crate) mean: f64,
    pub(crate) sd: f64,
}

/// `None` below two values or where a value or a sum is not finite. Two passes: no cancellation.
pub(crate) fn moments(values: &[f64]) -> Option<Moments> {
    let n = values.len() as f64;
    if values.len() < 2 {
        return None;
    }
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    let sd = (squares / (n - 1.0)).sqrt();
    (mean.is_finite() && sd.is_finite()).then_some(Moments { mean, sd })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Student 1908, extra hours of sleep; the interval is what R's t.test prints for these ten pairs
    fn the_interval_agrees_with_students_own_data() {
        let hours = [1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4];
        let e = mean(&hours, 0.95).expect("ten");
        assert!((e.point() - 1.58).abs() < 1e-12);
        assert!((e.low() - 0.700_114_2).abs() < 1e-6 && (e.high() - 2.459_885_8).abs() < 1e-6, "{e:?}");
    }

    #[test]
    fn equal_rounds_have_no_width_and_one_round_no_interval() {
        let e = mean(&[2.0; 4], 0.95).expect("four");
        assert_eq!((e.low(), e.point(), e.high()), (2.0, 2.0, 2.0));
        assert_eq!(mean(&[2.0], 0.95), None);
        assert_eq!(mean(&[], 0.95), None);
    }

    #[test]
    fn what_is_not_finite_gives_none() {
        assert_eq!(mean(&[1.0, f64::NAN], 0.95), None);
        assert_eq!(mean(&[1.0, f64::INFINITY], 0.95), None);
        assert_eq!(mean(&[f64::MAX, f64::MAX], 0.95), None, "the sum overflows");
        assert_eq!(mean(&[1.0, 2.0], 1.0), None, "no interval is certain");
        assert_eq!(mean(&[1.0, 2.0], 0.0), None);
    }
}
