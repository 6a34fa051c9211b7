//! Designs linear filters that estimate a random process from noisy observations: the Wiener solution, unbiased.
//!
//! With the correlation R of the observations (noise included) and r, theirs with the target, the weights R^-1 r have the
//! least error but shrink what they estimate. An equaliser would take that for a weaker channel. So the weights must add up to
//! one: R^-1 (r + mu 1), with the mu that makes it so. A constant then comes through unchanged at any noise.

/// Observations at given places, ready to estimate any target.
pub(super) struct Observations<'a, C> {
    places: &'a [f64],
    correlation: C,
    /// The lower triangle L of R = L L', row after row.
    factor: Vec<f64>,
    /// R^-1 1.
    ones: Vec<f64>,
}

impl<'a, C: Fn(f64) -> f64> Observations<'a, C> {
    /// Observations of a process of power 1 with this `correlation` over a distance, and noise of power `noise` > 0.
    pub fn new(places: &'a [f64], correlation: C, noise: f64) -> Observations<'a, C> {
        let count = places.len();
        let mut matrix = vec![0.0; count * count];
        for row in 0..count {
            for column in 0..count {
                let own = if row == column { noise } else { 0.0 };
                matrix[row * count + column] = correlation(places[row] - places[column]) + own;
            }
        }
        factorise(&mut matrix, count);
        let ones = solve(&matrix, vec![1.0; count]);
        Observations { places, correlation, factor: matrix, ones }
    }

    /// The weights for the process at `target`.
    pub fn weights(&self, target: f64) -> Vec<f64> {
        let cross = self.places.iter().map(|place| (self.correlation)(place - target)).collect();
        let free = solve(&self.factor, cross);
        let missing = (1.0 - free.iter().sum::<f64>()) / self.ones.iter().sum::<f64>();
        free.iter().zip(&self.ones).map(|(weight, one)| weight + missing * one).collect()
    }
}

/// Cholesky's decomposition, in place.
fn factorise(matrix: &mut [f64], count: usize) {
    for row in 0..count {
        for column in 0..=row {
            let known: f64 = (0..column).map(|at| matrix[row * count + at] * matrix[column * count + at]).sum();
            let rest = matrix[row * count + column] - known;
            matrix[row * count + column] =
                if row == column { rest.sqrt() } else { rest / matrix[column * count + column] };
        }
    }
}

/// Solves L L' x = b.
fn solve(factor: &[f64], mut x: Vec<f64>) -> Vec<f64> {
    let count = x.len();
    for row in 0..count {
        let known: f64 = (0..row).map(|at| factor[row * count + at] * x[at]).sum();
        x[row] = (x[row] - known) / factor[row * count + row];
    }
    for row in (0..count).rev() {
        let known: f64 = (row + 1..count).map(|at| factor[at * count + row] * x[at]).sum();
        x[row] = (x[row] - known) / factor[row * count + row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn much_noise_makes_an_average_and_little_noise_an_interpolation() {
        let places = [0.0, 4.0, 7.0, 11.0];
        let correlation = |distance: f64| (-distance * distance / 200.0).exp();
        let average = Observations::new(&places, correlation, 1e6).weights(3.0);
        assert!(average.iter().all(|weight| (weight - 0.25).abs() < 1e-3), "{average:?}");
        let exact = Observations::new(&places, correlation, 1e-9).weights(7.0);
        assert!((exact[2] - 1.0).abs() < 1e-3, "{exact:?}");
        for noise in [1e-4, 1e-2, 1.0] {
            let sum: f64 = Observations::new(&places, correlation, noise).weights(13.0).iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{noise}: {sum}");
        }
    }
}
