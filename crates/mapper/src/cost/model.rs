//! What a component that was measured on one processor costs on another.
//!
//! A component's time on its reference processor is split into shares by kind of work, its [`Mix`]; each share stretches
//! as that kind does:
//!
//! ```text
//! time on B = time on A * Σ share(kind) * capacity of A(kind) / capacity of B(kind)
//! ```
//!
//! The paper's metric is the case of one kind: time on B = time on A * MAC/s of A / MAC/s of B.
//!
//! **Where a mix comes from.** Not from the time on A alone: one figure can't tell seven. Three ways, from best founded to
//! cheapest, and none needs a time on B of the component itself:
//! - [`Mix::of_operations`]: executed instructions counted by kind (say, by an emulator or a debugger), weighed by what one of each takes
//!   on A;
//! - [`Mix::fit`]: the component's times on several *other* processors of known capacities, by non-negative least squares;
//! - [`Mix::even`]: nothing known.
//!
//! **What kernels miss.** A kernel is not the component: real code has other latencies, widths and caches. Where some
//! components were measured on both processors, [`Stretch::learn`] corrects the ratios that the kernels gave by them, and
//! [`super::evaluate`] says leave-one-out how much that helps.

use serde::{Deserialize, Serialize};

use super::nnls;
use super::work::{Capacities, PerWork, Work};

/// Shares of a component's time on its reference processor, by kind of work; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PerWork", into = "PerWork")]
pub struct Mix(PerWork);

/// Shares can't be negative, nor all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("shares of work are not finite, negative, or all zero")]
pub struct BadMix;

impl TryFrom<PerWork> for Mix {
    type Error = BadMix;

    /// Amounts in any unit of time become shares.
    fn try_from(amounts: PerWork) -> Result<Mix, BadMix> {
        let sum = amounts.sum();
        let good = sum.is_finite() && sum > 0.0 && amounts.to_array().iter().all(|&share| share >= 0.0);
        if good { Ok(Mix(PerWork::from_fn(|work| amounts.get(work) / sum))) } else { Err(BadMix) }
    }
}

impl From<Mix> for PerWork {
    fn from(mix: Mix) -> PerWork {
        mix.0
    }
}

impl Mix {
    /// All of one kind.
    #[must_use]
    pub fn only(work: Work) -> Mix {
        Mix(PerWork::from_fn(|kind| if kind == work { 1.0 } else { 0.0 }))
    }

    /// As much of each.
    #[must_use]
    pub fn even() -> Mix {
        Mix(PerWork::from_fn(|_| 1.0 / Work::ALL.len() as f64))
    }

    /// From executed operations by kind: each takes as long as the reference needs for one. `None` if nothing was counted,
    /// or the reference has no figures by kind.
    #[must_use]
    pub fn of_operations(counts: &PerWork, reference: &Capacities) -> Option<Mix> {
        let rates = reference.work_per_s?;
        Mix::try_from(PerWork::from_fn(|work| counts.get(work) / rates.get(work))).ok()
    }

    /// From the component's time on the reference and on other processors, `(capacities, ns)`, drawn to `prior` where they
    /// do not tell. `None` if the reference has no figures by kind, or a time is not positive.
    #[must_use]
    pub fn fit(reference: (&Capacities, f64), others: &[(Capacities, f64)], prior: &Mix) -> Option<Mix> {
        let (from, time_ns) = (reference.0.work_per_s?, reference.1);
        if !(time_ns > 0.0 && others.iter().all(|&(_, ns)| ns > 0.0)) {
            return None;
        }
        // Each measured time is one equation; divided by itself, so that relative errors count.
        let row = |to: &PerWork, ns: f64| (Work::ALL.map(|work| time_ns * from.get(work) / to.get(work) / ns), 1.0);
        let mut rows = vec![row(&from, time_ns)];
        rows.extend(others.iter().filter_map(|(to, ns)| Some(row(&to.work_per_s?, *ns))));
        let mut shares = nnls::solve(&rows, prior.0.to_array(), PRIOR).into_iter();
        Mix::try_from(PerWork::from_fn(|_| shares.next().unwrap_or_default())).ok()
    }

    /// The share of a kind.
    #[must_use]
    pub fn share(&self, work: Work) -> f64 {
        self.0.get(work)
    }
}

/// Weight of what is believed beside one measured time.
const PRIOR: f64 = 0.01;

/// How many times longer each kind of work takes on one processor than on another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stretch(PerWork);

/// A component that was measured on both processors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example {
    /// On the first.
    pub mix: Mix,
    /// Time on the first, ns.
    pub from_ns: f64,
    /// Time on the second, ns.
    pub to_ns: f64,
}

impl Stretch {
    /// As the kernels tell. `None` where a processor has no figures by kind.
    #[must_use]
    pub fn of_kernels(from: &Capacities, to: &Capacities) -> Option<Stretch> {
        let (from, to) = (from.work_per_s?, to.work_per_s?);
        Some(Stretch(PerWork::from_fn(|work| from.get(work) / to.get(work))))
    }

