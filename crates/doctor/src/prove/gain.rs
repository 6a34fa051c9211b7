//! The effect of a change, from pairs of rounds.

use crate::Measure;
use serde::Serialize;
use takt_stats::{Comparison, Estimate, compare, mean};

use super::Pair;

/// The smallest relative difference of times that counts.
const SMALLEST_RATIO: f64 = 0.02;
/// The smallest difference of shares that counts.
const SMALLEST_SHARE: f64 = 0.001;

/// The effect of the change on the measured value; less is better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Gain {
    pub answer: ProveAnswer,
    /// Ratio of with to without the change (times), or difference (shares); 95 %.
    #[serde(flatten)]
    pub size: Size,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "as", rename_all = "snake_case")]
pub enum Size {
    /// With divided by without: mean of the ratio's logarithm over pairs.
    Ratio { estimate: Estimate },
    /// With minus without: mean over pairs.
    Difference { estimate: Estimate },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProveAnswer {
    /// The whole interval is on the better side.
    Helps,
    /// The whole interval is on the worse side.
    Harms,
    /// Any effect is too small to matter.
    Nothing,
    /// The interval covers more than one of these.
    Unknown,
}

impl Gain {
    /// `None` for values that cannot be compared, or fewer than two pairs.
    pub(super) fn of(measure: Measure, pairs: &[Pair]) -> Option<Gain> {
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().map(|pair| (pair.without, pair.with)).unzip();
        if measure.is_share() {
            let differences: Vec<f64> = b.iter().zip(&a).map(|(b, a)| b - a).collect();
            let estimate = mean(&differences, 0.95)?;
            return Some(Gain { answer: of_difference(&estimate), size: Size::Difference { estimate } });
        }
        let compared = compare(&a, &b, SMALLEST_RATIO)?;
        let answer = match compared {
            Comparison::Less { .. } => ProveAnswer::Helps,
            Comparison::More { .. } => ProveAnswer::Harms,
            Comparison::Same { .. } => ProveAnswer::Nothing,
            Comparison::Undecided { .. } => ProveAnswer::Unknown,
        };
        Some(Gain { answer, size: Size::Ratio { estimate: compared.ratio() } })
    }
}

fn of_difference(estimate: &Estimate) -> ProveAnswer {
    if estimate.high() < -SMALLEST_SHARE {
        ProveAnswer::Helps
    } else if estimate.low() > SMALLEST_SHARE {
        ProveAnswer::Harms
    } else if estimate.low() >= -SMALLEST_SHARE && estimate.high() <= SMALLEST_SHARE {
        ProveAnswer::Nothing
    } else {
        ProveAnswer::Unknown
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(measure: Measure, pairs: &[(f64, f64)]) -> ProveAnswer {
        let pairs: Vec<Pair> = pairs.iter().map(|&(without, with)| Pair { without, with }).collect();
        Gain::of(measure, &pairs).unwrap().answer
    }

    #[test]
    fn times_are_compared_by_their_ratio() {
        let of = |pairs: &[(f64, f64)]| answer(Measure::WakeUp, pairs);
        assert_eq!(of(&[(100.0, 50.0), (110.0, 54.0), (90.0, 46.0)]), ProveAnswer::Helps);
        assert_eq!(of(&[(50.0, 100.0), (54.0, 110.0), (46.0, 90.0)]), ProveAnswer::Harms);
        assert_eq!(of(&[(100.0, 100.1), (90.0, 90.0), (80.0, 80.1)]), ProveAnswer::Nothing);
        assert_eq!(of(&[(100.0, 50.0), (50.0, 100.0), (90.0, 90.0)]), ProveAnswer::Unknown);
    }

    #[test]
    fn of_datagrams_that_take_three_quarters_the_gain_says_so_with_its_interval() {
        let pairs = [(4000.0, 3000.0), (4400.0, 3300.0), (3600.0, 2700.0), (4100.0, 3080.0)];
        let pairs = pairs.map(|(without, with)| Pair { without, with });
        let gain = Gain::of(Measure::Datagram, &pairs).unwrap();
        let Size::Ratio { estimate } = gain.size else { panic!("times are compared by their ratio: {gain:?}") };
        assert_eq!(gain.answer, ProveAnswer::Helps);
        assert!((estimate.point() - 0.75).abs() < 0.001, "{estimate:?}");
        assert!(estimate.low() < 0.75 && 0.75 < estimate.high() && estimate.high() < 0.76, "{estimate:?}");
        // A hundredth is less than anybody would notice, and the interval is narrow.
        let pairs = pairs.map(|pair| Pair { with: pair.without * 0.99, ..pair });
        assert_eq!(Gain::of(Measure::Datagram, &pairs).unwrap().answer, ProveAnswer::Nothing);
    }

    #[test]
    fn shares_are_compared_by_their_difference_and_may_be_zero() {
        let of = |pairs: &[(f64, f64)]| answer(Measure::Loss, pairs);
        assert_eq!(of(&[(0.05, 0.0), (0.04, 0.0), (0.05, 0.0)]), ProveAnswer::Helps);
        assert_eq!(of(&[(0.0, 0.0), (0.0, 0.0)]), ProveAnswer::Nothing);
        assert_eq!(of(&[(0.0, 0.05), (0.0, 0.04), (0.0, 0.05)]), ProveAnswer::Harms);
        assert_eq!(of(&[(0.5, 0.0), (0.0, 0.5)]), ProveAnswer::Unknown);
    }

    #[test]
    fn a_time_of_nothing_cannot_be_compared() {
        let pairs = [Pair { without: 0.0, with: 1.0 }, Pair { without: 1.0, with: 1.0 }];
        assert_eq!(Gain::of(Measure::SpinGap, &pairs), None);
    }
}
