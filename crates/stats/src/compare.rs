//! Is B less than A? Paired rounds, a margin fixed beforehand, and the courage to say "not yet known".

use serde::Serialize;

use crate::dist::t_quantile;
use crate::mean::{Moments, moments};
use crate::{Estimate, Method};

/// Confidence of every comparison.
const LEVEL: f64 = 0.95;

/// More rounds than anybody would run: beyond it a comparison counts as undecidable.
const MOST_ROUNDS: usize = 1_000_000;

/// Result of paired rounds about B against A. The estimate is the ratio B / A (geometric mean over pairs).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Comparison {
    /// B is less than A by more than the margin: the whole interval lies below it.
    Less {
        /// B / A.
        ratio: Estimate,
    },
    /// B is more than A by more than the margin: the whole interval lies above it.
    More {
        /// B / A.
        ratio: Estimate,
    },
    /// Whatever difference there is, it is smaller than the margin: the whole interval lies inside.
    Same {
        /// B / A.
        ratio: Estimate,
    },
    /// The interval reaches across the margin.
    Undecided {
        /// B / A.
        ratio: Estimate,
        /// Rounds (in all, of A and of B) after which an interval about as wide as this spread promises would decide.
        /// `None`: the ratio sits on the margin, more rounds are no help.
        rounds_needed: Option<usize>,
    },
}

impl Comparison {
    /// B / A with its interval, whatever the answer.
    pub fn ratio(&self) -> Estimate {
        match *self {
            Self::Less { ratio } | Self::More { ratio } | Self::Same { ratio } | Self::Undecided { ratio, .. } => ratio,
        }
    }
}

/// B over A, paired by block: `a[i]` and `b[i]` were measured in the same block, so that what drifts hits both.
///
/// `smallest` is the relative difference that matters (0.02 = 2 %), chosen before looking; the margin is 1 + `smallest`
/// and its reciprocal. Interval: t on the logarithms of the pairs' ratios, 95 %.
///
/// `None` below two pairs, for slices of unlike length, values that are not positive and finite, or a negative margin.
///
/// ```
/// use takt_stats::{Comparison, compare};
/// let uhd = [7.2, 7.1, 7.4, 7.3, 7.2];    // CPU ms per million samples
/// let takt = [1.9, 2.0, 1.9, 1.9, 2.0];
/// let answer = compare(&uhd, &takt, 0.02).unwrap();
/// assert!(matches!(answer, Comparison::Less { .. }));
/// assert_eq!(answer.ratio().to_string(), "0.27 [0.25, 0.28] (95 %, t of logs, n = 5)");
/// ```
pub fn compare(a: &[f64], b: &[f64], smallest: f64) -> Option<Comparison> {
    let usable = |x: &f64| x.is_finite() && *x > 0.0;
    let sound = a.len() == b.len() && a.iter().chain(b).all(usable) && smallest.is_finite() && smallest >= 0.0;
    let logs: Vec<f64> = sound.then(|| a.iter().zip(b).map(|(a, b)| b.ln() - a.ln()).collect())?;
    let Moments { mean, sd } = moments(&logs)?;
    let half_width = half_width(sd, logs.len())?;
    let (low, high) = (mean - half_width, mean + half_width);
    let ratio = Estimate::new(mean.exp(), low.exp(), high.exp(), LEVEL, logs.len(), Method::LogT)?;
    let margin = smallest.ln_1p();
    Some(if high < -margin {
        Comparison::Less { ratio }
    } else if low > margin {
        Comparison::More { ratio }
    } else if low >= -margin && high <= margin {
        Comparison::Same { ratio }
    } else {
        Comparison::Undecided { ratio, rounds_needed: rounds_for((mean.abs() - margin).abs(), sd, logs.len()) }
    })
}

/// Half the width of the interval for a mean of `n` logarithms.
fn half_width(sd: f64, n: usize) -> Option<f64> {
    Some(t_quantile(0.5 + LEVEL / 2.0, n.checked_sub(1)?)? * sd / (n as f64).sqrt())
}

