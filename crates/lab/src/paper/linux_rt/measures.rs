//! What each measure buys, alone and together.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_stats::{Estimate, factorial};

use super::case::{LEVEL, OWN_RATIO};
use crate::paper::part::{Part, at};
use crate::store::{RoundRow, RoundState};

/// The measures, each with the setting and the level that is the measure.
pub const MEASURES: [(&str, &str, &str); 3] =
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

/// From the blocks in which every combination counts.
pub(super) fn of(part: &Part<'_>) -> Vec<EffectFacts> {
    let mut by_combination: Vec<Vec<&RoundRow>> = vec![Vec::new(); 1 << MEASURES.len()];
    for (settings, rounds) in part.points() {
        let taken = |(bit, (_, name, level)): (usize, &(&str, &str, &str))| {
            let is = settings.get(*name).is_some_and(|value| is_level(value, level));
            usize::from(is) << bit
        };
        let combination: usize = MEASURES.iter().enumerate().map(taken).sum();
        if let Some(place) = by_combination.get_mut(combination) {
            place.extend(rounds.iter().filter(|round| round.state == RoundState::Valid));
        }
    }
    let blocks = whole_blocks(&by_combination);
    let rows: Vec<&[f64]> = blocks.iter().map(Vec::as_slice).collect();
    let effects = factorial(&rows, MEASURES.len(), LEVEL).unwrap_or_default();
    let named = |factors: &[usize]| {
        let name = |factor: &usize| MEASURES.get(*factor).map(|(name, ..)| (*name).to_owned());
        factors.iter().filter_map(name).collect()
    };
    effects
        .iter()
        .map(|effect| EffectFacts { measures: named(&effect.factors), estimate: effect.estimate, blocks: blocks.len() })
        .collect()
}

fn is_level(value: &Value, level: &str) -> bool {
    *value == json!(level) || level.parse::<f64>().is_ok_and(|number| value.as_f64() == Some(number))
}

fn whole_blocks(by_combination: &[Vec<&RoundRow>]) -> Vec<Vec<f64>> {
    let Some(first) = by_combination.first() else { return Vec::new() };
    let of = |block: u32| {
        let value = |rounds: &Vec<&RoundRow>| {
            let round = rounds.iter().find(|round| round.block == block)?;
            at(round, OWN_RATIO)
        };
        by_combination.iter().map(value).collect::<Option<Vec<f64>>>()
    };
    first.iter().filter_map(|round| of(round.block)).collect()
}
