//! Did it change? Two sets of rounds that were not measured together.

use serde::Serialize;

use crate::dist::t_quantile;
use crate::mean::{Moments, moments};
use crate::{Estimate, Method};

/// Result of two runs about a change from A to B.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Contrast {
    /// Every round is above zero: the ratio B / A of geometric means.
    Ratio {
        /// B / A.
        estimate: Estimate,
    },
    /// Some round is zero or below: the difference B - A of means.
    Difference {
        /// B - A, in the unit of the rounds.
        estimate: Estimate,
    },
}

impl Contrast {
    /// The estimate, whatever it is of.
    pub fn estimate(&self) -> Estimate {
        match *self {
            Self::Ratio { estimate } | Self::Difference { estimate } => estimate,
        }
    }

    /// Whether the interval leaves out "no change".
    pub fn is_change(&self) -> bool {
        let (none, e) = match self {
            Self::Ratio { estimate } => (1.0, estimate),
            Self::Difference { estimate } => (0.0, estimate),
        };
        e.low() > none || e.high() < none
    }
}

/// From the rounds of A to those of B, which were not paired (another day, another order): B. L. Welch's interval
/// (Biometrika 34, 1947), the degrees of freedom rounded down. Unlike [`compare`](crate::compare), drift between the runs is
/// taken for a change; only blocks of one run can tell them apart.
///
/// `None` below two rounds of either, for values that are not finite, or a level outside 0 to 1.
///
/// ```
/// let before = [101.0, 99.0, 100.0, 100.0, 102.0];
/// let after = [90.0, 91.0, 89.0, 90.0, 90.0];
/// let change = takt_stats::contrast(&before, &after, 0.95).unwrap();
/// assert!(change.is_change());
/// assert_eq!(change.estimate().to_string(), "0.90 [0.88, 0.91] (95 %, Welch, n = 10)");
/// ```
pub fn contrast(a: &[f64], b: &[f64], level: f64) -> Option<Contrast> {
    if a.iter().chain(b).all(|x| *x > 0.0) {
        let logs = |rounds: &[f64]| rounds.iter().map(|x| x.ln()).collect::<Vec<_>>();
        let estimate = welch(&logs(a), &logs(b), level)?.map(f64::exp)?;
        return Some(Contrast::Ratio { estimate });
    }
    Some(Contrast::Difference { estimate: welch(a, b, level)? })
}

fn welch(a: &[f64], b: &[f64], level: f64) -> Option<Estimate> {
    let Moments { mean: of_a, sd: spread_a } = moments(a)?;
    let Moments { mean: of_b, sd: spread_b } = moments(b)?;
    let (var_a, var_b) = (spread_a.powi(2) / a.len() as f64, spread_b.powi(2) / b.len() as f64);
    let variance = var_a + var_b;
    let df = variance.powi(2) / (var_a.powi(2) / (a.len() - 1) as f64 + var_b.powi(2) / (b.len() - 1) as f64);
    // Two sets without any spread: nothing is uncertain by what was seen.
    let df = if df.is_finite() { df.floor().max(1.0) as usize } else { a.len() + b.len() - 2 };
    let half_width = t_quantile(0.5 + level / 2.0, df)? * variance.sqrt();
    let point = of_b - of_a;
    Estimate::new(point, point - half_width, point + half_width, level, a.len() + b.len(), Method::Welch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_make_it_a_difference() {
        let a = [0.0, 1.0, 0.0, 2.0, 1.0];
        let b = [0.0, 0.0, 0.0, 0.0, 0.0];
        let Some(Contrast::Difference { estimate }) = contrast(&a, &b, 0.95) else { panic!("a difference") };
        assert!((estimate.point() + 0.8).abs() < 1e-12 && estimate.high() > 0.0);
        assert!(!contrast(&b, &b, 0.95).is_some_and(|same| same.is_change()));
    }

    #[test]
    fn too_little_is_no_contrast() {
        assert_eq!(contrast(&[1.0], &[1.0, 2.0], 0.95), None);
        assert_eq!(contrast(&[1.0, f64::NAN], &[1.0, 2.0], 0.95), None);
        assert_eq!(contrast(&[1.0, 2.0], &[1.0, 2.0], 1.0), None);
    }
}
