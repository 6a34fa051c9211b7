//! A straight line through points, by least squares.

/// Intercept and slope of the line with the least squares of vertical distances (A.-M. Legendre, 1805). `None` with fewer
/// than two different `x`, or a value that is not finite.
#[must_use]
pub fn line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let n = points.len() as f64;
    let (sum_x, sum_y) = points.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0, y + point.1));
    let (mean_x, mean_y) = (sum_x / n, sum_y / n);
    let xx: f64 = points.iter().map(|(x, _)| (x - mean_x).powi(2)).sum();
    let xy: f64 = points.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    let slope = xy / xx;
    let intercept = mean_y - slope * mean_x;
    (xx > 0.0 && slope.is_finite() && intercept.is_finite()).then_some((intercept, slope))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::line;

    proptest! {
        #[test]
        fn points_on_a_line_give_it_back(
            base in -1e3_f64..1e3,
            each in -1e3_f64..1e3,
            xs in proptest::collection::btree_set(1_u32..1000, 2..20),
        ) {
            let points: Vec<(f64, f64)> = xs.iter().map(|&x| (f64::from(x), base + each * f64::from(x))).collect();
            let (b, e) = line(&points).expect("two and more");
            prop_assert!((b - base).abs() < 1e-6 && (e - each).abs() < 1e-8, "{b} {e}");
        }

        /// No other line through the same data has less squares.
        #[test]
        fn a_step_to_any_side_is_no_better(
            points in proptest::collection::vec((1.0_f64..100.0, -50.0_f64..50.0), 3..15),
            step in -1.0_f64..1.0,
            tilt in -0.1_f64..0.1,
        ) {
            if let Some((base, each)) = line(&points) {
                let squares = |b: f64, e: f64| points.iter().map(|(x, y)| (y - b - e * x).powi(2)).sum::<f64>();
                prop_assert!(squares(base, each) <= squares(base + step, each + tilt) + 1e-6);
            }
        }
    }

    #[test]
    fn one_place_has_no_line() {
        assert_eq!(line(&[(1.0, 2.0), (1.0, 3.0)]), None);
        assert_eq!(line(&[]), None);
        assert_eq!(line(&[(1.0, f64::NAN), (2.0, 1.0)]), None);
    }
}
