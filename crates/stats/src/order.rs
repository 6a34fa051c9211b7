//! Does the order of the rounds matter? If it does, they are not independent, and intervals over them are too narrow.

use std::fmt;

use serde::Serialize;

use crate::dist::{normal_quantile, t_quantile};
use crate::mean::moments;
use crate::{Estimate, Method};

/// Confidence before a warning is given: many quantities are looked at, so each must rarely cry wolf.
const LEVEL: f64 = 0.99;

/// Fewest rounds in which an order can be seen.
const MIN_ROUNDS: usize = 6;

/// Correlation of each round with the one before it, -1 to 1 (about -1/n for independent rounds). In order of time.
/// `None` below three rounds, for rounds that are all alike or not finite.
///
/// ```
/// let alternating = [1.0, 2.0, 1.0, 2.0, 1.0, 2.0];
/// assert!(takt_stats::lag1_autocorrelation(&alternating).unwrap() < -0.8);
/// assert_eq!(takt_stats::lag1_autocorrelation(&[1.0, 1.0, 1.0]), None);
/// ```
pub fn lag1_autocorrelation(rounds: &[f64]) -> Option<f64> {
    let mean = moments(rounds).filter(|_| rounds.len() >= 3)?.mean;
    let product = |(x, y): (&f64, &f64)| (x - mean) * (y - mean);
    let neighbours: f64 = rounds.iter().zip(rounds.iter().skip(1)).map(product).sum();
    let squares: f64 = rounds.iter().map(|x| (x - mean).powi(2)).sum();
    Some(neighbours / squares).filter(|r| r.is_finite())
}

/// Change from one round to the next: slope of the least-squares line, t interval on n - 2 degrees of freedom. In order
/// of time, in the unit of `rounds` per round. `None` below three rounds or for values that are not finite.
///
/// ```
/// let warming_up = [10.0, 11.1, 12.0, 12.9, 14.1, 15.0];
/// assert_eq!(takt_stats::drift(&warming_up, 0.95).unwrap().to_string(), "1.00 [0.94, 1.05] (95 %, t, n = 6)");
/// ```
pub fn drift(rounds: &[f64], level: f64) -> Option<Estimate> {
    let n = rounds.len();
    let mean = moments(rounds).filter(|_| n >= 3)?.mean;
    let middle = (n - 1) as f64 / 2.0;
    let position = |i: usize| i as f64 - middle;
    let spread: f64 = (0..n).map(|i| position(i).powi(2)).sum();
    let slope = rounds.iter().enumerate().map(|(i, y)| position(i) * (y - mean)).sum::<f64>() / spread;
    let residual = |(i, y): (usize, &f64)| (y - mean - slope * position(i)).powi(2);
    let variance = rounds.iter().enumerate().map(residual).sum::<f64>() / (n - 2) as f64;
    let half_width = t_quantile(0.5 + level / 2.0, n - 2)? * (variance / spread).sqrt();
    Estimate::new(slope, slope - half_width, slope + half_width, level, n, Method::T)
}

/// The order of the rounds shows in their values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum OrderWarning {
    /// They rise or fall from first to last.
    Drift {
        /// Change from one round to the next, 99 %.
        per_round: Estimate,
        /// Change over the whole run as a share of the mean; `None` if the mean is 0.
        over_run: Option<f64>,
    },
    /// A round resembles the one before it.
    Neighbours {
        /// Correlation with the round before.
        lag1: f64,
        /// Bound below which chance alone stays, 99 %.
        bound: f64,
    },
}

/// Looks for drift first, then for likeness of neighbours; each at 99 %, so that one series in fifty warns by chance.
/// `None` when nothing shows, and below six rounds, where nothing could.
///
/// ```
/// let cooling = [31.0, 30.2, 29.1, 28.3, 27.0, 26.2];
/// let warning = takt_stats::order_warning(&cooling).unwrap();
/// assert_eq!(warning.to_string(), "the rounds drift: -17 % from first to last; the host changed while it was measured");
/// ```
pub fn order_warning(rounds: &[f64]) -> Option<OrderWarning> {
    let n = rounds.len();
    let mean = moments(rounds).filter(|_| n >= MIN_ROUNDS)?.mean;
    let per_round = drift(rounds, LEVEL)?;
    if per_round.low() > 0.0 || per_round.high() < 0.0 {
        let over_run = Some(per_round.point() * (n - 1) as f64 / mean).filter(|x| x.is_finite());
        return Some(OrderWarning::Drift { per_round, over_run });
    }
    let lag1 = lag1_autocorrelation(rounds)?;
    // Moran's moments for independent rounds: mean -1/n, variance (n - 2)^2 / (n^2 (n - 1))
    let n = n as f64;
    let bound = -1.0 / n + normal_quantile(LEVEL)? * (n - 2.0) / (n * (n - 1.0).sqrt());
    (lag1 > bound).then_some(OrderWarning::Neighbours { lag1, bound })
}

/// One sentence for the reader of a report.
impl fmt::Display for OrderWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drift { over_run: Some(share), .. } => {
                let percent = share * 100.0;
                write!(
                    f,
                    "the rounds drift: {percent:+.0} % from first to last; the host changed while it was measured"
                )
            }
            Self::Drift { over_run: None, per_round } => {
                write!(f, "the rounds drift by {per_round} a round; the host changed while it was measured")
            }
            Self::Neighbours { lag1, .. } => {
                write!(f, "each round resembles the one before (correlation {lag1:.2}); intervals are too narrow")
            }
        }
    }
}
