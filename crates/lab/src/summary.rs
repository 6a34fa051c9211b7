//! What a run measured, point by point: the table of `takt experiment show`.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use takt_stats::{Estimate, mean};

use crate::experiment::settings::Kind;
use crate::experiment::{Experiment, Quantity, quantities};
use crate::store::{PointRow, RoundRow, RoundState, Store, StoreError};

/// Level of every interval.
const LEVEL: f64 = 0.95;

/// A run as a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Its name.
    pub run: String,
    /// Its points.
    pub points: Vec<PointSummary>,
    /// How many rounds went where.
    pub rounds: RoundCounts,
    /// Whether all planned rounds were run.
    pub complete: bool,
}

/// Rounds by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundCounts {
    /// They count.
    pub valid: usize,
    /// Other load.
    pub disturbed: usize,
    /// The emulator was late itself.
    pub emulator_late: usize,
    /// The workload could not be run.
    pub failed: usize,
    /// Not run, for a reason.
    pub skipped: usize,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointSummary {
    /// Its part.
    pub part: String,
    /// Its factors.
    pub factors: BTreeMap<String, Value>,
    /// Rounds that count.
    pub rounds: usize,
    /// What they say.
    pub figures: Vec<FigureSummary>,
    /// Why others do not count.
    pub not_counted: Vec<String>,
}

/// One quantity at one point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureSummary {
    /// Its name, unit included.
    pub name: &'static str,
    /// Mean over rounds; `None` below two.
    pub mean: Option<Estimate>,
    /// Each round.
    pub rounds: Vec<f64>,
}

impl Summary {
    /// Of a run in the store.
    ///
    /// # Errors
    /// There is no such run, or it can't be read.
    pub fn of(store: &Store, run: &str) -> Result<Summary, StoreError> {
        let run = store.run(run)?;
        let rounds = store.rounds(&run.id)?;
        // A file of another version may use words this one does not know: then there are rounds, and no figures.
        let parts = Experiment::parse(&run.experiment, &run.file).map(|file| file.parts).unwrap_or_default();
        let kind = |name: &str| parts.iter().find(|part| part.name == name).map(|part| part.kind);
        let points = (0..).zip(store.points(&run.id)?);
        let points = points.map(|(number, point): (u32, PointRow)| {
            let own: Vec<&RoundRow> = rounds.iter().filter(|round| round.point == number).collect();
            let kind = kind(&point.part);
            PointSummary::of(point, kind, &own)
        });
        Ok(Summary {
            points: points.collect(),
            rounds: RoundCounts::of(&rounds),
            complete: run.finished.is_some(),
            run: run.id,
        })
    }

    /// Whether every planned round was run and none failed.
    #[must_use]
    pub fn good(&self) -> bool {
        self.complete && self.rounds.failed == 0
    }
}

impl PointSummary {
    fn of(point: PointRow, kind: Option<Kind>, rounds: &[&RoundRow]) -> PointSummary {
        let valid: Vec<&RoundRow> = rounds.iter().copied().filter(|round| round.state == RoundState::Valid).collect();
        let figure = |quantity: &Quantity| {
            let value = |round: &&RoundRow| round.record.as_ref().and_then(|record| quantity.read(&record.result));
            let rounds: Vec<f64> = valid.iter().filter_map(value).collect();
            FigureSummary { name: quantity.name, mean: mean(&rounds, LEVEL), rounds }
        };
        PointSummary {
            part: point.part,
            factors: point.factors,
            rounds: valid.len(),
            figures: kind.into_iter().flat_map(quantities).map(figure).collect(),
            not_counted: rounds.iter().filter_map(|round| round.why.clone()).collect(),
        }
    }
}

impl RoundCounts {
    fn of(rounds: &[RoundRow]) -> RoundCounts {
        let mut counts = RoundCounts::default();
        for round in rounds {
            *match round.state {
                RoundState::Valid => &mut counts.valid,
                RoundState::Disturbed => &mut counts.disturbed,
                RoundState::EmulatorLate => &mut counts.emulator_late,
                RoundState::Failed => &mut counts.failed,
                RoundState::Skipped => &mut counts.skipped,
            } += 1;
        }
        counts
    }
}
