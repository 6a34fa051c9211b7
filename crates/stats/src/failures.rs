//! How large a ratio of failures may be, when failures come in clusters: rounds are drawn, not what is in them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::clean_rounds;

/// How large a ratio of failures may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureBound {
    /// Failures in all rounds.
    pub failures: u64,
    /// What could have failed in all rounds.
    pub trials: u64,
    /// The first over the second.
    pub ratio: f64,
    /// Upper bound from the bootstrap over rounds: what would be seen if the rounds were drawn again from those there are.
    /// It knows that failures come in clusters, and nothing of failures that no round has seen.
    pub bootstrap_up_to: f64,
    /// Upper bound if every trial stood for itself (Clopper-Pearson): above zero also without a failure.
    pub independent_up_to: f64,
    /// The larger of the two.
    pub up_to: f64,
    /// Rounds.
    pub rounds: usize,
    /// Confidence of the bounds, one-sided, 0 to 1.
    pub level: f64,
}

/// One-sided upper bounds on a ratio of failures; of each round: failures, and what could have failed.
///
/// The bootstrap (B. Efron, Annals of Statistics 7, 1979) is not drawn but computed: the mean of the rounds' ratios, drawn
/// again, has a distribution that is a power of their own. Each round weighs alike; ratios are rounded up to a 512th of the
/// largest. Over few rounds it covers less often than it says; without any failure it says zero, and there the other bound
/// counts.
///
/// `None` below two rounds, without trials in a round, for more failures than trials, or a level outside 0 to 1.
///
/// ```
/// let bound = takt_stats::failure_bound(&[(0, 2400), (0, 2400), (0, 2300), (0, 2500)], 0.95).unwrap();
/// assert_eq!(bound.bootstrap_up_to, 0.0);
/// assert!(bound.up_to > 0.000311 && bound.up_to < 0.000313);      // 3 over all trials, as is well known
/// ```
pub fn failure_bound(of_rounds: &[(u64, u64)], level: f64) -> Option<FailureBound> {
    let rounds = of_rounds.len();
    let sound =
        rounds >= 2 && of_rounds.iter().all(|&(f, trials)| trials > 0 && f <= trials) && level > 0.0 && level < 1.0;
    if !sound {
        return None;
    }
    let sum = |of: fn(&(u64, u64)) -> u64| of_rounds.iter().map(of).try_fold(0_u64, u64::checked_add);
    let (failures, trials) = (sum(|round| round.0)?, sum(|round| round.1)?);
    let bootstrap_up_to = drawn_again(of_rounds, level);
    let of = |count: u64| usize::try_from(count).ok();
    let independent_up_to = clean_rounds(of(trials)?, of(failures)?, level)?.up_to;
    Some(FailureBound {
        failures,
        trials,
        ratio: failures as f64 / trials as f64,
        bootstrap_up_to,
        independent_up_to,
        up_to: bootstrap_up_to.max(independent_up_to),
        rounds,
        level,
    })
}

/// Steps of the largest ratio on which the ratios are put.
const STEPS: usize = 512;

/// The mean ratio of as many rounds drawn with replacement that is not exceeded with this probability.
fn drawn_again(of_rounds: &[(u64, u64)], level: f64) -> f64 {
    let rounds = of_rounds.len();
    let ratios = || of_rounds.iter().map(|&(failures, trials)| failures as f64 / trials as f64);
    let largest = ratios().fold(0.0, f64::max);
    if largest <= 0.0 {
        return 0.0;
    }
    let mut one: BTreeMap<usize, f64> = BTreeMap::new();
    for ratio in ratios() {
        // What lies on a step but for the last bit stays there.
        let step = (ratio / largest * STEPS as f64 - 1e-9).ceil() as usize;
        *one.entry(step).or_default() += 1.0 / rounds as f64;
    }
    let mut sums = vec![1.0];
    for _ in 0..rounds {
        let mut next = vec![0.0; sums.len() + STEPS];
        for (sum, p) in sums.iter().enumerate().filter(|(_, p)| **p > 0.0) {
            one.iter().for_each(|(step, q)| next[sum + step] += p * q);
        }
        sums = next;
    }
    quantile(&sums, level) as f64 / (STEPS * rounds) as f64 * largest
}

/// The smallest sum that is not exceeded with at least this probability.
fn quantile(sums: &[f64], level: f64) -> usize {
    let mut below = 0.0;
    let reached = |p: &f64| {
        below += p;
        below >= level - 1e-12
    };
    sums.iter().position(reached).unwrap_or(sums.len() - 1)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn the_computed_bootstrap_is_what_drawing_gives() {
        let failures = [0_u64, 3, 0, 14, 1, 0];
        let bound = failure_bound(&failures.map(|f| (f, 400)), 0.95).unwrap();
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(7);
        let mut drawn: Vec<u64> = (0..20_000)
            .map(|_| (0..failures.len()).map(|_| failures[rng.next_u64() as usize % failures.len()]).sum())
            .collect();
        drawn.sort_unstable();
        let expected = drawn[(0.95 * drawn.len() as f64) as usize] as f64 / 2400.0;
        assert!((bound.bootstrap_up_to - expected).abs() <= 1.0 / 2400.0, "{} {expected}", bound.bootstrap_up_to);
        assert!(bound.up_to >= bound.ratio);
    }

    #[test]
    fn clusters_make_the_bound_wider_than_trials_that_stand_for_themselves() {
        let clustered = failure_bound(&[(0, 400), (0, 400), (0, 400), (20, 400)], 0.95).unwrap();
        assert!(clustered.bootstrap_up_to > clustered.independent_up_to);
        let spread = failure_bound(&[(5, 400); 4], 0.95).unwrap();
        assert!((spread.bootstrap_up_to - spread.ratio).abs() < 1e-12);
        assert_eq!(spread.up_to, spread.independent_up_to);
    }

    #[test]
    fn what_says_nothing_is_no_bound() {
        assert_eq!(failure_bound(&[(0, 400)], 0.95), None);
        assert_eq!(failure_bound(&[(0, 400), (401, 400)], 0.95), None);
        assert_eq!(failure_bound(&[(0, 400), (0, 0)], 0.95), None);
        assert_eq!(failure_bound(&[(0, 400); 2], 1.0), None);
    }
}
