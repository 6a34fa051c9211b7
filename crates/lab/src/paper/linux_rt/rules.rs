//! Whether rounds were measured under the rules that the study's file states.

use std::time::Duration;

use takt_base::parse_duration;

use crate::experiment::Rules;
use crate::paper::part::at;
use crate::store::RoundRow;
use crate::workload::deadline::SUBFRAME_NS;

/// Each limit with where a round says what it was measured with, and nanoseconds of one there.
const LIMITS: [(&str, &str, u64); 3] = [
    ("radio_late", "/aside/radio_late_ns", 1),
    ("stopped_core", "/aside/stall_ns", 1),
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
        (count > 0).then(|| format!("{count} rounds were measured with another {name} than the rules say."))
    };
    LIMITS.iter().find_map(others)
}
