//! One search: bisection with short trials, confirmation with a long one. The caller runs trials, so that tests run
//! them on a virtual clock.

use std::time::Duration;

use super::bisection::{Bisection, Goal, Verdict};
use super::report::{SearchOutcome, SetBy, Trial};

/// Lower values that are tried, where a rate does not hold for longer.
const STEPS_DOWN: i32 = 12;

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    pub value: f64,
    pub duration: Duration,
}

/// Searches up to `ceiling`. `confirm`: how long the result must hold, if longer than `trial`. `run` returns `None` when the
/// search is to stop.
pub fn find<E>(
    goal: Goal,
    ceiling: f64,
    (trial, confirm): (Duration, Option<Duration>),
    run: &mut dyn FnMut(Ask) -> Result<Option<Trial>, E>,
) -> Result<SearchOutcome, E> {
    let (mut search, mut trials) = (Bisection::new(goal, ceiling), Vec::new());
    let mut ran = |value, duration, trials: &mut Vec<Trial>| -> Result<Option<Verdict>, E> {
        let trial = run(Ask { value, duration })?;
        let verdict = trial.as_ref().map(|trial| trial.verdict);
        trials.extend(trial);
        Ok(verdict)
    };
    while let Some(value) = search.next() {
        match ran(value, trial, &mut trials)? {
            Some(verdict) => search.record(verdict),
            None => return Ok(found(None, trials, false)),
        }
    }
    let Some(confirm) = confirm.filter(|&confirm| confirm > trial) else {
        return Ok(found(search.clean(), trials, true));
    };
    // A value that held for a short while is lowered, in growing steps, until it holds for long.
    for step in 0..STEPS_DOWN {
        let Some(clean) = search.clean() else { break };
        let value = if step == 0 { clean } else { clean * (1.0 - goal.resolution * f64::from(1 << (step - 1))) };
        if value <= goal.floor * ceiling {
            break;
        }
        for _ in 0..=goal.verify {
            match ran(value, confirm, &mut trials)? {
                Some(Verdict::Clean) => return Ok(found(Some(value), trials, true)),
                Some(_) => {}
                None => return Ok(found(None, trials, false)),
            }
        }
    }
    Ok(found(None, trials, true))
}