/// Smallest number of rounds, more than now, whose half width fits into `room`. Widths fall with n.
fn rounds_for(room: f64, sd: f64, now: usize) -> Option<usize> {
    let decides = |n: usize| half_width(sd, n).is_some_and(|w| w < room);
    first_above(now, MOST_ROUNDS, decides)
}

/// The smallest number above `low`, at most `most`, that `holds`, if all larger ones do too: by bisection.
pub(crate) fn first_above(mut low: usize, most: usize, holds: impl Fn(usize) -> bool) -> Option<usize> {
    let mut high = most;
    if !holds(high) {
        return None;
    }
    while low + 1 < high {
        let middle = low.midpoint(high);
        if holds(middle) { high = middle } else { low = middle }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [f64; 6] = [100.0, 104.0, 98.0, 101.0, 97.0, 103.0];

    fn b(factor: f64, spread: f64) -> Vec<f64> {
        A.iter().enumerate().map(|(i, a)| a * factor * if i % 2 == 0 { 1.0 + spread } else { 1.0 - spread }).collect()
    }

    #[test]
    fn the_four_answers() {
        assert!(matches!(compare(&A, &b(0.9, 0.002), 0.02), Some(Comparison::Less { .. })));
        assert!(matches!(compare(&A, &b(1.1, 0.002), 0.02), Some(Comparison::More { .. })));
        assert!(matches!(compare(&A, &b(1.0, 0.002), 0.02), Some(Comparison::Same { .. })));
        assert!(matches!(compare(&A, &b(1.05, 0.1), 0.02), Some(Comparison::Undecided { .. })));
    }

    #[test] // drift that hits both halves of a pair alike is no difference and no noise
    fn pairing_takes_out_drift() {
        let drifting: Vec<f64> = (0..6).map(|i| 100.0 * 1.3_f64.powi(i)).collect();
        let b: Vec<f64> = drifting.iter().map(|a| a * 0.95).collect();
        let Some(Comparison::Less { ratio }) = compare(&drifting, &b, 0.02) else { panic!("decided") };
        assert!((ratio.point() - 0.95).abs() < 1e-9 && ratio.high() - ratio.low() < 1e-9, "{ratio:?}");
    }

    #[test]
    fn the_promised_number_of_rounds_decides_and_one_less_does_not() {
        let Some(Comparison::Undecided { ratio, rounds_needed: Some(n) }) = compare(&A, &b(1.05, 0.1), 0.02) else {
            panic!("undecided, and decidable")
        };
        let logs: Vec<f64> = A.iter().zip(b(1.05, 0.1)).map(|(a, b)| (b / a).ln()).collect();
        let sd = moments(&logs).expect("six").sd;
        let room = (ratio.point().ln() - 0.02_f64.ln_1p()).abs();
        assert!(n > A.len());
        assert!(half_width(sd, n).expect("n") < room && half_width(sd, n - 1).expect("n") >= room, "{n}");
    }

    #[test]
    fn on_the_margin_no_number_of_rounds_helps() {
        let on_margin: Vec<f64> = A.iter().map(|a| a * 1.02).collect();
        let mut jittered = on_margin;
        for (i, x) in jittered.iter_mut().enumerate() {
            *x *= (if i % 2 == 0 { 0.01_f64 } else { -0.01 }).exp();
        }
        assert!(matches!(compare(&A, &jittered, 0.02), Some(Comparison::Undecided { rounds_needed: None, .. })));
    }

    #[test]
    fn no_ratio_is_made_of_zeros() {
        assert_eq!(compare(&[1.0, 0.0], &[1.0, 1.0], 0.02), None);
        assert_eq!(compare(&[1.0, 1.0], &[1.0], 0.02), None);
        assert_eq!(compare(&[1.0], &[1.0], 0.02), None);
        assert_eq!(compare(&[1.0, 2.0], &[1.0, 2.0], f64::NAN), None);
    }
}
