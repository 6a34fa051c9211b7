//! A figure as data: what is drawn, from which records, how to read it.
//!
//! Each back end is a pure function of it: [`Figure::to_svg`], [`Figure::to_csv`], [`Figure::to_text`]. Values are in
//! base units; scaling for the eye is the back end's business.

pub(crate) mod axis;
pub(crate) mod projection;
pub(crate) mod ticks;

use serde::Serialize;
use takt_stats::Estimate;

use crate::Unit;

pub use axis::{Axis, Scale};

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Figure {
    /// Short and stable, `rate-lost-sc16`: names of anchors and files come from it.
    pub id: String,
    /// The title says what it shows: "The container costs 3 % [1, 5], the VM 71 % [68, 73]".
    pub finding: String,
    /// One sentence for a reader who sees such a plot for the first time.
    pub how_to_read: String,
    pub x: Axis,
    pub y: Axis,
    pub series: Vec<Series>,
    /// Results that others published or a peer program gave: drawn hollow, never mixed with ours.
    pub others: Vec<Series>,
    /// Lines to judge by: what was offered, a deadline, what a wire carries.
    pub references: Vec<Reference>,
    pub source: Source,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// As the legend has it: "receive", "duplex, transmit".
    pub name: String,
    pub look: Look,
    /// Colour and marker; the same thing has the same slot in every figure of a report.
    pub slot: usize,
    /// In ascending x.
    pub points: Vec<Point>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Look {
    /// Markers joined by lines: what lies between two points was not measured, but varies smoothly.
    Line,
    /// A staircase, as a distribution function is; no markers.
    Step,
    Points,
    /// A box over the rounds of each point: quarters, median, whiskers to the ends.
    Box,
}

/// One place on the x axis and what was found there.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Point {
    pub x: f64,
    /// The estimate; `None` where rounds exist but none counts.
    pub y: Option<Reading>,
    /// Each round, also those that do not count: drawn as faint dots.
    pub rounds: Vec<Dot>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dot {
    pub y: f64,
    /// Whether the estimate rests on it; if not it is drawn as a cross.
    pub counts: bool,
    /// Anchor of its record in the report: `round-17`.
    pub record: Option<String>,
}

/// A figure with its doubt, if it has one: a single round has none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Reading {
    pub point: f64,
    /// `None` for a single round, or a value that is not an estimate.
    pub interval: Option<Interval>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// How often such an interval holds the truth, 0 to 1.
    pub level: f64,
    pub rounds: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "at", rename_all = "snake_case")]
pub enum Reference {
    Horizontal {
        y: f64,
        label: String,
    },
    Vertical {
        x: f64,
        label: String,
    },
    /// The line where y is x times `slope`: all that was offered arrived.
    Proportional {
        slope: f64,
        label: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Source {
    pub run: String,
    /// The part of it: "rate rounds, lost samples on receive over all samples due".
    pub query: String,
}

impl Reading {
    /// A value of one round, or one that is no estimate.
    pub fn alone(point: f64) -> Self {
        Self { point, interval: None }
    }

    pub fn with_interval(point: f64, low: f64, high: f64, level: f64, rounds: usize) -> Self {
        Self { point, interval: Some(Interval { low, high, level, rounds }) }
    }

    /// A share: the part of its interval outside 0 to 1, where no share can lie, is cut off.
    #[must_use]
    pub fn share(e: Estimate) -> Self {
        let cut = |x: f64| x.clamp(0.0, 1.0);
        Self::with_interval(cut(e.point()), cut(e.low()), cut(e.high()), e.level(), e.n())
    }

    /// An amount, or a share whose rounds are none above 1: what of its interval lies where it can't be is cut off.
    #[must_use]
    pub fn amount(unit: Unit, e: Estimate, rounds: impl IntoIterator<Item = f64>) -> Self {
        let whole = unit == Unit::SHARE && rounds.into_iter().all(|value| value <= 1.0);
        let within = e.within((0.0, if whole { 1.0 } else { f64::INFINITY }));
        within.unwrap_or(e).into()
    }

    /// The same in another quantity, for a monotone `f`; a falling one swaps the ends. `None` where it is not finite.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Option<Self> {
        let point = f(self.point);
        let interval = self.interval.map(|i| {
            let (a, b) = (f(i.low), f(i.high));
            Interval { low: a.min(b), high: a.max(b), ..i }
        });
        let mapped = Self { point, interval };
        mapped.values().count().eq(&self.values().count()).then_some(mapped)
    }

    /// The estimate and the ends of its interval, those that are finite.
    pub(crate) fn values(&self) -> impl Iterator<Item = f64> + use<> {
        let ends = self.interval.map(|i| [i.low, i.high]);
        ends.into_iter().flatten().chain([self.point]).filter(|x| x.is_finite())
    }
}

impl From<Estimate> for Reading {
    fn from(e: Estimate) -> Self {
        Self::with_interval(e.point(), e.low(), e.high(), e.level(), e.n())
    }
}

impl Figure {
    /// All series: ours first, then others'.
    pub(crate) fn all_series(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().chain(&self.others)
    }

    pub(crate) fn xs(&self) -> Vec<f64> {
        let points = self.all_series().flat_map(|s| &s.points).map(|p| p.x);
        let lines = self.references.iter().filter_map(|r| match r {
            Reference::Vertical { x, .. } => Some(*x),
            _ => None,
        });
        points.chain(lines).filter(|x| x.is_finite()).collect()
    }

    pub(crate) fn ys(&self) -> Vec<f64> {
        let points = self.all_series().flat_map(|s| &s.points);
        let drawn = points.flat_map(|p| p.y.into_iter().flat_map(|r| r.values()).chain(p.rounds.iter().map(|d| d.y)));
        let lines = self.references.iter().filter_map(|r| match r {
            Reference::Horizontal { y, .. } => Some(*y),
            _ => None,
        });
        drawn.chain(lines).filter(|y| y.is_finite()).collect()
    }
}