fn found(value: Option<f64>, trials: Vec<Trial>, complete: bool) -> SearchOutcome {
    // Judged by the lowest rate that failed, be it in a short trial or in a long one.
    let above = |trial: &&Trial| trial.verdict != Verdict::Clean && Some(trial.intended) > value;
    let failed = trials.iter().filter(above).min_by(|a, b| a.intended.total_cmp(&b.intended));
    let set_by = match failed.map(|trial| trial.verdict) {
        None => SetBy::Ceiling,
        Some(Verdict::Behind) => SetBy::Sender,
        Some(_) => SetBy::Path,
    };
    SearchOutcome { value, failed_at: failed.map(|trial| trial.intended), set_by, trials, complete }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;
    use takt_base::{Clock, MonoNs, VirtualClock};

    use super::super::super::schedule::{Pace, Schedule};
    use super::super::report::TrialCounts;
    use super::*;

    const GOAL: Goal = Goal { resolution: 0.01, floor: 1e-3, verify: 1 };
    const TRIAL: Duration = Duration::from_secs(1);

    /// A path that forwards one datagram after another, each in its time, and holds so many while they wait.
    struct Store {
        forward_ns: u64,
        holds: u64,
        clock: VirtualClock,
        /// A sender that cannot send more often than this.
        sender_ns: u64,
    }

    impl Store {
        fn trial(&self, ask: Ask) -> Trial {
            let start = self.clock.now();
            let schedule = Schedule::new(start, ask.duration, Pace::Steady(ask.value));
            let (total, end) = (schedule.total().unwrap(), schedule.end());
            let (mut free, mut leave, mut sent, mut lost) = (MonoNs(0), start, 0, 0);
            for n in 0..total {
                leave = schedule.intended(n, start).max(leave);
                if leave >= end {
                    break;
                }
                self.clock.advance_to(leave);
                sent += 1;
                // Those before it that are still there, the one that is being forwarded included.
                let waiting = free.saturating_since(leave).as_nanos().div_ceil(u128::from(self.forward_ns));
                if waiting > u128::from(self.holds) {
                    lost += 1;
                } else {
                    free = free.max(leave) + Duration::from_nanos(self.forward_ns);
                }
                leave += Duration::from_nanos(self.sender_ns);
            }
            self.clock.advance_to(end);
            Trial::counted(ask, TrialCounts { sent, received: sent - lost, unsent: total - sent }, 0.0)
        }

        fn searched(&self, ceiling: f64, confirm: Option<Duration>) -> SearchOutcome {
            let mut run = |ask| Ok::<_, Infallible>(Some(self.trial(ask)));
            find(GOAL, ceiling, (TRIAL, confirm), &mut run).unwrap()
        }
    }

    fn store(per_s: u64, holds: u64) -> Store {
        let clock = VirtualClock::starting_at(MonoNs(1_000_000_000));
        Store { forward_ns: 1_000_000_000 / per_s, holds, clock, sender_ns: 1 }
    }

    #[test]
    fn a_buffer_hides_an_overload_from_a_short_trial_and_a_long_one_finds_it() {
        // 200 held: a second at 1200 a second passes through a path of 1000, ten seconds do not.
        let store = store(1000, 200);
        let short = store.searched(5000.0, None).value.unwrap();
        let long = store.searched(5000.0, Some(10 * TRIAL)).value.unwrap();
        assert!((1180.0..1210.0).contains(&short), "{short}");
        assert!((900.0..1025.0).contains(&long), "{long}");
    }

    #[test]
    fn a_sender_that_can_do_no_more_is_not_blamed_on_the_path() {
        let slow = Store { sender_ns: 1_000_000, ..store(100_000, 10) };
        let found = slow.searched(5000.0, None);
        assert_eq!(found.set_by, SetBy::Sender);
        assert!(found.value.is_some_and(|v| (985.0..=1002.0).contains(&v)), "{:?}", found.value);
        assert_eq!(store(100_000, 10).searched(5000.0, None).set_by, SetBy::Ceiling);
        assert_eq!(store(1000, 10).searched(5000.0, None).set_by, SetBy::Path);
    }

    #[test]
    fn a_ceiling_that_held_for_a_short_while_alone_is_no_limit_that_held() {
        // 200 held: a second at 1150 a second passes through a path of 1000, five seconds do not.
        let found = store(1000, 200).searched(1150.0, Some(5 * TRIAL));
        assert!(found.value.is_some_and(|value| value < 1100.0), "{:?}", found.value);
        assert_eq!((found.set_by, found.failed_at.is_some()), (SetBy::Path, true));
        // The value that holds for long is the ceiling, and nothing failed.
        let found = store(1000, 200).searched(950.0, Some(5 * TRIAL));
        assert_eq!((found.value, found.set_by, found.failed_at), (Some(950.0), SetBy::Ceiling, None));
    }

    #[test]
    fn a_search_that_is_stopped_says_so() {
        let mut run = |_| Ok::<_, Infallible>(None);
        let found = find(GOAL, 10.0, (TRIAL, None), &mut run).unwrap();
        assert_eq!((found.value, found.complete, found.trials.len()), (None, false, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn on_a_virtual_path_the_result_is_its_capacity(per_s in 100..4000_u64, holds in 1..8_u64) {
            let found = store(per_s, holds).searched(5000.0, None);
            let (value, failed) = (found.value.unwrap(), found.failed_at.unwrap());
            let carried = per_s as f64 + holds as f64 + 1.0;
            prop_assert!(value <= carried * 1.002 && value >= per_s as f64 * 0.985, "{value} of {per_s}");
            prop_assert!(failed > value && failed <= value / (1.0 - GOAL.resolution) * 1.001);
        }
    }
}
