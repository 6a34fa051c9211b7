//! Estimates over rounds other than the mean: medians, ratios of sums, quantiles of histograms.

use crate::{Estimate, Histogram, Method, Unit, bootstrap, mean};

/// Fewest rounds for a bootstrap interval. Below it, the resamples cannot reach as far as 95 % asks (with four rounds
/// the widest interval for a median, lowest to highest round, holds the truth in 87.5 %), and the answer is `None`.
pub const MIN_ROUNDS: usize = 5;

/// Median over rounds with a bootstrap interval, in the unit of `rounds`.
///
/// `None` below [`MIN_ROUNDS`], for a value that is not finite, or for a level outside 0 to 1.
///
/// ```
/// let ns = [120.0, 118.0, 125.0, 119.0, 990.0, 121.0, 117.0];   // one disturbed round
/// let median = takt_stats::median(&ns, 0.95).unwrap();
/// assert_eq!(median.point(), 120.0);
/// ```
pub fn median(rounds: &[f64], level: f64) -> Option<Estimate> {
    let sorted = sorted_rounds(rounds)?;
    bootstrap::interval(sorted.len(), level, Method::Percentile, |indices| {
        indices.sort_unstable();
        let value = |k: usize| indices.get(k).and_then(|&i| sorted.get(i as usize));
        let half = indices.len() / 2;
        let upper = value(half)?;
        let lower = if indices.len() % 2 == 0 { value(half - 1)? } else { upper };
        Some(lower / 2.0 + upper / 2.0)
    })
}

/// Sum over sum, for what is spent per unit of what was done: CPU seconds per sample, lost per sent.
/// Rounds are pairs: `numerator[i]` and `denominator[i]` are of the same round. Rounds weigh by what they did.
///
/// `None` below [`MIN_ROUNDS`], for slices of unlike length, values that are not finite, or a denominator not above 0.
///
/// ```
/// let cpu_ms = [1900.0, 1950.0, 1875.0, 1920.0, 1910.0];
/// let megasamples = [1000.0, 1000.0, 990.0, 1000.0, 1000.0];
/// let per_megasample = takt_stats::ratio(&cpu_ms, &megasamples, 0.95).unwrap();
/// assert_eq!(format!("{per_megasample:.2}"), "1.91 [1.90, 1.95] (95 %, BCa, n = 5)");
/// ```
pub fn ratio(numerator: &[f64], denominator: &[f64], level: f64) -> Option<Estimate> {
    if numerator.len() != denominator.len() || numerator.len() < MIN_ROUNDS {
        return None;
    }
    let mut pairs: Vec<(f64, f64)> = numerator.iter().copied().zip(denominator.iter().copied()).collect();
    if !pairs.iter().all(|&(a, b)| a.is_finite() && b.is_finite() && b > 0.0) {
        return None;
    }
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    bootstrap::interval(pairs.len(), level, Method::Bca, |indices| {
        let pairs = indices.iter().filter_map(|&i| pairs.get(i as usize));
        let (a, b) = pairs.fold((0.0, 0.0), |(a, b), pair| (a + pair.0, b + pair.1));
        Some(a / b)
    })
}

/// Quantile `q` of a round, as the mean over rounds of each round's own quantile, with Student's t interval; one
/// histogram a round, in the histograms' unit.
///
/// Not the quantile of the merged histogram (for which [`Histogram::merge`] is): the tail of that one is made by the few
/// worst rounds, and a bootstrap over rounds covers it far too rarely (simulated, rounds that differ by 20 %: 70 % of a
/// nominal 95 % for the 99 % quantile of five rounds, 88 % of thirty).
///
/// `None` below two rounds, for an empty round, for `q` or `level` outside 0 to 1, or where a round's quantile lies
/// among values beyond its bound.
///
/// ```
/// use takt_stats::{Histogram, Ns, quantile};
/// let round = |slowest_ns: u64| {
///     let mut h = Histogram::<Ns>::default();
///     (1..=1000).for_each(|i| h.record_saturating(slowest_ns * i / 1000));
///     h
/// };
/// let p99 = quantile(&[round(40_000), round(44_000), round(42_000)], 0.99, 0.95).unwrap();
/// assert_eq!(p99.scaled(1e-3).unwrap().to_string(), "42 [37, 47] (95 %, t, n = 3)");   // µs
/// ```
pub fn quantile<U: Unit>(rounds: &[Histogram<U>], q: f64, level: f64) -> Option<Estimate> {
    let own = rounds.iter().map(|round| round.quantile(q).map(|value| value as f64));
    mean(&own.collect::<Option<Vec<f64>>>()?, level)
}

fn sorted_rounds(rounds: &[f64]) -> Option<Vec<f64>> {
    let enough = rounds.len() >= MIN_ROUNDS && rounds.iter().all(|x| x.is_finite());
    let mut sorted = enough.then(|| rounds.to_vec())?;
    sorted.sort_by(f64::total_cmp);
    Some(sorted)
}
