//! [`Prices`]: what an instruction of a kind takes on a processor, found from the times of the [`probes`](super::probes), and what a
//! component takes that executes so many of each.
//!
//! ```text
//! time on B = min over both ways to compile of Σ executed(kind) * price on B(kind)
//! ```
//!
//! Only instructions are counted where the component is; nothing of it is run on B. Prices are drawn to one for all kinds, in
//! logarithms, so that a kind no probe tells about costs what instructions cost there; a probe that does not fit the model counts
//! less the further off it is.

use serde::{Deserialize, Serialize};

use super::operations::{KINDS, Operations, Profile};

/// Nanoseconds of one instruction of each kind, on one processor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(pub Operations);

/// Code that was counted, and timed on the processor requested for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timed {
    pub profile: Profile,
    /// Time of a call, ns.
    pub ns: f64,
}

/// Weight of the belief that all kinds cost the same, beside one example. This and the next are where probes, left out one at a
/// time, are predicted best by the others on two emulated processors; no component had a say.
const BELIEF: f64 = 0.03;
/// Error, as a logarithm, from which on an example counts less.
const FAR: f64 = 0.1;
/// Rounds of choosing the way each example was compiled, and of finding the prices for that.
const ROUNDS: usize = 6;

impl Prices {
    /// Those that explain the examples best. `None` if there is no example with counts and a positive time.
    ///
    /// ```
    /// use takt_mapper::{Operations, Prices, Profile, Timed};
    /// let adds = Operations { integer: 1000.0, ..Operations::default() };
    /// let example = Timed { profile: Profile { vector: adds, scalar: adds }, ns: 500.0 };
    /// let prices = Prices::learn(&[example]).unwrap();
    /// assert!((prices.of(&example.profile) - 500.0).abs() < 1e-6);
    /// ```
    #[must_use]
    pub fn learn(examples: &[Timed]) -> Option<Prices> {
        let good = |example: &&Timed| example.profile.is_sound() && example.ns.is_finite() && example.ns > 0.0;
        let examples: Vec<([[f64; KINDS]; 2], f64)> =
            examples.iter().filter(good).map(|example| (example.profile.ways(), example.ns.ln())).collect();
        let mut each: Vec<f64> =
            examples.iter().map(|(ways, ln_ns)| ln_ns - ways[0].iter().sum::<f64>().ln()).collect();
        each.sort_by(f64::total_cmp);
        let believed = *each.get(each.len() / 2)?;
        let mut logs = [believed; KINDS];
        for round in 0..ROUNDS {
            let prices = logs.map(f64::exp);
            let rows: Vec<Row> = examples
                .iter()
                .map(|([vector, scalar], ln_ns)| {
                    let takes_scalar = round > 0 && dot(scalar, &prices) < dot(vector, &prices);
                    Row { counts: if takes_scalar { *scalar } else { *vector }, ln_ns: *ln_ns }
                })
                .collect();
            logs = descend(&rows, believed);
        }
        Some(Prices(Operations::from_array(logs.map(f64::exp))))
    }

    #[must_use]
    pub fn of(&self, profile: &Profile) -> f64 {
        let [vector, scalar] = profile.ways().map(|way| dot(&way, &self.0.to_array()));
        vector.min(scalar)
    }

    /// The first price that can't be one: not finite, or not positive.
    #[must_use]
    pub fn wrong(&self) -> Option<f64> {
        self.0.to_array().into_iter().find(|price| !(price.is_finite() && *price > 0.0))
    }
}

struct Row {
    counts: [f64; KINDS],
    ln_ns: f64,
}

