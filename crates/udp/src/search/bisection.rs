//! A binary search with loss verification (ETSI GS NFV-TST 009, 12.3.3, which RFC 9004 recommends): pure.

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// It ends when the highest good value and the lowest bad one are so close, as a share of the bad one.
    pub resolution: f64,
    /// Values that small a share of the ceiling are not looked at: nothing was found.
    pub floor: f64,
    /// A trial that is not clean is repeated so often; one clean repetition clears the value.
    pub verify: u32,
}

/// A trial's verdict on its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// All of it was sent, and as much arrived as the goal wants.
    Clean,
    /// More was lost than the goal allows.
    Lossy,
    /// The sender could not send it.
    Behind,
}

#[derive(Clone, Debug)]
pub struct Bisection {
    goal: Goal,
    ceiling: f64,
    /// The highest value found clean; 0 = none yet.
    clean: f64,
    /// The lowest value found not to be, and why.
    failed: Option<(f64, Verdict)>,
    /// Unclean trials in a row at the value that is looked at.
    unclean: u32,
}

impl Bisection {
    /// For the highest clean value up to `ceiling`, which is looked at first.
    #[must_use]
    pub fn new(goal: Goal, ceiling: f64) -> Bisection {
        Bisection { goal, ceiling, clean: 0.0, failed: None, unclean: 0 }
    }

    #[must_use]
    pub fn next(&self) -> Option<f64> {
        let Some((failed, _)) = self.failed else { return (self.clean < self.ceiling).then_some(self.ceiling) };
        let close = failed - self.clean <= self.goal.resolution * failed;
        let nothing = failed <= self.goal.floor * self.ceiling;
        (!close && !nothing).then_some((self.clean + failed) / 2.0)
    }

    pub fn record(&mut self, verdict: Verdict) {
        let Some(value) = self.next() else { return };
        match verdict {
            Verdict::Clean => (self.clean, self.unclean) = (value, 0),
            _ if self.unclean < self.goal.verify => self.unclean += 1,
            _ => (self.failed, self.unclean) = (Some((value, verdict)), 0),
        }
    }

    #[must_use]
    pub fn clean(&self) -> Option<f64> {
        Some(self.clean).filter(|&clean| clean > 0.0)
    }

    /// The lowest value that was not, and why; `None`: the ceiling was clean.
    #[must_use]
    pub fn failed(&self) -> Option<(f64, Verdict)> {
        self.failed
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const GOAL: Goal = Goal { resolution: 0.01, floor: 1e-3, verify: 1 };

    /// Runs it against a path that carries `capacity`, where the trials `unlucky` lose something without reason.
    fn searched(goal: Goal, ceiling: f64, capacity: f64, mut unlucky: impl FnMut(u32) -> bool) -> (Bisection, u32) {
        let (mut search, mut trials) = (Bisection::new(goal, ceiling), 0);
        while let Some(value) = search.next() {
            let clean = value <= capacity && !unlucky(trials);
            search.record(if clean { Verdict::Clean } else { Verdict::Lossy });
            trials += 1;
            assert!(trials < 1000, "it must end");
        }
        (search, trials)
    }

    #[test]
    fn a_path_that_carries_everything_is_tried_once() {
        let (search, trials) = searched(GOAL, 5e5, 1e6, |_| false);
        assert_eq!((search.clean(), search.failed(), trials), (Some(5e5), None, 1));
    }

    #[test]
    fn a_path_that_carries_nothing_is_given_up_at_the_floor() {
        let (search, _) = searched(GOAL, 1e6, 0.0, |_| false);
        assert_eq!(search.clean(), None);
        assert!(search.failed().is_some_and(|(failed, _)| failed <= 1e3), "{search:?}");
    }

    proptest! {
        #[test]
        fn it_ends_within_its_resolution_below_the_capacity(capacity in 2e3..1e6_f64, resolution in 0.001..0.2_f64) {
            let (search, trials) = searched(Goal { resolution, ..GOAL }, 1e6, capacity, |_| false);
            let clean = search.clean().unwrap();
            prop_assert!(clean <= capacity && clean >= capacity * (1.0 - resolution) * 0.999, "{clean} of {capacity}");
            prop_assert!(trials < 2 * (3 + (1e6 / capacity / resolution).log2().ceil() as u32));
        }

        #[test]
        fn a_loss_that_is_not_repeated_changes_nothing(capacity in 2e3..1e6_f64, phase in 0..2_u32) {
            // Every other trial loses for no reason: its repetition tells.
            let (search, _) = searched(GOAL, 1e6, capacity, |trial| trial % 2 == phase);
            let clean = search.clean().unwrap();
            prop_assert!(clean <= capacity && clean >= capacity * 0.989, "{clean} of {capacity}");
        }
    }
}
