//! [`Chart`]: a figure of the paper, measured here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_lab::experiment::plain;
use takt_lab::store::{RoundRow, RoundState};

use super::Facts;
use crate::study::figure::{Figure, RoundValue};
use crate::study::part::Point;

/// Contents of a chart and their source.
pub(crate) struct ChartPlan {
    pub(crate) id: &'static str,
    /// The paper's number.
    pub(crate) number: &'static str,
    pub(crate) part: &'static str,
    pub(crate) x: &'static str,
    /// The factor with a curve for each level.
    pub(crate) by: &'static str,
    /// Only points with this level.
    pub(crate) only: Option<(&'static str, &'static str)>,
    pub(crate) measure: Measure,
    pub(crate) read: Read,
    /// A point's figure from its rounds, where it has no base: which of them count is the quantity's to say.
    pub(crate) figure: fn(&[&RoundRow], Read) -> Figure,
    /// Over the same quantity at this level of `by`, in the same block.
    pub(crate) over: Option<&'static str>,
    /// As boxes over rounds.
    pub(crate) boxes: bool,
}

/// Reads one number from a round.
pub(crate) type Read = fn(&RoundRow) -> Option<f64>;

impl ChartPlan {
    /// To be filled.
    pub(crate) const BLANK: ChartPlan = ChartPlan {
        id: "",
        number: "",
        part: "",
        x: "",
        by: "",
        only: None,
        measure: Measure::BitsPerS,
        read: |_| None,
        figure: |rounds, read| Figure::of(rounds, read),
        over: None,
        boxes: false,
    };
}

/// Plotted quantity, in base units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Payload bits a second.
    BitsPerS,
    DatagramsPerS,
    SamplesPerS,
    /// A share, 0 to 1.
    Share,
    /// How many times as much.
    Times,
    Cores,
    Seconds,
    Count,
    /// Decibels below full scale.
    Decibels,
}

/// A figure of the paper, measured here.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Short and stable.
    pub id: String,
    /// The paper's number: `3a`.
    pub number: String,
    pub title: String,
    /// The paper's own chart.
    pub paper: String,
    /// The part of the file its rounds are of.
    pub part: String,
    /// The factor across.
    pub x: String,
    pub measure: Measure,
    /// The level that the others are held against; `None`: none, these are values of their own.
    #[serde(default)]
    pub over: Option<String>,
    /// Drawn as boxes over rounds.
    pub boxes: bool,
    /// One for each level of the other factor, in the file's order.
    pub curves: Vec<Curve>,
}

/// The points of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Curve {
    pub name: String,
    /// Ascending in x.
    pub points: Vec<Spot>,
}

/// One point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spot {
    /// The level across, in its base unit.
    pub x: f64,
    pub figure: Figure,
    /// Why nothing was, if nothing was.
    pub skipped: Option<String>,
}

impl Chart {
    /// From the rounds of its part; a chart whose part was not run has no curves.
    pub(crate) fn of(plan: &ChartPlan, part: &[Point<'_>], facts: &Facts) -> Chart {
        let facts = facts.figures.iter().find(|figure| figure.number == plan.number);
        Chart {
            id: plan.id.into(),
            number: plan.number.into(),
            title: facts.map(|facts| facts.title_of(plan.id)).unwrap_or_default(),
            paper: facts.map(|facts| facts.shows.clone()).unwrap_or_default(),
            part: plan.part.into(),
            x: plan.x.into(),
            measure: plan.measure,
            over: plan.over.map(str::to_owned),
            boxes: plan.boxes,
            curves: curves(plan, part),
        }
    }

    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.curves.iter().any(|curve| curve.measured().next().is_some())
    }

    #[must_use]
    pub fn curve(&self, name: &str) -> Option<&Curve> {
        self.curves.iter().find(|curve| curve.name == name)
    }
}

impl Curve {
    /// Points with a value.
    pub fn measured(&self) -> impl Iterator<Item = &Spot> {
        self.points.iter().filter(|spot| spot.figure.value.is_some())
    }

    /// The point at `x`, if it has a value.
    #[must_use]
    pub fn at(&self, x: f64) -> Option<&Spot> {
        self.measured().find(|spot| spot.x == x)
    }
}

/// A level across as a number; what has no cap may use all there is.
fn across(level: &Value) -> Option<f64> {
    if level == "none" { Some(100.0) } else { level.as_f64() }
}

type Rounds<'a> = Vec<&'a RoundRow>;

fn curves(plan: &ChartPlan, part: &[Point<'_>]) -> Vec<Curve> {
    let mut names: Vec<String> = Vec::new();
    let mut by: BTreeMap<String, Vec<(f64, Rounds<'_>)>> = BTreeMap::new();
    for point in part {
        let level = |name: &str| point.settings.get(name).map(plain);
        if plan.only.is_some_and(|(name, wanted)| level(name).as_deref() != Some(wanted)) {
            continue;
        }
        let Some(x) = point.settings.get(plan.x).and_then(across) else { continue };
        let name = level(plan.by).unwrap_or_else(|| plan.by.to_owned());
        if !names.contains(&name) {
            names.push(name.clone());
        }
        by.entry(name).or_default().push((x, point.rounds.clone()));
    }
    let base = plan.over.and_then(|level| by.get(level)).cloned();
    let curve = |name: String| {
        let mut points: Vec<Spot> =
            by.get(&name).into_iter().flatten().map(|at| spot(plan, at, base.as_deref())).collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Curve { name, points }
    };
    let shown = names.into_iter().filter(|name| plan.over != Some(name.as_str()));
    shown.map(curve).collect()
}

fn spot(plan: &ChartPlan, (x, rounds): &(f64, Rounds<'_>), base: Option<&[(f64, Rounds<'_>)]>) -> Spot {
    let figure = match plan.over {
        None => (plan.figure)(rounds, plan.read),
        Some(_) => {
            let base = base.into_iter().flatten().find(|(other, _)| other == x).map(|(_, rounds)| rounds.as_slice());
            Figure::from_rounds(over(plan.read, rounds, base.unwrap_or_default()))
        }
    };
    let skipped = rounds.iter().find(|round| round.record.is_none()).and_then(|round| round.why.clone());
    Spot { x: *x, skipped: skipped.filter(|_| figure.value.is_none()), figure }
}

/// Each round over the base's of the same block: what drifts hits both.
fn over(read: Read, rounds: &[&RoundRow], base: &[&RoundRow]) -> Vec<RoundValue> {
    let counts = |round: &&&RoundRow| round.state == RoundState::Valid;
    let base: BTreeMap<u32, f64> =
        base.iter().filter(counts).filter_map(|round| Some((round.block, read(round)?))).collect();
    let ratio = |round: &&RoundRow| {
        let value = read(round)? / base.get(&round.block)?;
        value.is_finite().then_some(RoundValue { round_id: round.id, value, counts: true })
    };
    rounds.iter().filter(counts).filter_map(ratio).collect()
}
