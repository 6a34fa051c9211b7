//! What each measure buys, alone and together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_lab::store::{RoundRow, RoundState};
use takt_stats::{Estimate, factorial};

use super::failed::{Account, LEVEL};
use crate::part::Part;

/// A measure: its name, the setting, and the level that is the measure.
pub type Measure = (&'static str, &'static str, &'static str);

/// The measures.
pub const MEASURES: [Measure; 3] =
    [("priority", "scheduling", "fifo"), ("cap", "cap", "10"), ("isolation", "cores", "isolated")];

/// What measures do to the failure ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectFacts {
    /// One: a main effect. More: their interaction.
    pub measures: Vec<String>,
    /// What it adds to the failure ratio; below zero it helps.
    pub estimate: Estimate,
    /// Blocks it rests on.
    pub blocks: usize,
}

/// From the blocks in which every combination counts. A measure that can't be had on this host is none of them.
pub(super) fn of(part: &Part<'_>) -> Vec<EffectFacts> {
    let measures: Vec<&Measure> = MEASURES.iter().filter(|measure| was_taken(part, measure)).collect();
    let mut by_combination: Vec<Vec<&RoundRow>> = vec![Vec::new(); 1 << measures.len()];
    for (settings, rounds) in part.points() {
        let had = MEASURES.iter().filter(|measure| is_taken(settings, measure));
        if had.clone().any(|measure| !measures.contains(&measure)) {
            continue;
        }
        let combination: usize =
            (0..).zip(&measures).map(|(bit, measure)| usize::from(is_taken(settings, measure)) << bit).sum();
        if let Some(place) = by_combination.get_mut(combination) {
            place.extend(rounds.iter().filter(|round| Account::Own.counts(round)));
        }
    }
    let blocks = whole_blocks(&by_combination);
    let rows: Vec<&[f64]> = blocks.iter().map(Vec::as_slice).collect();
    let effects = factorial(&rows, measures.len(), LEVEL).unwrap_or_default();
    let named = |factors: &[usize]| {
        let name = |factor: &usize| measures.get(*factor).map(|(name, ..)| (*name).to_owned());
        factors.iter().filter_map(name).collect()
    };
    effects
        .iter()
        .map(|effect| EffectFacts { measures: named(&effect.factors), estimate: effect.estimate, blocks: blocks.len() })
        .collect()
}

/// Measures that this host can't have: rounds with them were to be run, and left out.
pub(super) fn not_had(part: &Part<'_>) -> Vec<&'static str> {
    let planned = |measure: &&Measure| part.points().any(|(settings, _)| is_taken(settings, measure));
    let lacks = |measure: &&Measure| planned(measure) && !was_taken(part, measure);
    MEASURES.iter().filter(lacks).map(|(name, ..)| *name).collect()
}

/// Whether any round with a measure was run.
fn was_taken(part: &Part<'_>, measure: &Measure) -> bool {
    let mut with = part.points().filter(|(settings, _)| is_taken(settings, measure));
    with.any(|(_, rounds)| rounds.iter().any(|round| round.state != RoundState::Skipped))
}

fn is_taken(settings: &BTreeMap<String, Value>, (_, name, level): &Measure) -> bool {
    settings.get(*name).is_some_and(|value| is_level(value, level))
}

fn is_level(value: &Value, level: &str) -> bool {
    *value == json!(level) || level.parse::<f64>().is_ok_and(|number| value.as_f64() == Some(number))
}

fn whole_blocks(by_combination: &[Vec<&RoundRow>]) -> Vec<Vec<f64>> {
    let Some(first) = by_combination.first() else { return Vec::new() };
    let of = |block: u32| {
        let value = |rounds: &Vec<&RoundRow>| {
            let round = rounds.iter().find(|round| round.block == block)?;
            Account::Own.ratio(round)
        };
        by_combination.iter().map(value).collect::<Option<Vec<f64>>>()
    };
    first.iter().filter_map(|round| of(round.block)).collect()
}
