//! Whether rounds were measured under the rules that the study's file states.

use std::time::Duration;

use takt_base::parse_duration;
use takt_base::words::plural;
use takt_lab::experiment::Rules;
use takt_lab::store::RoundRow;
use takt_load::deadline::SUBFRAME_NS;

use crate::study::part::at;

/// Each limit with where a round says what it was measured with, and nanoseconds of one there.
const LIMITS: [(&str, &str, u64); 3] = [
    ("radio_late", "/excluded/radio_late_ns", 1),
    ("stopped_core", "/excluded/stall_ns", 1),
    ("cluster", "/segments/subframes", SUBFRAME_NS),
];

/// A sentence where some rounds were measured with other limits, or the file has limits that nothing is measured with.
pub(super) fn broken(rules: &Rules, rounds: &[RoundRow]) -> Option<String> {
    let unknown = rules.limits.keys().find(|name| LIMITS.iter().all(|(known, ..)| known != name));
    if let Some(name) = unknown {
        return Some(format!("The rules have a limit that nothing is measured with: {name}."));
    }
    let others = |(name, place, unit): &(&str, &str, u64)| {
        let wanted = rules.limits.get(*name).and_then(|text| parse_duration(text).ok())?;
        let unlike = |round: &&RoundRow| {
            at(round, place).is_some_and(|value| Duration::from_nanos(value as u64 * unit) != wanted)
        };
        let count = rounds.iter().filter(unlike).count();
        let rounds = plural(count, "round");
        (count > 0).then(|| format!("Not measured with the {name} that the rules say: {rounds}."))
    };
    LIMITS.iter().find_map(others)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use takt_lab::experiment::{Experiment, named};
    use takt_lab::store::{Record, testing};

    fn round(radio_late_ns: u64) -> RoundRow {
        let excluded = json!({ "radio_late_ns": radio_late_ns, "stall_ns": 150_000 });
        let result = json!({ "excluded": excluded, "segments": { "subframes": 10 } });
        testing::round(0, Record { result, ..Record::default() })
    }

    fn rules() -> Rules {
        let file = Experiment::parse("linux-rt", &named("linux-rt").unwrap()).unwrap();
        file.study.and_then(|study| study.rules).expect("the study has rules")
    }

    #[test]
    fn rounds_measured_with_other_limits_than_the_files_are_reported() {
        assert_eq!(broken(&rules(), &[round(200_000), round(200_000)]), None);
        let said = broken(&rules(), &[round(200_000), round(300_000)]);
        assert_eq!(said.as_deref(), Some("Not measured with the radio_late that the rules say: 1 round."));
    }

    #[test]
    fn a_limit_that_nothing_is_measured_with_is_reported() {
        let mut rules = rules();
        rules.limits.insert("stall".into(), "1ms".into());
        assert!(broken(&rules, &[]).is_some_and(|said| said.ends_with(": stall.")));
    }
}
