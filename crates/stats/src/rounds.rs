//! Estimates over rounds other than the mean: medians, ratios of sums, quantiles of histograms.
//!
//! None of them resamples: a bootstrap over the few rounds that anybody runs covers too rarely (at n = 5 a ratio's nominal
//! 95 % held 91 %), and intervals that are exact for normal rounds, or for any, are to be had.

use crate::dist::t_quantile;
use crate::{Estimate, Histogram, Method, Unit, mean};

/// Median over rounds, in the unit of `rounds`. The interval goes from one of the ordered rounds to its mirror image, between
/// two such pairs by the interpolation of T. P. Hettmansperger and S. J. Sheather, "Confidence Intervals Based on
/// Interpolated Order Statistics", Statistics and Probability Letters 4 (1986): it holds for rounds of any shape.
///
/// `None` where even the interval from the lowest to the highest round holds the median too rarely (below six rounds for
/// 95 %), for a value that is not finite, or for a level outside 0 to 1.
///
/// ```
/// let ns = [120.0, 118.0, 125.0, 119.0, 990.0, 121.0, 117.0];   // one disturbed round
/// let median = takt_stats::median(&ns, 0.95).unwrap();
/// assert_eq!(median.point(), 120.0);
/// assert_eq!(takt_stats::median(&ns[..5], 0.95), None);
/// ```
pub fn median(rounds: &[f64], level: f64) -> Option<Estimate> {
    let n = rounds.len();
    let usable = rounds.iter().all(|x| x.is_finite()) && level > 0.0 && level < 1.0;
    if !usable {
        return None;
    }
    let mut sorted = rounds.to_vec();
    sorted.sort_by(f64::total_cmp);
    let value = |rank: usize| sorted.get(rank.checked_sub(1)?).copied();
    let point = crate::sample_quantile(&sorted, 0.5)?;
    // The pair of the ranks d and n + 1 - d holds the median with this probability.
    let holds = |d: usize| 1.0 - 2.0 * below_half(n, d);
    let d = (1..=n / 2).take_while(|&d| holds(d) >= level).last()?;
    let next = if d < n.div_ceil(2) { d + 1 } else { d };
    let (wide, narrow) = (holds(d), if next == d { 0.0 } else { holds(next).max(0.0) });
    let share = if wide > narrow { (wide - level) / (wide - narrow) } else { 0.0 };
    let weight = (n - d) as f64 * share / (d as f64 + (n as f64 - 2.0 * d as f64) * share);
    let between = |outer: f64, inner: f64| outer + weight * (inner - outer);
    let low = between(value(d)?, value(next)?);
    let high = between(value(n + 1 - d)?, value(n + 1 - next)?);
    Estimate::new(point, low.min(point), high.max(point), level, n, Method::OrderStatistics)
}

/// Probability that fewer than `d` of `n` rounds lie below the median.
fn below_half(n: usize, d: usize) -> f64 {
    let mut mass = 0.5_f64.powi(n as i32);
    let mut sum = 0.0;
    for k in 0..d {
        sum += mass;
        mass *= (n - k) as f64 / (k + 1) as f64;
    }
    sum
}

/// Sum over sum, for what is spent per unit of what was done: CPU seconds per sample, lost per sent.
/// Rounds are pairs: `numerator[i]` and `denominator[i]` are of the same round. Rounds weigh by what they did. The interval
/// is E. C. Fieller's (Journal of the Royal Statistical Society B 16, 1954), exact for normal rounds.
///
/// `None` below two rounds, for slices of unlike length, values that are not finite, a denominator not above 0, or
/// denominators that spread so much that their mean might be 0.
///
/// ```
/// let cpu_ms = [1900.0, 1950.0, 1875.0, 1920.0, 1910.0];
/// let megasamples = [1000.0, 1000.0, 990.0, 1000.0, 1000.0];
/// let per_megasample = takt_stats::ratio(&cpu_ms, &megasamples, 0.95).unwrap();
/// assert_eq!(format!("{per_megasample:.2}"), "1.91 [1.89, 1.94] (95 %, Fieller, n = 5)");
/// ```
pub fn ratio(numerator: &[f64], denominator: &[f64], level: f64) -> Option<Estimate> {
    let n = numerator.len();
    let mut pairs: Vec<(f64, f64)> = numerator.iter().copied().zip(denominator.iter().copied()).collect();
    let usable = pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite() && *b > 0.0);
    if denominator.len() != n || !usable || n < 2 || !(level > 0.0 && level < 1.0) {
        return None;
    }
    // Sums depend on their order by a last bit: equal rounds, equal answer.
    pairs.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.total_cmp(&y.1)));
    let count = n as f64;
    let average = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (a, b) = (average(|pair| pair.0), average(|pair| pair.1));
    let spread = |of: fn(f64, f64) -> f64| pairs.iter().map(|(x, y)| of(x - a, y - b)).sum::<f64>() / (count - 1.0);
    let (aa, ab, bb) = (spread(|x, _| x * x), spread(|x, y| x * y), spread(|_, y| y * y));
    // The ratios that t does not refuse: (a - r b)^2 <= t^2 / n (aa - 2 r ab + r^2 bb).
    let k = t_quantile(0.5 + level / 2.0, n - 1)?.powi(2) / count;
    let (square, linear, constant) = (b * b - k * bb, a * b - k * ab, a * a - k * aa);
    let root = (linear * linear - square * constant).max(0.0).sqrt();
    let point = a / b;
    let (low, high) = ((linear - root) / square, (linear + root) / square);
    (square > 0.0).then(|| Estimate::new(point, low.min(point), high.max(point), level, n, Method::Fieller))?
}

/// Quantile `q` of a round, as the mean over rounds of each round's own quantile, with Student's t interval; one
/// histogram a round, in the histograms' unit.
///
/// Not the quantile of the merged histogram (for which [`Histogram::merge`] is): the tail of that one is made by the few
/// worst rounds, and a bootstrap over rounds would cover it far too rarely (simulated, rounds that differ by 20 %: 70 % of a
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
