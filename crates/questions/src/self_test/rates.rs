//! How often the verdict errs, and how often it may.

use serde::{Deserialize, Serialize};
use takt_stats::{Estimate, proportion};

use super::{Answers, TableRow};
use crate::check::CheckAnswer;
use crate::check::rates::LEVEL;

/// How often the verdict may err, shares from 0 to 1; fixed before any host was tried.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Goals {
    /// "Yes" for a host that loses.
    pub wrong_yes_max: f64,
    /// "No" for one that keeps up.
    pub wrong_no_max: f64,
    /// "Not known".
    pub not_known_max: f64,
}

/// For hosts of four cores and more.
pub const GOALS: Goals = Goals { wrong_yes_max: 0.01, wrong_no_max: 0.05, not_known_max: 0.1 };

impl Goals {
    /// On fewer than four cores radio, reader and the rest of the machine share them.
    #[must_use]
    pub fn on(self, cores: usize) -> Goals {
        Goals { not_known_max: if cores < 4 { 0.25 } else { self.not_known_max }, ..self }
    }
}

/// Trials of a kind, and those that erred.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRate {
    pub trials: usize,
    pub errors: usize,
    /// Their share with its 95 % interval; `None` without a trial.
    pub share: Option<Estimate>,
}

impl ErrorRate {
    fn of(trials: usize, errors: usize) -> ErrorRate {
        ErrorRate { trials, errors, share: proportion(trials, errors, LEVEL) }
    }

    fn is_within(&self, most: f64) -> bool {
        self.errors as f64 <= most * self.trials as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorRates {
    pub wrong_yes: ErrorRate,
    pub wrong_no: ErrorRate,
    pub not_known: ErrorRate,
}

impl ErrorRates {
    pub(super) fn of(table: &[TableRow]) -> ErrorRates {
        let sum = |of: fn(&TableRow) -> Answers| table.iter().map(of).fold(Answers::default(), Answers::add);
        let (loses, keeps_up) = (sum(|row| row.loses), sum(|row| row.keeps_up));
        let all = loses.add(keeps_up);
        ErrorRates {
            wrong_yes: ErrorRate::of(loses.all(), loses.yes),
            wrong_no: ErrorRate::of(keeps_up.all(), keeps_up.no),
            not_known: ErrorRate::of(all.all(), all.not_known),
        }
    }

    /// Whether the verdict errs within the goals. Without hosts of both kinds nothing is known. It fails where in
    /// `contradictions` rounds the two accounts of samples differ: that is a fault of takt, which nobody may overlook.
    pub(super) fn answer(&self, goals: &Goals, contradictions: u64) -> CheckAnswer {
        if contradictions > 0 {
            return CheckAnswer::Fails;
        }
        if self.wrong_yes.trials == 0 || self.wrong_no.trials == 0 {
            return CheckAnswer::Unknown;
        }
        if self.within(goals) { CheckAnswer::Holds } else { CheckAnswer::Fails }
    }

    pub(super) fn within(&self, goals: &Goals) -> bool {
        let within = [
            self.wrong_yes.is_within(goals.wrong_yes_max),
            self.wrong_no.is_within(goals.wrong_no_max),
            self.not_known.is_within(goals.not_known_max),
        ];
        within == [true; 3]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(loses: [usize; 3], keeps_up: [usize; 3]) -> ErrorRates {
        let answers = |[yes, no, not_known]: [usize; 3]| Answers { yes, no, not_known };
        let row = TableRow { loses: answers(loses), keeps_up: answers(keeps_up), ..TableRow::default() };
        ErrorRates::of(&[row])
    }

    #[test]
    fn each_goal_can_be_missed() {
        let goals = GOALS.on(8);
        let table = [
            ([0, 20, 0], [20, 0, 0], CheckAnswer::Holds),
            ([1, 19, 0], [20, 0, 0], CheckAnswer::Fails),
            ([1, 99, 0], [20, 0, 0], CheckAnswer::Holds),
            ([0, 20, 0], [19, 1, 0], CheckAnswer::Holds),
            ([0, 20, 0], [18, 2, 0], CheckAnswer::Fails),
            ([0, 18, 2], [18, 0, 2], CheckAnswer::Holds),
            ([0, 18, 2], [17, 0, 3], CheckAnswer::Fails),
            ([0, 0, 0], [20, 0, 0], CheckAnswer::Unknown),
            ([0, 20, 0], [0, 0, 0], CheckAnswer::Unknown),
        ];
        for (loses, keeps_up, answer) in table {
            assert_eq!(rates(loses, keeps_up).answer(&goals, 0), answer, "{loses:?} {keeps_up:?}");
        }
        assert_eq!(rates([0, 16, 4], [16, 0, 4]).answer(&GOALS.on(2), 0), CheckAnswer::Holds);
        assert_eq!(rates([0, 20, 0], [20, 0, 0]).answer(&goals, 1), CheckAnswer::Fails, "accounts that differ");
    }
}
