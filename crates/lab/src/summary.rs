//! Measurements of a run, point by point: the table of `takt experiment show`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::words::sentence;
use takt_load::{Quantity, WorkloadKind};
use takt_stats::{Estimate, mean, order_warning};
use takt_testbed::environment::Machine;

use crate::aa_pairs::{Noise, noise};
use crate::experiment::Experiment;
use crate::nodes::{NodeFigures, by_node};
use crate::store::{PointRow, RoundRow, RoundState, Store, StoreError};

/// Level of every interval.
const LEVEL: f64 = 0.95;

/// A run as a table.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    pub run: String,
    pub points: Vec<PointSummary>,
    pub rounds: RoundCounts,
    /// Whether all planned rounds were run.
    pub complete: bool,
    /// How far the same thing measured twice differs, where the experiment does that.
    pub noise: Vec<Noise>,
    /// Machines that are not the run's own: those of environments on nodes, as they were found.
    pub machines: Vec<Machine>,
    /// Doubts that concern the run as a whole; a sentence each.
    pub warnings: Vec<String>,
}

/// Rounds by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RoundCounts {
    pub valid: usize,
    pub disturbed: usize,
    pub emulator_late: usize,
    pub failed: usize,
    pub skipped: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PointSummary {
    pub part: String,
    pub factors: BTreeMap<String, Value>,
    /// Rounds that count.
    pub rounds: usize,
    pub figures: Vec<FigureSummary>,
    /// Figures of the nodes between the ends for frames, in all rounds that count.
    pub nodes: Vec<NodeFigures>,
    /// Why others do not count.
    pub not_counted: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FigureSummary {
    /// Its name, unit included.
    pub name: &'static str,
    /// Mean over rounds; `None` below two.
    pub mean: Option<Estimate>,
    /// Each round, in the order in which they were run.
    pub rounds: Vec<f64>,
    /// Whether the order of the rounds shows in them; a sentence.
    pub warning: Option<String>,
}

/// Rounds below which an interval is so wide that it seldom decides.
pub const FEW_ROUNDS: usize = 5;

impl Summary {
    pub fn of(store: &Store, run: &str) -> Result<Summary, StoreError> {
        let run = store.run(run)?;
        let rounds = store.rounds(&run.id)?;
        // A file of another version may use words this one does not know: then there are rounds, and no figures.
        let file = Experiment::recorded(&run.experiment, &run.file).ok();
        let kind = |name: &str| file.as_ref()?.parts.iter().find(|part| part.name == name).map(|part| part.kind);
        let rows = store.points(&run.id)?;
        let noise = file.as_ref().map(|file| noise(file, &rows, &rounds)).unwrap_or_default();
        let points = (0..).zip(rows).map(|(number, point): (u32, PointRow)| {
            let own: Vec<&RoundRow> = rounds.iter().filter(|round| round.point == number).collect();
            let kind = kind(&point.part);
            PointSummary::of(point, kind, &own)
        });
        let (points, counts): (Vec<PointSummary>, _) = (points.collect(), RoundCounts::of(&rounds));
        let complete = run.finished.is_some();
        let machines = machines(&rounds);
        let warnings = warnings(&points, &counts, &machines);
        Ok(Summary { points, rounds: counts, complete, noise, machines, warnings, run: run.id })
    }

    /// Whether every planned round was run, none failed, and there is one that counts.
    #[must_use]
    pub fn good(&self) -> bool {
        self.complete && self.rounds.failed == 0 && self.rounds.valid > 0
    }
}

impl PointSummary {
    fn of(point: PointRow, kind: Option<WorkloadKind>, rounds: &[&RoundRow]) -> PointSummary {
        let valid: Vec<&RoundRow> = rounds.iter().copied().filter(|round| round.state == RoundState::Valid).collect();
        let figure = |quantity: &Quantity| {
            let value = |round: &&RoundRow| round.record.as_ref().and_then(|record| quantity.read(&record.result));
            let rounds: Vec<f64> = valid.iter().filter_map(value).collect();
            let warning = order_warning(&rounds).map(|warning| warning.to_string());
            let mean = mean(&rounds, LEVEL).map(|mean| mean.within(quantity.range).unwrap_or(mean));
            FigureSummary { name: quantity.name, mean, rounds, warning }
        };
        PointSummary {
            part: point.part,
            factors: point.factors,
            rounds: valid.len(),
            figures: kind.into_iter().flat_map(WorkloadKind::quantities).map(figure).collect(),
            nodes: by_node(valid.iter().copied()),
            not_counted: rounds.iter().filter_map(|round| round.why.clone()).collect(),
        }
    }
}

/// Machines of nodes in the order in which rounds came to them, each as often as it was found to be another one.
fn machines(rounds: &[RoundRow]) -> Vec<Machine> {
    let mut all: Vec<Machine> = Vec::new();
    for round in rounds {
        let Some(document) = round.record.as_ref().and_then(|record| record.in_force.pointer("/holder/machine")) else {
            continue;
        };
        let Ok(machine) = Machine::deserialize(document) else { continue };
        if !all.contains(&machine) {
            all.push(machine);
        }
    }
    all
}

/// Warnings for a reader of the figures.
fn warnings(points: &[PointSummary], counts: &RoundCounts, machines: &[Machine]) -> Vec<String> {
    let mut words = Vec::new();
    let mut twice: Vec<&str> = machines.iter().map(|machine| machine.node.as_str()).collect();
    twice.sort_unstable();
    let twice: BTreeSet<&str> = twice.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    for node in twice {
        words.push(format!(
            "node:{node} was not one machine, or had not the same cores, in all rounds: its mean is of several"
        ));
    }
    let measured = || points.iter().filter(|point| point.rounds > 0);
    let few = measured().filter(|point| point.rounds < FEW_ROUNDS).count();
    if few > 0 {
        let all = measured().count();
        words.push(format!("{few} of {all} points rest on fewer than {FEW_ROUNDS} rounds: their intervals are wide"));
    }
    let figures = || points.iter().flat_map(|point| &point.figures);
    let order = figures().filter(|figure| figure.warning.is_some()).count();
    // Each figure is looked at twice at 99 %: one in fifty warns by chance.
    let by_chance = figures().filter(|figure| figure.rounds.len() >= 6).count().div_ceil(50);
    if order > by_chance {
        words.push(format!("the order of the rounds shows in {order} figures, where chance gives {by_chance}"));
    }
    let (not, ran) = (counts.disturbed + counts.emulator_late, counts.valid + counts.disturbed + counts.emulator_late);
    if not > 0 {
        words.push(format!("in {not} of {ran} rounds the host was disturbed or the emulator late: they do not count"));
    }
    words.iter().map(|words| sentence(words)).collect()
}

impl RoundCounts {
    pub(crate) fn of(rounds: &[RoundRow]) -> RoundCounts {
        let with = |state| rounds.iter().filter(|round| round.state == state).count();
        RoundCounts {
            valid: with(RoundState::Valid),
            disturbed: with(RoundState::Disturbed),
            emulator_late: with(RoundState::EmulatorLate),
            failed: with(RoundState::Failed) + with(RoundState::HostBusy),
            skipped: with(RoundState::Skipped),
        }
    }
}
