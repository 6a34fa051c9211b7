//! The points of one part of a study with their rounds, and what is read from a record.

use std::collections::BTreeMap;

use serde_json::Value;
use takt_lab::experiment::{Depth, Experiment};
use takt_lab::store::{PointRow, RoundRow};

/// The points of one part with their rounds.
pub(super) struct Part<'a> {
    points: Vec<(BTreeMap<String, Value>, Vec<&'a RoundRow>)>,
}

impl<'a> Part<'a> {
    /// The part of this name: each point's settings, as far as the file sets them, and its rounds.
    pub(super) fn of(
        file: &Experiment,
        points: &[PointRow],
        rounds: &'a [RoundRow],
        name: &str,
        depth: Depth,
    ) -> Part<'a> {
        let fixed = file.parts.iter().find(|part| part.name == name).map(|part| {
            let mut fixed = part.fixed.clone();
            if depth == Depth::Quick {
                fixed.extend(part.fixed_quick.clone());
            }
            fixed
        });
        let of = |(number, point): (u32, &PointRow)| {
            let mut settings = fixed.clone().unwrap_or_default();
            settings.extend(point.factors.clone());
            (settings, rounds.iter().filter(|round| round.point == number).collect())
        };
        Part { points: (0..).zip(points).filter(|(_, point)| point.part == name).map(of).collect() }
    }

    pub(super) fn points(&self) -> impl Iterator<Item = (&BTreeMap<String, Value>, &[&'a RoundRow])> {
        self.points.iter().map(|(settings, rounds)| (settings, rounds.as_slice()))
    }
}

/// A number of a round's result.
pub(super) fn at(round: &RoundRow, pointer: &str) -> Option<f64> {
    round.record.as_ref()?.result.pointer(pointer)?.as_f64()
}
