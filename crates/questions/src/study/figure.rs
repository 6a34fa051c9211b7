//! [`Figure`]: a number of a study with every round behind it.

use serde::{Deserialize, Serialize};
use takt_lab::store::{RoundRow, RoundState};
use takt_stats::{Estimate, mean};

/// Level of every interval.
const LEVEL: f64 = 0.95;

/// A number, its interval, and the rounds it rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Mean of the rounds that count; `None` without one.
    pub value: Option<f64>,
    /// The same with its interval; `None` below two rounds.
    pub estimate: Option<Estimate>,
    pub rounds: Vec<RoundValue>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundValue {
    pub round_id: i64,
    pub value: f64,
    /// Whether the figure rests on it.
    pub counts: bool,
}

impl Figure {
    /// Figure of one point's rounds; those of which `read` knows nothing are left out.
    pub(crate) fn of(rounds: &[&RoundRow], read: impl Fn(&RoundRow) -> Option<f64>) -> Figure {
        let value = |round: &&RoundRow| {
            let value = read(round).filter(|value| value.is_finite())?;
            Some(RoundValue { round_id: round.id, value, counts: round.state == RoundState::Valid })
        };
        Figure::from_rounds(rounds.iter().filter_map(value).collect())
    }

    #[must_use]
    pub fn from_rounds(rounds: Vec<RoundValue>) -> Figure {
        let values: Vec<f64> = rounds.iter().filter(|round| round.counts).map(|round| round.value).collect();
        let value = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        Figure { value, estimate: mean(&values, LEVEL), rounds }
    }

    /// The value, with its interval where it has one: `0.98 [0.93, 1.04]`; `None` without a value.
    pub(crate) fn shown(&self, show: impl Fn(f64) -> String) -> Option<String> {
        match self.estimate {
            Some(e) => Some(format!("{} [{}, {}]", show(e.point()), show(e.low()), show(e.high()))),
            None => self.value.map(show),
        }
    }

    #[must_use]
    pub fn counted(&self) -> usize {
        self.rounds.iter().filter(|round| round.counts).count()
    }

    /// The same in another unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Figure {
        Figure {
            value: self.value.map(|value| value * factor),
            estimate: self.estimate.and_then(|estimate| estimate.scaled(factor)),
            rounds: self.rounds.iter().map(|round| RoundValue { value: round.value * factor, ..*round }).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_rounds_that_count_make_the_value_and_all_are_kept() {
        let round = |value, counts| RoundValue { round_id: 1, value, counts };
        let figure = Figure::from_rounds(vec![round(1.0, true), round(3.0, true), round(90.0, false)]);
        assert_eq!((figure.value, figure.counted(), figure.rounds.len()), (Some(2.0), 2, 3));
        assert_eq!(figure.estimate.map(|e| e.point()), Some(2.0));
        assert_eq!(figure.scaled(10.0).value, Some(20.0));
        let none = Figure::from_rounds(vec![round(1.0, false)]);
        assert_eq!((none.value, none.estimate), (None, None));
    }
}
