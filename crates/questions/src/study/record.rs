//! The list of all rounds, and what a run left out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::check::less;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::words::{plural, sentence};
use takt_lab::StoredRun;
use takt_lab::experiment::{Depth, plain};
use takt_lab::store::{PointRow, RoundRow, RoundState};

/// A round, for the list of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    pub round_id: i64,
    pub point: String,
    pub state: RoundState,
    pub why: Option<String>,
    pub figures: BTreeMap<String, f64>,
}

pub(super) fn records(stored: &StoredRun) -> Vec<RoundRecord> {
    let kind = |name: &str| stored.file.parts.iter().find(|part| part.name == name).map(|part| part.kind);
    let figures = |round: &RoundRow| -> BTreeMap<String, f64> {
        let (Some(kind), Some(record)) = (kind(&round.part), &round.record) else { return BTreeMap::new() };
        kind.quantities().iter().filter_map(|q| Some((q.name.to_owned(), q.read(&record.result)?))).collect()
    };
    let row = |round: &RoundRow| RoundRecord {
        round_id: round.id,
        point: stored.points.get(round.point as usize).map(PointRow::label).unwrap_or_default(),
        state: round.state,
        why: round.why.clone(),
        figures: figures(round),
    };
    stored.rounds.iter().map(row).collect()
}

/// Reasons that are named, the one with most points first.
const REASONS: usize = 3;

/// Reasons why points were skipped on this machine, and how many for each.
fn skipped(rounds: &[RoundRow]) -> Vec<String> {
    let mut reasons: BTreeMap<&str, BTreeSet<u32>> = BTreeMap::new();
    for round in rounds.iter().filter(|round| round.state == RoundState::Skipped) {
        reasons.entry(round.why.as_deref().unwrap_or("unknown")).or_default().insert(round.point);
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().map(|(why, points)| (why, points.len())).collect();
    reasons.sort_by_key(|&(_, points)| Reverse(points));
    let more = reasons.len().saturating_sub(REASONS);
    let named =
        reasons.iter().take(REASONS).map(|(why, points)| format!("not run, {}: {why}", plural(*points, "point")));
    let others = || format!("not run, for {}; see the list of all rounds", plural(more, "more reason"));
    named.chain((more > 0).then(others)).collect()
}

/// Omissions of this depth, and what this machine could not do.
pub(super) fn left_out(stored: &StoredRun) -> Vec<String> {
    let StoredRun { file, depth, points, .. } = stored;
    let (quick_run, mut words) = (*depth == Depth::Quick, skipped(&stored.rounds));
    if quick_run && file.rounds.quick < file.rounds.full {
        words.push(format!("{} rounds of each point (full run: {})", file.rounds.quick, file.rounds.full));
    }
    for part in &file.parts {
        let own = || points.iter().filter(|point| point.part == part.name);
        if own().next().is_none() {
            words.push(format!("not run: part {}", part.name));
            continue;
        }
        for factor in &part.factors {
            let run = |level: &Value| own().any(|point| point.factors.get(&factor.name) == Some(level));
            let missing: Vec<String> = factor.full.iter().filter(|level| !run(level)).map(plain).collect();
            if !missing.is_empty() {
                words.push(format!("not run: {} with {} {}", part.name, factor.name, missing.join(", ")));
            }
        }
        if quick_run {
            for (name, quick) in &part.fixed_quick {
                let full = part.fixed.get(name).map(plain).unwrap_or_default();
                words.push(less(&part.name, name, &plain(quick), &full));
            }
        }
    }
    words.iter().map(|words| sentence(words)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use takt_lab::store::testing::round;

    fn skipped_at(point: u32, why: &str) -> RoundRow {
        let blank = round(0, takt_lab::store::Record::default());
        RoundRow { point, state: RoundState::Skipped, why: Some(why.into()), record: None, ..blank }
    }

    #[test]
    fn what_this_machine_lacks_is_reported_once_with_the_points_it_cost() {
        let mut rounds = vec![skipped_at(7, "this kernel has no SCHED_DEADLINE")];
        let vm = "vm can't be had here: no kernel (fix: get one)";
        rounds.extend([skipped_at(1, vm), skipped_at(2, vm), skipped_at(2, vm)]);
        let lines = [
            "not run, 2 points: vm can't be had here: no kernel (fix: get one)",
            "not run, 1 point: this kernel has no SCHED_DEADLINE",
        ];
        assert_eq!(skipped(&rounds), lines);
        rounds.extend([skipped_at(8, "a"), skipped_at(9, "b"), skipped_at(10, "c")]);
        let lines = skipped(&rounds);
        assert_eq!(lines.len(), REASONS + 1);
        assert_eq!(lines[REASONS], "not run, for 2 more reasons; see the list of all rounds");
        rounds.pop();
        assert_eq!(skipped(&rounds)[REASONS], "not run, for 1 more reason; see the list of all rounds");
        assert_eq!(skipped(&[round(0, takt_lab::store::Record::default())]), [""; 0], "one that was run");
    }
}
