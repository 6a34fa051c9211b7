//! Cost on one processor of a component that was measured on another.
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
//! A mix comes from executed instructions counted by kind, each weighed by what one takes on A. It is kept beside
//! [`super::prices`], which is what [`crate::map`] predicts by, so that `peers/prediction` can say how much worse it is.

use serde::{Deserialize, Serialize};

use super::work::{Capacities, PerWork, Work};

/// Shares of a component's time on its reference processor, by kind of work; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PerWork", into = "PerWork")]
pub struct Mix(PerWork);

/// Shares can't be negative, nor all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the shares of work are all zero, or one is negative or not finite")]
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
    #[must_use]
    pub fn only(work: Work) -> Mix {
        Mix(PerWork::from_fn(|kind| if kind == work { 1.0 } else { 0.0 }))
    }

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

    #[must_use]
    pub fn share(&self, work: Work) -> f64 {
        self.0.get(work)
    }
}

/// Time on `to` of a component that takes `cost_ns` on `from`. `None` where a processor has no figures by kind.
#[must_use]
pub fn predict(cost_ns: f64, mix: &Mix, from: &Capacities, to: &Capacities) -> Option<f64> {
    let (from, to) = (from.work_per_s?, to.work_per_s?);
    Some(Work::ALL.iter().map(|&work| cost_ns * mix.share(work) * from.get(work) / to.get(work)).sum())
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
