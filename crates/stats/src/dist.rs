//! Quantiles of the distributions the intervals rest on. Checked against published tables below.

use statrs::distribution::{Beta, ContinuousCDF, Normal, StudentsT};

/// Quantile of Student's t. `None` unless `0 < p < 1` and `df >= 1`.
pub(crate) fn t_quantile(p: f64, df: usize) -> Option<f64> {
    let open = p > 0.0 && p < 1.0;
    let t = StudentsT::new(0.0, 1.0, df as f64).ok().filter(|_| open)?;
    Some(t.inverse_cdf(p)).filter(|x| x.is_finite())
}

/// Quantile of the standard normal. `None` unless `0 < p < 1`.
pub(crate) fn normal_quantile(p: f64) -> Option<f64> {
    (p > 0.0 && p < 1.0).then(|| Normal::standard().inverse_cdf(p)).filter(|x| x.is_finite())
}

/// Quantile of the beta distribution. `None` unless `0 < p < 1` and both shapes are positive.
pub(crate) fn beta_quantile(p: f64, a: f64, b: f64) -> Option<f64> {
    let open = p > 0.0 && p < 1.0;
    let beta = Beta::new(a, b).ok().filter(|_| open)?;
    Some(beta.inverse_cdf(p)).filter(|x| (0.0..=1.0).contains(x))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // Fisher & Yates, Statistical Tables, table III (two-sided 10, 5, 1, 0.1 %)
    fn t_quantiles_agree_with_the_published_table() {
        let table = [
            (1, [6.314, 12.706, 63.657, 636.619]),
            (2, [2.920, 4.303, 9.925, 31.599]),
            (3, [2.353, 3.182, 5.841, 12.924]),
            (4, [2.132, 2.776, 4.604, 8.610]),
            (5, [2.015, 2.571, 4.032, 6.869]),
            (9, [1.833, 2.262, 3.250, 4.781]),
            (10, [1.812, 2.228, 3.169, 4.587]),
            (20, [1.725, 2.086, 2.845, 3.850]),
            (30, [1.697, 2.042, 2.750, 3.646]),
            (60, [1.671, 2.000, 2.660, 3.460]),
            (120, [1.658, 1.980, 2.617, 3.373]),
        ];
        for (df, row) in table {
            for (p, want) in [0.95, 0.975, 0.995, 0.9995].into_iter().zip(row) {
                let got = t_quantile(p, df).expect("inside");
                assert!((got - want).abs() <= 0.000_6, "t({p}, {df}) = {got}, table {want}");
            }
        }
    }

    #[test] // Abramowitz & Stegun, table 26.5
    fn normal_quantiles_agree_with_the_published_table() {
        for (p, want) in [(0.5, 0.0), (0.9, 1.28155), (0.975, 1.95996), (0.995, 2.57583), (0.9995, 3.29053)] {
            assert!((normal_quantile(p).expect("inside") - want).abs() < 1e-5, "{p}");
        }
    }

    #[test]
    fn outside_the_open_interval_there_is_no_quantile() {
        for p in [0.0, 1.0, -0.1, 1.1, f64::NAN] {
            assert_eq!((t_quantile(p, 3), normal_quantile(p), beta_quantile(p, 1.0, 1.0)), (None, None, None), "{p}");
        }
        assert_eq!((t_quantile(0.5, 0), beta_quantile(0.5, 0.0, 1.0)), (None, None));
    }

    #[test] // the beta quantile is found by iteration: where it claims an answer, the answer solves the equation
    fn beta_quantiles_solve_their_equation_over_the_range_in_use() {
        for n in [1_u32, 2, 3, 10, 60, 1000, 100_000] {
            for k in [0, 1, 2, n / 2, n - 1].into_iter().filter(|&k| k < n) {
                for p in [0.005, 0.025, 0.05, 0.5, 0.95, 0.975, 0.995] {
                    let (a, b) = (f64::from(k + 1), f64::from(n - k));
                    let x = beta_quantile(p, a, b).expect("inside");
                    let back = Beta::new(a, b).expect("positive").cdf(x);
                    assert!((back - p).abs() < 1e-6, "a {a}, b {b}: quantile({p}) = {x}, whose share is {back}");
                }
            }
        }
    }
}
