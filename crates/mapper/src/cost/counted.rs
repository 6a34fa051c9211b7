//! Components whose instructions were counted, and come with takt: so a cost measured here predicts another kind of
//! processor, though nobody counts anything here.
//!
//! The count is of a call of a component with certain parameters and certain packets. With others, the nearest that was
//! counted stands for it, as many times as it takes longer: that both are timed on the same processor is left to who
//! asks.

use std::sync::OnceLock;

use serde::Deserialize;
use takt_graph::Params;

use super::operations::{Operations, Profile};

/// A component as it was counted.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counted {
    #[serde(rename = "type")]
    pub kind: String,
    /// All its parameters.
    pub params: Params,
    /// Items of the packet of each of its inputs.
    pub items: Vec<u64>,
    vector: Operations,
    scalar: Operations,
}

impl Counted {
    #[must_use]
    pub fn profile(&self) -> Profile {
        Profile { vector: self.vector, scalar: self.scalar }
    }

    /// Whether it is this very component with packets of this length.
    #[must_use]
    pub fn is(&self, params: &Params, items: &[u64]) -> bool {
        self.params == *params && self.items == items
    }

    /// Everything that was counted.
    #[must_use]
    pub fn all() -> &'static [Counted] {
        #[derive(Deserialize)]
        struct File {
            component: Vec<Counted>,
        }
        static READ: OnceLock<Vec<Counted>> = OnceLock::new();
        // Broken data gives nothing, which a test would see.
        let read = || toml::from_str::<File>(include_str!("counted.toml")).map(|file| file.component);
        READ.get_or_init(|| read().unwrap_or_default())
    }

    /// The one of this type that shares most parameters, and then has packets of the nearest length. `None`: of this
    /// type nothing was counted.
    #[must_use]
    pub fn nearest(kind: &str, params: &Params, items: &[u64]) -> Option<&'static Counted> {
        let differing =
            |counted: &Counted| counted.params.iter().filter(|(name, value)| params.get(name) != Some(value)).count();
        let octaves = |counted: &Counted| {
            let sum = |items: &[u64]| items.iter().sum::<u64>().max(1) as f64;
            (sum(&counted.items) / sum(items)).log2().abs()
        };
        let of_kind = Counted::all().iter().filter(|counted| counted.kind == kind);
        of_kind.min_by(|a, b| differing(a).cmp(&differing(b)).then(octaves(a).total_cmp(&octaves(b))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_are_counts_and_nothing_is_there_twice() {
        let all = Counted::all();
        assert!(all.len() >= 20, "{}: run peers/prediction/run --components", all.len());
        for (index, one) in all.iter().enumerate() {
            assert!(one.profile().is_sound(), "{}", one.kind);
            let twice = all[..index].iter().any(|other| other.kind == one.kind && other.is(&one.params, &one.items));
            assert!(!twice, "{}", one.kind);
            // Each is the nearest to itself.
            assert_eq!(Counted::nearest(&one.kind, &one.params, &one.items), Some(one));
        }
        assert_eq!(Counted::nearest("no-such-type", &Params::new(), &[]), None);
    }

    #[test]
    fn the_nearest_shares_parameters_first_and_length_then() {
        let one = Counted::all()
            .iter()
            .find(|one| one.params.iter().next().is_some() && !one.items.is_empty())
            .expect("some");
        let longer: Vec<u64> = one.items.iter().map(|items| items + 1).collect();
        let near = Counted::nearest(&one.kind, &one.params, &longer).expect("of that type");
        assert_eq!(near.params, one.params);
        assert!(!near.is(&one.params, &longer));
    }
}
