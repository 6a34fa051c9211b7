//! The experiments that come with the program.

/// Name and text of each, from `experiments/` of the sources.
pub const LIBRARY: &[(&str, &str)] = &[
    ("check", include_str!("../../../../experiments/check.toml")),
    ("aloe", include_str!("../../../../experiments/aloe.toml")),
];

/// The text of one.
#[must_use]
pub fn named(name: &str) -> Option<&'static str> {
    LIBRARY.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::LIBRARY;
    use crate::experiment::{Depth, Experiment};

    #[test]
    fn every_experiment_of_the_library_can_be_run() {
        for (name, text) in LIBRARY {
            let experiment = Experiment::parse(name, text).unwrap_or_else(|error| panic!("{}: {error}", error.place()));
            assert!(!experiment.points(Depth::Quick).is_empty());
            assert!(experiment.points(Depth::Full).len() >= experiment.points(Depth::Quick).len());
        }
    }

    #[test]
    fn the_needed_rates_of_the_check_are_measured_at_either_depth() {
        let check = Experiment::parse("check", super::named("check").unwrap()).unwrap();
        for depth in [Depth::Full, Depth::Quick] {
            let needed = check.points(depth).iter().filter(|point| check.is_needed(point)).count();
            assert_eq!(needed, check.needs.len(), "{depth:?}");
        }
    }
}
