//! Waveforms, ports, rates, delays and plans: the types that runtime and mapper share, and everything that can be known
//! to be wrong before a waveform runs. Pure: no clock, no thread, no file is opened.
//!
//! | step | from | to |
//! | --- | --- | --- |
//! | write | a TOML file, or the builder | [`Waveform`] |
//! | check | `Waveform` + [`Catalogue`] of component types | [`Graph`]: types, rates, cycles and limits hold |
//! | place | `Graph` + order of components on workers | [`Plan`]: depths and physical delays |
//!
//! **What a waveform means** depends on the `Graph` alone. Each component executes its *logical slots* j = 0, 1, 2, ...
//! once and in order; over a link of *functional delay* f it sees in its slot j the packet made in the producer's slot
//! j - f, an empty one before the first. **When** it happens is the plan's business: component c executes logical slot j
//! in physical slot j + depth(c). So no plan can change what is computed.
//!
//! A cycle is legal exactly if its functional delays add up to 1 or more.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod change;
mod check;
mod cycle;
mod depth;
mod error;
mod file;
mod graph;
mod item;
mod kind;
pub mod limits;
mod plan;
mod rates;
mod shape;
mod share;
mod value;
mod waveform;

pub use change::{Override, OverrideError};
pub use error::{GraphError, Problem, Side, Wanted};
pub use graph::{Component, Graph, Link, PortId};
pub use item::{Item, UnknownItem};
pub use kind::{Catalogue, Domain, Kind, ParamError, ParamSpec};
pub use plan::{Latency, Plan, PlanError};
pub use shape::{Accepts, InputShape, Length, Lengths, OutputShape, Shape};
pub use share::{Bridge, Direction, Share, ShareError};
pub use takt_toml::{FilePlace, Source};
pub use value::{Params, Value};
pub use waveform::{ComponentSpec, LinkSpec, MissPolicy, Waveform};
