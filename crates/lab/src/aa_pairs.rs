//! The same point measured twice in each block (`replicate = [1, 2]`): how far two measurements of one thing differ.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_stats::Estimate;

use crate::experiment::Experiment;
use crate::store::{PointRow, RoundRow, RoundState};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Noise {
    pub point: String,
    pub quantity: String,
    /// Second over first, block by block: an interval without one in it says that differences of this size mean nothing.
    pub ratio: Option<Estimate>,
    pub rounds: usize,
}

/// Points that differ in `replicate` alone, by the first quantity of their workload.
#[must_use]
pub fn noise(file: &Experiment, points: &[PointRow], rounds: &[RoundRow]) -> Vec<Noise> {
    let mut all = Vec::new();
    for (first, point) in
        (0_u32..).zip(points).filter(|(_, point)| point.factors.get("replicate") == Some(&Value::from(1)))
    {
        let mut other = point.clone();
        other.factors.insert("replicate".into(), Value::from(2));
        let Some(second) = (0_u32..).zip(points).find(|(_, point)| **point == other).map(|(number, _)| number) else {
            continue;
        };
        let part = file.parts.iter().find(|part| part.name == point.part);
        let Some(quantity) = part.and_then(|part| part.kind.quantities().first()) else { continue };
        let of = |number: u32| -> BTreeMap<u32, (f64, i64)> {
            let own = rounds.iter().filter(|round| round.point == number && round.state == RoundState::Valid);
            own.filter_map(|r| Some((r.block, (quantity.read(&r.record.as_ref()?.result)?, r.id)))).collect()
        };
        let (one, two) = (of(first), of(second));
        let pairs: Vec<(f64, f64)> = one.iter().filter_map(|(block, (a, _))| Some((*a, two.get(block)?.0))).collect();
        let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        other.factors.remove("replicate");
        all.push(Noise {
            point: other.label(),
            quantity: quantity.name.into(),
            ratio: takt_stats::compare(&a, &b, 0.0).map(|comparison| comparison.ratio()),
            rounds: pairs.len(),
        });
    }
    all
}
