//! Least squares with unknowns that can't be negative, drawn to a prior.

/// The x >= 0 that minimises |A x - b|² + weight |x - prior|², by descent along one coordinate after another: each step is
/// exact, the sum is strictly convex for `weight` > 0, so it goes to the one minimum there is.
///
/// `rows`: the rows of A with their b. `weight` > 0.
pub(super) fn solve<const N: usize>(rows: &[([f64; N], f64)], prior: [f64; N], weight: f64) -> [f64; N] {
    let mut x = prior.map(|p| p.max(0.0));
    for _ in 0..STEPS {
        let mut moved = 0.0_f64;
        for k in 0..N {
            let (mut numerator, mut denominator) = (weight * prior[k], weight);
            for (row, b) in rows {
                let others: f64 = (0..N).filter(|&j| j != k).map(|j| row[j] * x[j]).sum();
                numerator += row[k] * (b - others);
                denominator += row[k] * row[k];
            }
            let next = (numerator / denominator).max(0.0);
            moved = moved.max((next - x[k]).abs());
            x[k] = next;
        }
        if moved < 1e-12 {
            break;
        }
    }
    x
}

const STEPS: usize = 20_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_feasible_direction_leads_further_down(
            rows in prop::collection::vec((prop::array::uniform3(0.0..4.0_f64), -1.0..4.0_f64), 0..8),
            prior in prop::array::uniform3(0.0..2.0_f64), weight in 0.01..2.0_f64
        ) {
            let x = solve(&rows, prior, weight);
            for k in 0..3 {
                // Half the gradient: zero where x is free, not negative where it is held at zero.
                let fit: f64 = rows.iter().map(|(row, b)| {
                    let sum: f64 = row.iter().zip(&x).map(|(a, x)| a * x).sum();
                    row[k] * (sum - b)
                }).sum();
                let slope = fit + weight * (x[k] - prior[k]);
                prop_assert!(x[k] >= 0.0);
                prop_assert!(if x[k] > 0.0 { slope.abs() < 1e-6 } else { slope > -1e-6 }, "{x:?} {slope}");
            }
        }
    }
}
