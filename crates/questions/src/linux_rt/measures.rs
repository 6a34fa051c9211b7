//! Gain from each measure, alone and together.

use serde::{Deserialize, Serialize};
use takt_lab::store::{RoundRow, RoundState};
use takt_stats::{Effect, Estimate, factorial};

use super::failed::{Account, LEVEL};
use crate::study::part::Point;

/// A measure: its name, the setting, and the level that is the measure.
pub type Measure = (&'static str, &'static str, &'static str);

pub const MEASURES: [Measure; 3] =
    [("priority", "policy", "fifo"), ("cap", "cap", "10"), ("isolation", "cores", "isolated")];

/// Effect of measures on the failure ratio.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EffectFacts {
    /// One: a main effect. More: their interaction.
    pub measures: Vec<String>,
    /// Its addition to the failure ratio; below zero it helps.
    pub estimate: Estimate,
    pub blocks: usize,
}

/// From the blocks in which every combination counts. A measure that can't be had on this host is none of them.
pub(super) fn of(part: &[Point<'_>]) -> Vec<EffectFacts> {
    let measures: Vec<&Measure> = MEASURES.iter().filter(|measure| was_taken(part, measure)).collect();
    let mut by_combination: Vec<Vec<&RoundRow>> = vec![Vec::new(); 1 << measures.len()];
    for point in part {
        let had = MEASURES.iter().filter(|measure| is_taken(point, measure));
        if had.clone().any(|measure| !measures.contains(&measure)) {
            continue;
        }
        let combination: usize =
            (0..).zip(&measures).map(|(bit, measure)| usize::from(is_taken(point, measure)) << bit).sum();
        if let Some(place) = by_combination.get_mut(combination) {
            place.extend(point.rounds.iter().filter(|round| Account::Own.counts(round)));
        }
    }
    let blocks = whole_blocks(&by_combination);
    let rows: Vec<&[f64]> = blocks.iter().map(Vec::as_slice).collect();
    let effects = factorial(&rows, measures.len(), LEVEL).unwrap_or_default();
    let name = |factor: &usize| measures.get(*factor).map(|(name, ..)| (*name).to_owned());
    let facts = |effect: &Effect| EffectFacts {
        measures: effect.factors.iter().filter_map(name).collect(),
        estimate: effect.estimate,
        blocks: blocks.len(),
    };
    effects.iter().map(facts).collect()
}

/// Measures that this host can't have: rounds with them were to be run, and left out.
pub(super) fn not_had(part: &[Point<'_>]) -> Vec<&'static str> {
    let planned = |measure: &&Measure| part.iter().any(|point| is_taken(point, measure));
    let lacks = |measure: &&Measure| planned(measure) && !was_taken(part, measure);
    MEASURES.iter().filter(lacks).map(|(name, ..)| *name).collect()
}

/// Whether any round with a measure was run.
fn was_taken(part: &[Point<'_>], measure: &Measure) -> bool {
    let mut with = part.iter().filter(|point| is_taken(point, measure));
    with.any(|point| point.rounds.iter().any(|round| round.state != RoundState::Skipped))
}

fn is_taken(point: &Point<'_>, (_, name, level): &Measure) -> bool {
    point
        .settings
        .get(*name)
        .is_some_and(|value| value == level || level.parse::<f64>().is_ok_and(|number| value.as_f64() == Some(number)))
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
