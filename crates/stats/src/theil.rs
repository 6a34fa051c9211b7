//! A slope that a few outliers do not move.

/// The slope of Theil and Sen through points `(x, y)`: the median of the slopes between all pairs of points with unlike
/// `x`. Up to 29 % of the points may be anything. `None` with fewer than two such points, or a value that is not finite.
///
/// H. Theil, *A rank-invariant method of linear and polynomial regression analysis*, 1950; P. K. Sen, *Estimates of the
/// regression coefficient based on Kendall's tau*, Journal of the American Statistical Association 63, 1968.
///
/// ```
/// let points = [(0.0, 1.0), (1.0, 3.0), (2.0, 5.0), (3.0, 700.0), (4.0, 9.0)];
/// assert_eq!(takt_stats::theil_sen(&points), Some(2.0));
/// ```
#[must_use]
pub fn theil_sen(points: &[(f64, f64)]) -> Option<f64> {
    if points.iter().any(|(x, y)| !x.is_finite() || !y.is_finite()) {
        return None;
    }
    let pairs = points.iter().enumerate().flat_map(|(n, a)| points[n + 1..].iter().map(move |b| (a, b)));
    let mut slopes: Vec<f64> = pairs.filter(|(a, b)| a.0 != b.0).map(|(a, b)| (b.1 - a.1) / (b.0 - a.0)).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let middle = slopes.len() / 2;
    match slopes.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(slopes[middle]),
        _ => Some(f64::midpoint(slopes[middle - 1], slopes[middle])),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn without_two_unlike_places_there_is_no_slope() {
        assert_eq!(theil_sen(&[]), None);
        assert_eq!(theil_sen(&[(1.0, 2.0), (1.0, 5.0)]), None);
        assert_eq!(theil_sen(&[(0.0, 0.0), (1.0, f64::NAN)]), None);
        assert_eq!(theil_sen(&[(0.0, 0.0), (1.0, 1.0), (2.0, 6.0), (1.0, 1.0)]), Some(3.0));
    }

    proptest! {
        /// Four outliers of sixteen, wherever and whatever: the slope stays.
        #[test]
        fn a_quarter_of_the_points_may_be_anything(
            slope in -9_i32..9, at in proptest::sample::subsequence((0..16_usize).collect::<Vec<_>>(), 4),
            wild in proptest::array::uniform4(-1e6..1e6_f64),
        ) {
            let mut points: Vec<(f64, f64)> = (0..16).map(|x| (f64::from(x), f64::from(slope * x))).collect();
            for (n, y) in at.into_iter().zip(wild) {
                points[n].1 = y;
            }
            prop_assert_eq!(theil_sen(&points), Some(f64::from(slope)));
        }
    }
}
