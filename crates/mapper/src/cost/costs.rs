//! [`Costs`]: what components took, measured once, stored, used again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::metric::Metric;
use super::model::predict_mac;
use super::operations::Profile;
use super::prices::Prices;
use super::work::Capacities;

/// Times of the components of a waveform on one processor. Stored as JSON or TOML through serde.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "costs, as `takt map WAVEFORM --save-costs FILE` writes them")]
pub struct Costs {
    /// The processor they were measured on: the name of a core class.
    pub reference: String,
    /// Capacities of that processor; without them the costs hold for cores of that class alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacities: Option<Capacities>,
    /// By the component's name in the waveform.
    #[serde(default)]
    pub components: BTreeMap<String, Cost>,
    /// Their instructions in a slot, by name, where they were counted: predicts processors whose instructions have
    /// prices.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub profiles: BTreeMap<String, Profile>,
    /// For profiles of the same component with other parameters or packets, by name. The component takes so many times
    /// as long on the reference. Its profile has been made so many times as large.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub scaled: BTreeMap<String, f64>,
}

/// Execution times of a component, ns a slot.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "the times of a component")]
pub struct Cost {
    pub p50_ns: u64,
    /// Exceeded once in a hundred slots.
    pub p99_ns: u64,
    pub max_ns: u64,
    /// Executions measured.
    pub n: u64,
}

/// Costs of two kinds of processors do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file has costs of `{old}`, but the new costs are of `{new}`")]
pub struct OtherClass {
    pub old: String,
    pub new: String,
}

/// Which figure of a [`Cost`] to plan with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantile {
    /// Right for throughput, wrong for slots.
    P50,
    /// One execution in a hundred may be longer; what the allowed share of the slot leaves is for those.
    #[default]
    P99,
    /// The longest seen.
    Max,
}

impl Cost {
    /// Measured once, or declared: all figures the same.
    #[must_use]
    pub fn exactly(ns: u64) -> Cost {
        Cost { p50_ns: ns, p99_ns: ns, max_ns: ns, n: 1 }
    }

    /// The figure to plan with.
    #[must_use]
    pub fn at(&self, quantile: Quantile) -> u64 {
        match quantile {
            Quantile::P50 => self.p50_ns,
            Quantile::P99 => self.p99_ns,
            Quantile::Max => self.max_ns,
        }
    }
}

impl Costs {
    /// None yet, of this processor.
    #[must_use]
    pub fn of(reference: &str, capacities: Option<Capacities>) -> Costs {
        Costs { reference: reference.to_owned(), capacities, ..Costs::default() }
    }

    #[must_use]
    pub fn with(mut self, component: &str, cost: Cost) -> Costs {
        self.components.insert(component.to_owned(), cost);
        self
    }

    /// With what is known there of components that are not known here. Profiles go with their component.
    #[must_use]
    pub fn or(mut self, other: Costs) -> Costs {
        self.capacities = self.capacities.or(other.capacities);
        for (name, profile) in other.profiles {
            if self.profiles.contains_key(&name) {
                continue;
            }
            if let Some(&times) = other.scaled.get(&name) {
                self.scaled.insert(name.clone(), times);
            }
            self.profiles.insert(name, profile);
        }
        for (name, cost) in other.components {
            self.components.entry(name).or_insert(cost);
        }
        self
    }

    /// [`or`](Self::or), for what was kept before.
    ///
    /// # Errors
    /// That is of another kind of processor.
    pub fn beside(self, old: Costs) -> Result<Costs, OtherClass> {
        if old.reference == self.reference {
            Ok(self.or(old))
        } else {
            Err(OtherClass { old: old.reference, new: self.reference })
        }
    }

