//! The points of one part of a study with their rounds, and what is read from a record.

use std::collections::BTreeMap;

use serde_json::Value;
use takt_base::parse_duration;
use takt_lab::StoredRun;
use takt_lab::experiment::Depth;
use takt_lab::store::{PointRow, RoundRow, RoundState};

use crate::study::Figure;

/// A point with its rounds.
pub(crate) struct Point<'a> {
    /// Settings of the file, factors included.
    pub(crate) settings: BTreeMap<String, Value>,
    pub(crate) rounds: Vec<&'a RoundRow>,
}

/// The points of the part of this name.
pub(crate) fn part<'a>(stored: &'a StoredRun, name: &str) -> Vec<Point<'a>> {
    let part = stored.file.parts.iter().find(|part| part.name == name);
    let mut fixed = part.map(|part| part.fixed.clone()).unwrap_or_default();
    if stored.depth == Depth::Quick {
        fixed.extend(part.map(|part| part.fixed_quick.clone()).unwrap_or_default());
    }
    let point = |(number, point): (u32, &PointRow)| {
        let mut settings = fixed.clone();
        settings.extend(point.factors.clone());
        Point { settings, rounds: stored.rounds.iter().filter(|round| round.point == number).collect() }
    };
    (0..).zip(&stored.points).filter(|(_, point)| point.part == name).map(point).collect()
}

impl<'a> Point<'a> {
    /// A setting as a whole number; 1 where it is none.
    pub(crate) fn whole(&self, name: &str) -> usize {
        self.settings.get(name).and_then(Value::as_u64).unwrap_or(1) as usize
    }

    pub(crate) fn slot_us(&self) -> f64 {
        let slot = self.settings.get("slot").and_then(Value::as_str).and_then(|text| parse_duration(text).ok());
        slot.unwrap_or_default().as_secs_f64() * 1e6
    }

    /// A number of each round's result.
    pub(crate) fn at(&self, pointer: &str) -> Figure {
        Figure::of(&self.rounds, |round| at(round, pointer))
    }

    pub(crate) fn counted(&self) -> impl Iterator<Item = &'a RoundRow> {
        self.rounds.iter().copied().filter(|round| round.state == RoundState::Valid)
    }

    /// Why a round was not run, if one was not.
    pub(crate) fn skipped(&self) -> Option<String> {
        self.rounds.iter().find(|round| round.record.is_none()).and_then(|round| round.why.clone())
    }
}

/// A number of a round's result.
pub(crate) fn at(round: &RoundRow, pointer: &str) -> Option<f64> {
    round.record.as_ref()?.result.pointer(pointer)?.as_f64()
}
