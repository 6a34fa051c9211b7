//! From factors to points: every combination of levels is one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use takt_load::setting::UnknownLevel;
use takt_load::{PointWorkload, WorkloadKind};

use super::settings::{self, PointPlace, Settings};
use super::{Depth, Experiment, Part};
use crate::store::PointRow;

/// One combination of levels.
#[derive(Clone, Debug)]
pub struct Point {
    /// Which part it belongs to, by its place in [`Experiment::parts`].
    pub part: usize,
    pub part_name: String,
    pub kind: WorkloadKind,
    /// The level of each factor.
    pub factors: BTreeMap<String, Value>,
    /// Everything in force, factors and defaults included, as its record keeps it. It is measured by what was read from that:
    /// the next two.
    pub settings: Settings,
    pub workload: Arc<dyn PointWorkload>,
    pub place: PointPlace,
}

impl Point {
    #[must_use]
    pub fn row(&self) -> PointRow {
        PointRow { part: self.part_name.clone(), factors: self.factors.clone() }
    }

    /// Time of its round if nothing has to be waited for.
    #[must_use]
    pub fn about(&self) -> Duration {
        self.workload.about()
    }

    /// Its settings, for a line of progress: `sc16 mode=duplex rate_sps=25M`.
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.part_name, &self.factors)
    }
}

impl PointRow {
    #[must_use]
    pub fn label(&self) -> String {
        label(&self.part, &self.factors)
    }
}

pub(crate) fn label(part: &str, factors: &BTreeMap<String, Value>) -> String {
    let level = |(name, level): (&String, &Value)| format!(" {name}={}", plain(level));
    part.to_owned() + &factors.iter().map(level).collect::<String>()
}

/// A level as a person writes it: 25M rather than 25000000.0.
#[must_use]
pub fn plain(level: &Value) -> String {
    match (level.as_str(), level.as_f64()) {
        (Some(word), _) => word.to_owned(),
        (None, Some(number)) if number >= 1e5 => format!("{}M", (number / 1e4).round() / 100.0),
        _ => level.to_string(),
    }
}

impl Experiment {
    /// All points of a run, part by part; within a part the last factor varies fastest.
    #[must_use]
    pub fn points(&self, depth: Depth) -> Vec<Point> {
        self.read_points(depth).expect("every level was read when the file was checked")
    }

    pub(super) fn read_points(&self, depth: Depth) -> Result<Vec<Point>, UnknownLevel> {
        self.parts.iter().enumerate().flat_map(|(n, part)| points(n, part, depth)).collect()
    }

    #[must_use]
    pub fn round_count(&self, depth: Depth) -> u32 {
        depth.pick(self.rounds.full, self.rounds.quick)
    }
}

fn points(number: usize, part: &Part, depth: Depth) -> impl Iterator<Item = Result<Point, UnknownLevel>> {
    let mut combinations = vec![BTreeMap::new()];
    for factor in &part.factors {
        let extended = combinations.iter().flat_map(|so_far: &BTreeMap<String, Value>| {
            factor.levels(depth).iter().map(|level| {
                let mut one = so_far.clone();
                one.insert(factor.name.clone(), level.clone());
                one
            })
        });
        combinations = extended.collect();
    }
    combinations.into_iter().map(move |factors| point(number, part, depth, factors))
}

fn point(number: usize, part: &Part, depth: Depth, factors: BTreeMap<String, Value>) -> Result<Point, UnknownLevel> {
    let mut given = part.fixed.clone();
    if depth == Depth::Quick {
        given.extend(part.fixed_quick.clone());
    }
    given.extend(factors.clone());
    let settings = Settings::complete(given, settings::of(part.kind));
    Ok(Point {
        part: number,
        part_name: part.name.clone(),
        kind: part.kind,
        factors,
        workload: part.kind.workload().at(&settings)?.into(),
        place: PointPlace::read(part.kind, &settings)?,
        settings,
    })
}