    /// Time on a core of this class for `ns` of a component on the reference, and the metric that predicts it. It is
    /// the same on the reference itself; else by counted instructions where the class has prices, by MACs where both
    /// capacities are known. `None`: nothing tells.
    pub(crate) fn on(
        &self,
        component: &str,
        ns: u64,
        class: &str,
        to: (Option<&Capacities>, Option<&Prices>),
    ) -> Option<(u64, Metric)> {
        let cost = self.components.get(component);
        if class == self.reference {
            return Some((ns, if cost.is_some() { Metric::Measured } else { Metric::Budget }));
        }
        // Counts are of a call like any other and give the median; how far a quantile is from it is taken from here.
        let by_price = || {
            let profile = self.profiles.get(component).filter(|profile| profile.is_sound())?;
            let ns = to.1?.of(profile) * (ns as f64 / cost?.p50_ns.max(1) as f64).max(1.0);
            Some((ns, if self.scaled.contains_key(component) { Metric::Scaled } else { Metric::Instructions }))
        };
        let by_mac = || Some((predict_mac(ns as f64, self.capacities.as_ref()?, to.0?), Metric::Mac));
        let (ns, metric) = by_price().or_else(by_mac)?;
        // Up, so that a cost never vanishes; saturates.
        Some((ns.ceil() as u64, metric))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::operations::Operations;
    use crate::cost::work::PerWork;

    fn known() -> Costs {
        let capacities = Capacities { mac_per_s: 6e8, work_per_s: Some(PerWork::from_fn(|_| 1e9)) };
        let crc = Cost { p50_ns: 900, p99_ns: 1200, max_ns: 4000, n: 100_000 };
        let executed = Operations { integer: 50.0, vector_load: 3.5, ..Operations::default() };
        let mut costs = Costs::of("zen5", Some(capacities)).with("crc", crc).with("sink", Cost::exactly(80));
        costs.profiles.insert("crc".to_owned(), Profile { vector: executed, scalar: executed });
        costs.scaled.insert("crc".to_owned(), 2.5);
        costs
    }

    #[test]
    fn costs_read_back_from_json_and_toml() {
        let costs = known();
        let json = serde_json::to_string(&costs).expect("JSON");
        assert_eq!(serde_json::from_str::<Costs>(&json).expect("read"), costs);
        let file = toml::to_string(&costs).expect("TOML");
        assert_eq!(toml::from_str::<Costs>(&file).expect("read"), costs);
        assert!(toml::from_str::<Costs>(&file.replace("p99_ns", "p98_ns")).is_err());
    }

    #[test]
    fn what_is_not_known_is_taken_from_other_costs_and_what_is_known_stays() {
        let some = Costs::of("zen5", None).with("sink", Cost::exactly(70)).with("fft", Cost::exactly(10));
        let all = some.or(known());
        assert_eq!((all.components["sink"].p50_ns, all.components["crc"].p50_ns), (70, 900));
        assert_eq!((all.components.len(), all.scaled["crc"]), (3, 2.5));
        assert!(all.profiles.contains_key("crc") && all.capacities.is_some());
    }

    #[test]
    fn the_best_that_is_known_predicts_and_says_what_it_is() {
        let capacities = |mac_per_s| Capacities { mac_per_s, work_per_s: None };
        let (fast, slow) = (capacities(4e8), capacities(2e8));
        let late = Cost { p99_ns: 150, max_ns: 400, ..Cost::exactly(100) };
        let mut costs = Costs::of("fast", Some(fast)).with("any", Cost::exactly(100)).with("late", late);
        let on = |costs: &Costs, name: &str, class, to, prices| {
            let ns = costs.components.get(name).map_or(70, |cost| cost.at(Quantile::P99));
            costs.on(name, ns, class, (to, prices))
        };
        assert_eq!(on(&costs, "any", "slow", Some(&slow), None), Some((200, Metric::Mac)));
        assert_eq!(on(&costs, "any", "slow", None, None), None);
        assert_eq!(on(&costs, "any", "fast", None, None), Some((100, Metric::Measured)));
        assert_eq!(on(&costs, "budgeted", "fast", None, None), Some((70, Metric::Budget)));
        assert_eq!(on(&costs, "budgeted", "slow", Some(&slow), None), Some((140, Metric::Mac)));
        let executed = Operations { integer: 50.0, ..Operations::default() };
        costs.profiles.insert("late".to_owned(), Profile { vector: executed, scalar: executed });
        let prices = Prices(Operations { integer: 20.0, ..Operations::default() });
        // The quantile as far from the median as on the reference.
        assert_eq!(on(&costs, "late", "slow", None, Some(&prices)), Some((1500, Metric::Instructions)));
        assert_eq!(on(&costs, "any", "slow", Some(&slow), Some(&prices)), Some((200, Metric::Mac)));
        costs.scaled.insert("late".to_owned(), 3.0);
        assert_eq!(on(&costs, "late", "slow", None, Some(&prices)), Some((1500, Metric::Scaled)));
    }
}
