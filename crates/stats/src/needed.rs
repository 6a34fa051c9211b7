//! How many rounds an undecided question would take.

use crate::compare::first_above;
use crate::dist::t_quantile;
use crate::{Estimate, Method};

/// Beyond this many rounds nobody waits for the answer.
const MOST: usize = 10_000;

/// Rounds of each of `estimates` after which their half widths together would be less than `distance`, if rounds spread as
/// they did and the points stay: how long it takes to tell one mean from a limit at that distance, or two means apart.
///
/// `None` where 10 000 rounds are too few (nothing to tell, as far as this can see), and for intervals that are not
/// [`mean`](crate::mean)s.
///
/// ```
/// use takt_stats::{mean, rounds_to_tell};
/// let near = mean(&[0.93, 1.01, 0.99, 0.98, 1.00], 0.95).unwrap();   // 0.98 [0.94, 1.02]: is it above 0.95?
/// assert_eq!(rounds_to_tell(&[near], near.point() - 0.95), Some(7));
/// assert_eq!(rounds_to_tell(&[near], 0.0), None);
/// ```
#[must_use]
pub fn rounds_to_tell(estimates: &[Estimate], distance: f64) -> Option<usize> {
    let spread: f64 = estimates.iter().map(standard_deviation).sum::<Option<f64>>()?;
    let level = estimates.iter().map(Estimate::level).reduce(f64::max)?;
    let enough = |rounds: usize| {
        let t = t_quantile(0.5 + level / 2.0, rounds - 1);
        t.is_some_and(|t| t * spread / (rounds as f64).sqrt() < distance)
    };
    // A half width only shrinks with more rounds.
    first_above(1, MOST, enough)
}

/// Standard deviation of the rounds behind a mean, from its interval.
fn standard_deviation(estimate: &Estimate) -> Option<f64> {
    let n = estimate.n();
    let t = t_quantile(0.5 + estimate.level() / 2.0, n.checked_sub(1)?)?;
    let half_width = (estimate.high() - estimate.low()) / 2.0;
    (estimate.method() == Method::T).then(|| half_width * (n as f64).sqrt() / t)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mean;

    #[test]
    fn as_many_rounds_as_it_says_do_tell_and_one_less_does_not() {
        let spread = [-1.0, 1.0];
        for distance in [0.1, 0.5, 3.0] {
            let few = mean(&[-1.0, 1.0, -1.0, 1.0], 0.95).unwrap();
            let needed = rounds_to_tell(&[few], distance).unwrap();
            // As many rounds, scaled to the very spread that the few had.
            let half_width = |rounds: usize| {
                let rounds: Vec<f64> = spread.iter().copied().cycle().take(rounds - rounds % 2).collect();
                let mean = mean(&rounds, 0.95).unwrap();
                let wide = standard_deviation(&few).unwrap() / standard_deviation(&mean).unwrap();
                (mean.high() - mean.low()) / 2.0 * wide
            };
            assert!(
                half_width(needed + 2) < distance && half_width(needed.max(4) - 2) >= distance,
                "{distance}: {needed}"
            );
        }
    }

    #[test]
    fn two_means_take_more_rounds_than_one_and_no_distance_takes_for_ever() {
        let [a, b] = [[1.0, 1.2, 1.1], [0.8, 0.9, 1.0]].map(|rounds| mean(&rounds, 0.95).unwrap());
        let (one, two) = (rounds_to_tell(&[a], 0.2), rounds_to_tell(&[a, b], 0.2));
        assert!(one < two && one.is_some(), "{one:?} {two:?}");
        assert_eq!(rounds_to_tell(&[a, b], 0.0), None);
        assert_eq!(rounds_to_tell(&[], 1.0), None);
        let quarter = crate::proportion(20, 5, 0.95).unwrap();
        assert_eq!(rounds_to_tell(&[quarter], 0.1), None, "not a mean");
    }
}
