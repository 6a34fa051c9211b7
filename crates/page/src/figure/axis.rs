//! [`Axis`]: label, unit and scale.

use serde::Serialize;

use crate::Unit;

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// Its quantity, without the unit: "lost samples".
    pub label: String,
    /// Unit of the values; the back end scales it.
    pub unit: Unit,
    pub scale: Scale,
    /// Ticks at these values (base unit) where there is room; empty: round numbers. For factors with few levels.
    pub ticks: Vec<f64>,
    /// A linear y axis starts at 0 unless this says why not; the reason is printed under the figure.
    pub not_from_zero: Option<String>,
}

/// How values become places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    #[default]
    Linear,
    /// Each factor of ten takes the same room. Values that are not positive are not shown: use `LogAndZero` for those.
    Log,
    /// As `Log`, with a place for zero below a break: most loss figures are zero, and that is the news.
    LogAndZero,
    /// For shares of a distribution: each further nine (90 %, 99 %, 99.9 %) takes the same room; all (1) is the top.
    Nines,
}

impl Axis {
    pub fn linear(label: impl Into<String>, unit: Unit) -> Self {
        Self { label: label.into(), unit, ..Self::default() }
    }

    pub fn log(label: impl Into<String>, unit: Unit) -> Self {
        Self { scale: Scale::Log, ..Self::linear(label, unit) }
    }

    pub fn log_and_zero(label: impl Into<String>, unit: Unit) -> Self {
        Self { scale: Scale::LogAndZero, ..Self::linear(label, unit) }
    }

    pub fn nines(label: impl Into<String>) -> Self {
        Self { scale: Scale::Nines, ..Self::linear(label, Unit::SHARE) }
    }

    pub fn with_ticks(self, ticks: impl Into<Vec<f64>>) -> Self {
        Self { ticks: ticks.into(), ..self }
    }
}