    /// Corrected by components measured on both: least squares of relative errors, drawn to what the kernels told with the
    /// weight of about one example. Examples with times that are not positive are left out.
    #[must_use]
    pub fn learn(self, examples: &[Example]) -> Stretch {
        let good = examples.iter().filter(|example| example.from_ns > 0.0 && example.to_ns > 0.0);
        let row = |example: &Example| {
            let scale = example.from_ns / example.to_ns;
            (Work::ALL.map(|work| scale * example.mix.share(work) * self.0.get(work)), 1.0)
        };
        let rows: Vec<_> = good.map(row).collect();
        // One factor for all first: kernels may be off as a whole. Then each kind's own.
        let overall =
            nnls::solve(&rows.iter().map(|(row, b)| ([row.iter().sum()], *b)).collect::<Vec<_>>(), [1.0], LEARN);
        let mut factors = nnls::solve(&rows, [overall[0]; 7], LEARN).into_iter();
        Stretch(PerWork::from_fn(|work| self.0.get(work) * factors.next().unwrap_or(1.0)))
    }

    /// How many times longer a component of this mix takes.
    #[must_use]
    pub fn of(&self, mix: &Mix) -> f64 {
        Work::ALL.iter().map(|&work| mix.share(work) * self.0.get(work)).sum()
    }
}

/// Weight of the kernels' ratio beside one example.
const LEARN: f64 = 0.05;

/// Time on `to` of a component that takes `cost_ns` on `from`. `None` where a processor has no figures by kind.
#[must_use]
pub fn predict(cost_ns: f64, mix: &Mix, from: &Capacities, to: &Capacities) -> Option<f64> {
    Stretch::of_kernels(from, to).map(|stretch| cost_ns * stretch.of(mix))
}

/// The same by the paper's metric: its time on `from` in MACs, at the MACs a second of `to`.
#[must_use]
pub fn predict_mac(cost_ns: f64, from: &Capacities, to: &Capacities) -> f64 {
    cost_ns * from.mac_per_s / to.mac_per_s
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn capacities(rates: [f64; 7]) -> Capacities {
        let mut rates = rates.into_iter();
        Capacities { mac_per_s: 600e6, work_per_s: Some(PerWork::from_fn(|_| rates.next().expect("seven") * 1e9)) }
    }

    fn rates() -> impl Strategy<Value = Capacities> {
        prop::array::uniform7(0.1..10.0_f64).prop_map(capacities)
    }

    fn mixes() -> impl Strategy<Value = Mix> {
        prop::array::uniform7(0.0..1.0_f64).prop_map(|shares| {
            let mut shares = shares.into_iter();
            Mix::try_from(PerWork::from_fn(|_| shares.next().expect("seven") + 1e-6)).expect("positive")
        })
    }

    proptest! {
        #[test]
        fn the_same_processor_costs_the_same_and_a_twice_faster_one_half(
            mix in mixes(), from in rates(), cost_ns in 1.0..1e9_f64
        ) {
            let same = predict(cost_ns, &mix, &from, &from).expect("by kind");
            prop_assert!((same / cost_ns - 1.0).abs() < 1e-9);
            let twice = from.work_per_s.map(|rates| PerWork::from_fn(|work| 2.0 * rates.get(work)));
            let half = predict(cost_ns, &mix, &from, &Capacities { work_per_s: twice, ..from }).expect("by kind");
            prop_assert!((half / cost_ns - 0.5).abs() < 1e-9);
        }

        #[test]
        fn a_mix_seen_on_many_processors_is_found_again(
            mix in mixes(), from in rates(), others in prop::collection::vec(rates(), 40)
        ) {
            let seen = |to: &Capacities| (*to, predict(1e6, &mix, &from, to).expect("by kind"));
            let others: Vec<_> = others.iter().map(seen).collect();
            let found = Mix::fit((&from, 1e6), &others, &Mix::even()).expect("a fit");
            for (to, ns) in &others {
                let again = predict(1e6, &found, &from, to).expect("by kind");
                prop_assert!((again / ns - 1.0).abs() < 0.05, "{again} {ns}");
            }
        }

        #[test]
        fn ratios_learned_from_components_predict_them_better_than_the_kernels_did(
            wrong in rates(), right in rates(), from in rates(), mixes in prop::collection::vec(mixes(), 20)
        ) {
            let example = |mix: &Mix| Example { mix: *mix, from_ns: 1e6, to_ns: predict(1e6, mix, &from, &right).expect("by kind") };
            let examples: Vec<Example> = mixes.iter().map(example).collect();
            let kernels = Stretch::of_kernels(&from, &wrong).expect("by kind");
            let squares = |stretch: &Stretch| -> f64 {
                examples.iter().map(|e| (e.from_ns * stretch.of(&e.mix) / e.to_ns - 1.0).powi(2)).sum()
            };
            prop_assert!(squares(&kernels.learn(&examples)) <= squares(&kernels) + 1e-9);
        }
    }

    #[test]
    fn instructions_weigh_what_one_of_their_kind_takes() {
        let slow_tables = capacities([1.0, 1.0, 1.0, 1.0, 0.25, 1.0, 1.0]);
        let counts = PerWork { integer: 300.0, table: 100.0, ..PerWork::default() };
        let mix = Mix::of_operations(&counts, &slow_tables).expect("counted");
        assert_eq!((mix.share(Work::Integer), mix.share(Work::Table)), (300.0 / 700.0, 400.0 / 700.0));
        assert_eq!(Mix::of_operations(&PerWork::default(), &slow_tables), None);
    }

    #[test]
    fn the_papers_metric_is_one_ratio() {
        let arm = Capacities { mac_per_s: 200e6, work_per_s: None };
        assert_eq!(predict_mac(104_000.0, &capacities([1.0; 7]), &arm), 312_000.0);
        assert_eq!(predict(104_000.0, &Mix::even(), &capacities([1.0; 7]), &arm), None);
    }
}
