//! Bootstrap intervals over rounds: rounds are drawn whole, with replacement, under a fixed seed.
//!
//! Plain bootstrap intervals are too narrow for few rounds (at n = 5 a nominal 95 % covers about 83 %), for the same
//! reason that t is wider than the normal. Following T. Hesterberg, "What Teachers Should Know About the Bootstrap",
//! The American Statistician 69 (2015), section 4.3, the tail shares are widened: the normal quantile z is replaced by
//! t(n - 1) * sqrt(n / (n - 1)). For smooth statistics (ratios) the ends are bias-corrected and accelerated as well
//! (B. Efron, "Better Bootstrap Confidence Intervals", JASA 82, 1987); for medians, where the jackknife
//! that gives the acceleration is inconsistent, they are not.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::dist::{normal_cdf, normal_quantile, t_quantile};
use crate::shape::sample_quantile;
use crate::{Estimate, Method};

/// Resamples a bootstrap draws. The ends of a 95 % interval then move by about 3 % of its width between seeds.
const RESAMPLES: usize = 2000;

/// Equal rounds give equal intervals; `ChaCha8` is specified, so also on other machines and in later versions.
const SEED: u64 = 0x7461_6b74;

/// Interval for `statistic` of `n` rounds. `statistic` gets indices of rounds (each below `n`, repeats allowed) and may
/// reorder them; its value for `0..n` is the point. `None` as soon as it has no finite value for some resample.
pub(crate) fn interval(
    n: usize,
    level: f64,
    method: Method,
    mut statistic: impl FnMut(&mut [u32]) -> Option<f64>,
) -> Option<Estimate> {
    let mut value = |indices: &mut [u32]| statistic(indices).filter(|x| x.is_finite());
    let count = u32::try_from(n).ok().filter(|&n| n >= 2)?;
    let mut indices: Vec<u32> = (0..count).collect();
    let point = value(&mut indices)?;

    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut draws = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        indices.fill_with(|| index_below(count, &mut rng));
        draws.push(value(&mut indices)?);
    }
    draws.sort_by(f64::total_cmp);

    let small_sample = (n as f64 / (n as f64 - 1.0)).sqrt();
    let z = t_quantile(0.5 + level / 2.0, n - 1)? * small_sample;
    let [a, b] = match method {
        Method::Bca => {
            let bias = bias(point, &draws)?;
            let acceleration = acceleration(count, &mut value)?;
            [-z, z].map(|z| bca_share(z, bias, acceleration))
        }
        _ => [-z, z].map(normal_cdf),
    };
    let (low, high) = (sample_quantile(&draws, a)?, sample_quantile(&draws, b)?);
    // a corrected interval may, for very skewed rounds, end short of the point; it is stretched to hold it
    Estimate::new(point, low.min(point), high.max(point), level, n, method)
}

/// Uniform below `n`, by multiplication; the bias, at most n / 2^32, is far below the noise of resampling.
fn index_below(n: u32, rng: &mut ChaCha8Rng) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32
}

/// Efron's z0: how far the point sits from the middle of the draws, in standard normal units. Ties count half.
fn bias(point: f64, draws: &[f64]) -> Option<f64> {
    let below = draws.partition_point(|&d| d < point) as f64;
    let upto = draws.partition_point(|&d| d <= point) as f64;
    let half = 0.5 / draws.len() as f64;
    normal_quantile(((below + upto) / 2.0 / draws.len() as f64).clamp(half, 1.0 - half))
}

/// Efron's a: a sixth of the skewness of the jackknife values. 0 where they are all alike.
fn acceleration(n: u32, value: &mut impl FnMut(&mut [u32]) -> Option<f64>) -> Option<f64> {
    let without = |left_out| -> Vec<u32> { (0..n).filter(|&i| i != left_out).collect() };
    let jackknife = (0..n).map(|i| value(&mut without(i))).collect::<Option<Vec<f64>>>()?;
    let mean = jackknife.iter().sum::<f64>() / f64::from(n);
    let (squares, cubes) = jackknife.iter().map(|x| mean - x).fold((0.0, 0.0), |(s, c), d| (s + d * d, c + d * d * d));
    let a = cubes / (6.0 * squares.powf(1.5));
    Some(if a.is_finite() { a } else { 0.0 })
}

/// The share of the draws at which the interval ends, for the normal quantile `z`. Past the pole: the very end.
fn bca_share(z: f64, bias: f64, acceleration: f64) -> f64 {
    let w = bias + z;
    let stretch = 1.0 - acceleration * w;
    if stretch > 0.0 { normal_cdf(bias + w / stretch) } else { normal_cdf(f64::INFINITY * w.signum()) }
}
