//! How large a ratio of failures may be, when failures are few and come in clusters.

use serde::{Deserialize, Serialize};

use crate::dist::{beta_quantile, normal_quantile, t_quantile};

/// How large a ratio of failures may be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureBound {
    /// Failures in all rounds.
    pub failures: u64,
    /// Number that could have failed in all rounds.
    pub trials: u64,
    /// The first over the second.
    pub ratio: f64,
    /// The design effect: how many trials say as much as one that stands for itself; 1 or more.
    pub design_effect: f64,
    /// The upper bound.
    pub up_to: f64,
    /// Rounds.
    pub rounds: usize,
    /// As many trials in a row fail together at most, as was assumed before the data were seen.
    pub cluster: u64,
    /// Confidence of the bound, one-sided, 0 to 1.
    pub level: f64,
}

/// One-sided upper bound on a ratio of failures that come in clusters. Each round has segments of at most `cluster`
/// trials in their order: failures, and what could have failed.
///
/// It is the bound of Clopper and Pearson for as many trials as the clusters leave (E. L. Korn and B. I. Graubard, Survey
/// Methodology 24, 1998): both counts are divided by the design effect, the variance of the ratio over what it would be if
/// every trial stood for itself. That is the larger of two estimates:
/// - from the segments, as if two more had been seen in which everything failed: few failures say little about how
///   many fail together, and none says nothing, so that without any a whole segment weighs as one trial;
/// - from the rounds, widened by Student's t, since rounds may be unlike each other: whether one is hit at all can depend on
///   how it began.
///
/// It takes `cluster` for granted: an event that spoils more trials in a row, and that no round has seen, is beyond it.
/// The tests show by simulation how often it holds the truth.
///
/// `None` below two rounds, for a round without trials, a segment with more failures than trials or more trials than
/// `cluster`, or a level outside 0 to 1.
///
/// ```
/// let clean = vec![vec![(0, 10); 600]; 10];                       // 10 rounds of 6000 trials without a failure
/// let bound = takt_stats::failure_bound(&clean, 10, 0.95).unwrap();
/// assert!(bound.up_to > 0.000499 && bound.up_to < 0.0005);        // 3 over 6000 segments, as is well known
/// ```
pub fn failure_bound(of_rounds: &[Vec<(u64, u64)>], cluster: u64, level: f64) -> Option<FailureBound> {
    let sums: Vec<(u64, u64)> = of_rounds.iter().map(|segments| sum(segments)).collect::<Option<_>>()?;
    let (failures, trials) = sum(&sums)?;
    let segments = || of_rounds.iter().flatten();
    let fits = segments().all(|&(failed, of)| failed <= of && of <= cluster);
    if sums.len() < 2 || sums.iter().any(|round| round.1 == 0) || !fits || !(level > 0.0 && level < 1.0) {
        return None;
    }
    let ratio = failures as f64 / trials as f64;
    let design_effect = by_segments(segments(), ratio, cluster).max(by_rounds(&sums, ratio, level)?).max(1.0);
    let (failed, passed) = (failures as f64 / design_effect, (trials - failures) as f64 / design_effect);
    let up_to = if failures == trials { 1.0 } else { beta_quantile(level, failed + 1.0, passed)? };
    let rounds = sums.len();
    Some(FailureBound { failures, trials, ratio, design_effect, up_to, rounds, cluster, level })
}

fn sum(counts: &[(u64, u64)]) -> Option<(u64, u64)> {
    counts.iter().try_fold((0_u64, 0_u64), |all, one| Some((all.0.checked_add(one.0)?, all.1.checked_add(one.1)?)))
}

/// Squares of what a count of failures is off, and what they would come to if every trial stood for itself.
fn scatter<'a>(counts: impl Iterator<Item = &'a (u64, u64)>, ratio: f64) -> (f64, f64) {
    counts.fold((0.0, 0.0), |(squares, expected), &(failed, of)| {
        let off = failed as f64 - of as f64 * ratio;
        (squares + off * off, expected + of as f64 * ratio * (1.0 - ratio))
    })
}

/// With two more segments in which everything failed: with one, the bound holds the truth in 93.5 % where one event in ten is
/// a whole cluster.
fn by_segments<'a>(segments: impl Iterator<Item = &'a (u64, u64)>, ratio: f64, cluster: u64) -> f64 {
    const MORE: f64 = 2.0;
    let (squares, expected) = scatter(segments, ratio);
    let each = cluster as f64 * (1.0 - ratio);
    if each > 0.0 { (squares + MORE * each * each) / (expected + MORE * each) } else { 1.0 }
}

/// Student's t for the normal deviate, squared, one-sided as the bound is: the variance is estimated from as many rounds as there are.
fn by_rounds(rounds: &[(u64, u64)], ratio: f64, level: f64) -> Option<f64> {
    let (squares, expected) = scatter(rounds.iter(), ratio);
    if expected <= 0.0 {
        return Some(1.0);
    }
    let (n, free) = (rounds.len() as f64, rounds.len() - 1);
    let wider = t_quantile(level, free)? / normal_quantile(level)?;
    Some(squares / expected * n / (n - 1.0) * wider * wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_failure_a_whole_segment_weighs_as_one_trial() {
        let clean = failure_bound(&vec![vec![(0, 20); 300]; 2], 20, 0.95).unwrap();
        assert_eq!((clean.failures, clean.trials, clean.design_effect), (0, 12_000, 20.0));
        let three_over_600 = 1.0 - 0.05_f64.powf(1.0 / 600.0);
        assert!((clean.up_to - three_over_600).abs() < 1e-12);
    }

    #[test]
    fn clusters_and_unlike_rounds_make_the_bound_wider_than_single_failures_do() {
        let round = |failed: &[u64]| failed.iter().map(|&failed| (failed, 10)).chain(vec![(0, 10); 100]).collect();
        let bound = |rounds: [&[u64]; 4]| failure_bound(&rounds.map(round), 10, 0.95).unwrap();
        let single = bound([&[1; 10], &[1; 10], &[1; 10], &[1; 10]]);
        let clusters = bound([&[10], &[10], &[10], &[10]]);
        let one_bad_round = bound([&[], &[], &[1; 40], &[]]);
        assert_eq!((single.failures, clusters.failures, one_bad_round.failures), (40, 40, 40));
        assert!(single.up_to < clusters.up_to && clusters.up_to < one_bad_round.up_to);
        assert!(one_bad_round.up_to > 0.02, "{one_bad_round:?}");
    }

    #[test]
    fn where_everything_failed_everything_may() {
        assert_eq!(failure_bound(&vec![vec![(10, 10); 5]; 2], 10, 0.95).unwrap().up_to, 1.0);
    }

    #[test]
    fn what_says_nothing_is_no_bound() {
        let fine = vec![(0, 10)];
        assert!(failure_bound(&[fine.clone(), fine.clone()], 10, 0.95).is_some());
        assert_eq!(failure_bound(std::slice::from_ref(&fine), 10, 0.95), None, "one round");
        assert_eq!(failure_bound(&[fine.clone(), Vec::new()], 10, 0.95), None, "a round without trials");
        assert_eq!(failure_bound(&[fine.clone(), vec![(11, 10)]], 10, 0.95), None, "more failures than trials");
        assert_eq!(failure_bound(&[fine.clone(), fine.clone()], 9, 0.95), None, "segments longer than a cluster");
        assert_eq!(failure_bound(&[fine.clone(), fine], 10, 1.0), None, "no level");
    }
}
