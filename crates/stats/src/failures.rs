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

/// One-sided upper bounds on a ratio of failures: `failures[i]` of `trials` in round `i`.
///
/// The bootstrap (B. Efron, Annals of Statistics 7, 1979) is not drawn but computed: with as many trials in every round the sum
/// over rounds drawn again has a distribution that is a power of the rounds' own. Over few rounds it covers less often
/// than it says; without any failure it says zero, and there the other bound counts.
///
/// `None` below two rounds, without trials, for more failures than trials, or a level outside 0 to 1.
///
/// ```
/// let bound = takt_stats::failure_bound(&[0, 0, 0, 0], 2400, 0.95).unwrap();
/// assert_eq!(bound.bootstrap_up_to, 0.0);
/// assert!(bound.up_to > 0.000311 && bound.up_to < 0.000313);      // 3 over all trials, as is well known
/// ```
pub fn failure_bound(failures: &[u64], trials: u64, level: f64) -> Option<FailureBound> {
    let rounds = failures.len();
    let sound = rounds >= 2 && trials > 0 && failures.iter().all(|&f| f <= trials) && level > 0.0 && level < 1.0;
    if !sound {
        return None;
    }
    let all = trials.checked_mul(rounds as u64)?;
    let sum: u64 = failures.iter().sum();
    let bootstrap_up_to = quantile(&drawn_again(failures), level) as f64 / all as f64;
    let of = |count: u64| usize::try_from(count).ok();
    let independent_up_to = clean_rounds(of(all)?, of(sum)?, level)?.up_to;
    Some(FailureBound {
        failures: sum,
        trials: all,
        ratio: sum as f64 / all as f64,
        bootstrap_up_to,
        independent_up_to,
        up_to: bootstrap_up_to.max(independent_up_to),
        rounds,
        level,
    })
}

/// Sums over as many rounds drawn with replacement, with their probabilities.
fn drawn_again(failures: &[u64]) -> BTreeMap<u64, f64> {
    let each = 1.0 / failures.len() as f64;
    let mut one: BTreeMap<u64, f64> = BTreeMap::new();
    failures.iter().for_each(|&f| *one.entry(f).or_default() += each);
    let mut sums = BTreeMap::from([(0, 1.0)]);
    for _ in failures {
        let mut next: BTreeMap<u64, f64> = BTreeMap::new();
        for (sum, p) in &sums {
            one.iter().for_each(|(f, q)| *next.entry(sum + f).or_default() += p * q);
        }
        sums = next;
    }
    sums
}

/// The smallest value that is not exceeded with at least this probability.
fn quantile(distribution: &BTreeMap<u64, f64>, level: f64) -> u64 {
    let mut below = 0.0;
    let reached = |(_, p): &(&u64, &f64)| {
        below += **p;
        below >= level - 1e-12
    };
    distribution.iter().find(reached).or(distribution.last_key_value()).map_or(0, |(value, _)| *value)
}

#[cfg(test)]
mod tests {
    use rand::{Rng, SeedableRng};

    use super::*;

    #[test]
    fn the_computed_bootstrap_is_what_drawing_gives() {
        let failures = [0_u64, 3, 0, 14, 1, 0];
        let bound = failure_bound(&failures, 400, 0.95).unwrap();
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
        let clustered = failure_bound(&[0, 0, 0, 20], 400, 0.95).unwrap();
        assert!(clustered.bootstrap_up_to > clustered.independent_up_to);
        let spread = failure_bound(&[5, 5, 5, 5], 400, 0.95).unwrap();
        assert_eq!(spread.bootstrap_up_to, spread.ratio);
        assert_eq!(spread.up_to, spread.independent_up_to);
    }

    #[test]
    fn what_says_nothing_is_no_bound() {
        assert_eq!(failure_bound(&[0], 400, 0.95), None);
        assert_eq!(failure_bound(&[0, 401], 400, 0.95), None);
        assert_eq!(failure_bound(&[0, 0], 0, 0.95), None);
        assert_eq!(failure_bound(&[0, 0], 400, 1.0), None);
    }
}
