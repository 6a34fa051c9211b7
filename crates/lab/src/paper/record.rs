//! The list of all rounds, and what a run left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::check::{less, sentence};
use crate::experiment::settings::Kind;
use crate::experiment::{Depth, Experiment, plain, quantities};
use crate::store::{PointRow, RoundRow, RoundState};

/// A round, for the list of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundRecord {
    /// Row in the store.
    pub round_id: i64,
    /// Part and factors.
    pub point: String,
    /// What became of it.
    pub state: RoundState,
    /// Why it does not count.
    pub why: Option<String>,
    /// Its figures: name and value.
    pub figures: BTreeMap<String, f64>,
}

pub(super) fn records(file: &Experiment, points: &[PointRow], rounds: &[RoundRow]) -> Vec<RoundRecord> {
    let kind = |name: &str| file.parts.iter().find(|part| part.name == name).map(|part| part.kind);
    let label = |number: u32| {
        let point = points.get(number as usize)?;
        let levels = point.factors.iter().map(|(name, level)| format!(" {name}={}", plain(level)));
        Some(point.part.clone() + &levels.collect::<String>())
    };
    let figures = |round: &RoundRow| -> BTreeMap<String, f64> {
        let (Some(kind), Some(record)) = (kind(&round.part), &round.record) else { return BTreeMap::new() };
        let of = |kind: Kind| quantities(kind).filter_map(|q| Some((q.name.to_owned(), q.read(&record.result)?)));
        of(kind).collect()
    };
    let row = |round: &RoundRow| RoundRecord {
        round_id: round.id,
        point: label(round.point).unwrap_or_default(),
        state: round.state,
        why: round.why.clone(),
        figures: figures(round),
    };
    rounds.iter().map(row).collect()
}

/// What this depth left out, and what this machine could not do.
pub(super) fn left_out(file: &Experiment, depth: Depth, points: &[PointRow]) -> Vec<String> {
    let mut words = Vec::new();
    if depth == Depth::Quick && file.rounds.quick < file.rounds.full {
        words.push(format!("{} rounds of each point, where a full run has {}", file.rounds.quick, file.rounds.full));
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
        if depth == Depth::Quick {
            for (name, quick) in &part.fixed_quick {
                let full = part.fixed.get(name).map(plain).unwrap_or_default();
                words.push(less(&part.name, name, &plain(quick), &full));
            }
        }
    }
    words.iter().map(|words| sentence(words)).collect()
}
