//! Places for each component of a waveform: a [`takt_graph::Graph`], what its components cost, and a platform in; a
//! [`takt_graph::Plan`] with its bounds out. Pure functions: no clock, no thread, no file is opened.
//!
//! | question | answer |
//! | --- | --- |
//! | what can this processor do? | [`calibrate`]: [`Capacities`] by kind of work, and MAC/s; [`calibrate_prices`]: [`Prices`] of instructions |
//! | what do components cost? | [`Costs`]: quantiles measured on a reference |
//! | what do they cost elsewhere? | [`predicted`]: by counted instructions ([`Counted`], [`Prices`]) or by MACs, and how far off such figures were: [`Metric`] |
//! | what is there to run on? | [`Platform`], from a file or a calibration |
//! | where does what run? | [`map`]: a [`Mapping`], or what is in the way |
//! | how good is that? | [`Bounds`], [`Mapping::gap`], [`Mapping::next`] |
//! | how good are the algorithms? | [`chain`], judged by published data in `tests/together/published.rs` |
//!
//! The *period* counts: the busiest core or link, ns a slot. A mapping fits if its period is at most the share of the
//! slot that [`Objective`] allows.
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate self as takt_mapper;
#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;

pub mod chain;
pub mod cost;
mod map;
mod place;
pub mod platform;

pub use cost::calibrate::{CalibrationError, calibrate, calibrate_prices, time_probes};
pub use cost::costs::{Cost, Costs, OtherClass, Quantile};
pub use cost::counted::Counted;
pub use cost::metric::{ExpectedError, Metric};
pub use cost::model::{BadMix, Mix, predict, predict_mac};
pub use cost::operations::{Operations, Profile};
pub use cost::prices::{Prices, Timed};
pub use cost::work::{Capacities, PerWork, Work};
pub use map::{
    Binding, Change, CoreLoad, Infeasible, LinkLoad, MapError, Mapping, Next, Objective, Predicted, Remedy, map,
    predicted,
};
pub use place::bounds::{Bounds, LinkPart, Part};
pub use place::solve::{Algorithm, Effort};
pub use platform::{
    ClassSpec, CoresSpec, LinkSpec, MeasuredCore, NodeSpec, Platform, PlatformError, PlatformProblem, PlatformSpec,
};