fn dot(a: &[f64; KINDS], b: &[f64; KINDS]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Function that is minimised: half squares of errors where they are small, their amounts where they are large, and the
/// belief.
fn objective(rows: &[Row], logs: &[f64; KINDS], believed: f64) -> f64 {
    let prices = logs.map(f64::exp);
    let errors = rows.iter().map(|row| {
        let error = dot(&row.counts, &prices).ln() - row.ln_ns;
        FAR * FAR * ((1.0 + (error / FAR).powi(2)).sqrt() - 1.0)
    });
    errors.sum::<f64>() + BELIEF / 2.0 * logs.iter().map(|log| (log - believed).powi(2)).sum::<f64>()
}

/// Logarithms of the prices, by Gauss and Newton's steps with weights, each shortened until it leads down.
fn descend(rows: &[Row], believed: f64) -> [f64; KINDS] {
    let mut logs = [believed; KINDS];
    let mut value = objective(rows, &logs, believed);
    for _ in 0..500 {
        let step = step(rows, &logs, believed);
        let next = (0..40).find_map(|halvings| {
            let part = 0.5_f64.powi(halvings);
            let next: [f64; KINDS] = std::array::from_fn(|k| logs[k] + part * step[k]);
            let reached = objective(rows, &next, believed);
            (reached < value).then_some((next, reached))
        });
        let Some((next, reached)) = next else { break };
        let gained = value - reached;
        (logs, value) = (next, reached);
        if gained < 1e-12 {
            break;
        }
    }
    logs
}

fn step(rows: &[Row], logs: &[f64; KINDS], believed: f64) -> [f64; KINDS] {
    let prices = logs.map(f64::exp);
    let mut matrix = [[0.0; KINDS]; KINDS];
    let mut side: [f64; KINDS] = std::array::from_fn(|k| -BELIEF * (logs[k] - believed));
    (0..KINDS).for_each(|k| matrix[k][k] = BELIEF);
    for row in rows {
        let predicted = dot(&row.counts, &prices);
        let error = predicted.ln() - row.ln_ns;
        let weight = 1.0 / (1.0 + (error / FAR).powi(2)).sqrt();
        let share: [f64; KINDS] = std::array::from_fn(|k| row.counts[k] * prices[k] / predicted);
        for k in 0..KINDS {
            side[k] -= weight * share[k] * error;
            (0..KINDS).for_each(|j| matrix[k][j] += weight * share[k] * share[j]);
        }
    }
    solve(matrix, side)
}

/// Gauss's elimination; the matrix is positive definite, so no pivots are sought.
fn solve(mut matrix: [[f64; KINDS]; KINDS], mut side: [f64; KINDS]) -> [f64; KINDS] {
    for k in 0..KINDS {
        let (row, value) = (matrix[k], side[k]);
        for below in k + 1..KINDS {
            let factor = matrix[below][k] / row[k];
            matrix[below].iter_mut().zip(&row).for_each(|(x, y)| *x -= factor * y);
            side[below] -= factor * value;
        }
    }
    for k in (0..KINDS).rev() {
        let known: f64 = (k + 1..KINDS).map(|j| matrix[k][j] * side[j]).sum();
        side[k] = (side[k] - known) / matrix[k][k];
    }
    side
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counts() -> impl Strategy<Value = Operations> {
        prop::array::uniform15(0.0..1000.0_f64).prop_map(|figures| Operations::from_array(figures.map(|f| f + 0.1)))
    }

    fn prices() -> impl Strategy<Value = Prices> {
        prop::array::uniform15(-2.0..3.0_f64).prop_map(|logs| Prices(Operations::from_array(logs.map(f64::exp))))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn prices_are_found_again_from_much_code(
            right in prices(), codes in prop::collection::vec(counts(), 60..80), requested in counts()
        ) {
            // Each kind on its own too, as probes have it.
            let alone = (0..KINDS).map(|kind| Operations::from_array(std::array::from_fn(|k| if k == kind { 100.0 } else { 1.0 })));
            let timed = |code: Operations| {
                let profile = Profile { vector: code, scalar: code };
                Timed { profile, ns: right.of(&profile) }
            };
            let examples: Vec<Timed> = codes.into_iter().chain(alone).map(timed).collect();
            let found = Prices::learn(&examples).expect("examples");
            let Timed { profile, ns } = timed(requested);
            prop_assert!((found.of(&profile) / ns - 1.0).abs() < 0.2, "{} {ns}", found.of(&profile));
        }

        #[test]
        fn a_processor_twice_as_slow_has_prices_twice_as_high(codes in prop::collection::vec(counts(), 1..20)) {
            let timed = |factor: f64| -> Vec<Timed> {
                let one = |(n, code): (usize, &Operations)| {
                    let profile = Profile { vector: *code, scalar: *code };
                    Timed { profile, ns: factor * (n + 1) as f64 }
                };
                codes.iter().enumerate().map(one).collect()
            };
            let (one, two) = (Prices::learn(&timed(1.0)).expect("some"), Prices::learn(&timed(2.0)).expect("some"));
            for (one, two) in one.0.to_array().iter().zip(two.0.to_array()) {
                prop_assert!((two / one / 2.0 - 1.0).abs() < 1e-3);
            }
        }
    }

    #[test]
    fn the_cheaper_way_to_compile_is_taken() {
        let prices = Prices(Operations { integer: 1.0, vector_integer: 20.0, ..Operations::default() });
        let profile = Profile {
            vector: Operations { vector_integer: 10.0, ..Operations::default() },
            scalar: Operations { integer: 150.0, ..Operations::default() },
        };
        assert_eq!(prices.of(&profile), 150.0);
    }

    #[test]
    fn examples_without_counts_or_times_tell_nothing() {
        let adds = Operations { integer: 10.0, ..Operations::default() };
        let some = Profile { vector: adds, scalar: adds };
        for (profile, ns) in [(Profile::default(), 1.0), (some, 0.0), (some, f64::NAN)] {
            assert_eq!(Prices::learn(&[Timed { profile, ns }]), None);
        }
        assert_eq!(Prices::learn(&[]), None);
    }
}
