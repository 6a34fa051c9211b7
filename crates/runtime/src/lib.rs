//! The time-slotted runtime: components, the links between them, workers that execute them on the beat, and what every
//! execution cost.
//!
//! - Time is the slot index. A component executes its logical slots 0, 1, 2, ... once and in order; the plan says in
//!   which physical slot. What it computes depends on the waveform alone, so `output_hash` is one value for all plans.
//! - A link carries whole slots ([`takt_link::ring`]); nobody takes a lock, and under a clock nobody waits for anybody.
//! - The slot loop allocates nothing and makes no system call but the clock's sleep. Statistics are always on: the
//!   execution time of a component is between two readings of the time-stamp counter, right before and behind its `tick`.
//!   Looking at its links, handing over what it made and the record itself are not in it; they are in the worker's `busy`.
//! - A slot that is missed has a culprit: [`Miss`].
//!
//! ```
//! use std::time::Duration;
//! use takt_graph::{Catalogue, ComponentSpec, Graph, Kind, Latency, Length, Plan, Shape, Waveform};
//! use takt_runtime::{Component, Io, Options, Registration, Registry, Session};
//!
//! struct Count(u32);
//! impl Component for Count {
//!     fn tick(&mut self, io: &mut Io<'_>) {
//!         io.outputs[0].write::<u8>().fill(self.0 as u8);
//!         self.0 += 1;
//!     }
//! }
//! struct Sum(u64);
//! impl Component for Sum {
//!     fn tick(&mut self, io: &mut Io<'_>) {
//!         self.0 += io.inputs[0].read::<u8>().iter().map(|&byte| u64::from(byte)).sum::<u64>();
//!     }
//!     fn results(&self) -> Vec<(&'static str, takt_graph::Value)> {
//!         vec![("sum", (self.0 as i64).into())]
//!     }
//! }
//! let mut registry = Registry::empty();
//! registry.add(Registration {
//!     kind: || Kind::new("count", "Counts slots."),
//!     shape: |_| Ok(Shape::new().output("out", takt_graph::Item::Byte, Length::Fixed(4))),
//!     make: |_| Ok(Box::new(Count(0))),
//! }).unwrap();
//! registry.add(Registration {
//!     kind: || Kind::new("sum", "Adds up."),
//!     shape: |_| Ok(Shape::new().input("in", takt_graph::Item::Byte)),
//!     make: |_| Ok(Box::new(Sum(0))),
//! }).unwrap();
//!
//! let waveform = Waveform::new("example", Duration::from_millis(1))
//!     .with(ComponentSpec::new("a", "count")).with(ComponentSpec::new("z", "sum")).chain(["a", "z"]);
//! let graph = Graph::check(&waveform, &registry).unwrap();
//! let plan = Plan::assign(&graph, &[0, 1], Latency::Compact).unwrap();
//! let options = Options { slots: Some(10), ..Options::default() };
//! let report = Session::open(&graph, &plan, &registry, options).unwrap().run(&takt_base::Stop::new()).unwrap();
//! assert_eq!(report.components[1].results["sum"], takt_graph::Value::Int(4 * (0..10).sum::<i64>()));
//! ```

#![warn(missing_docs)]

/// What only the compiler itself can refuse.
///
/// A port carries items that can be carried:
/// ```compile_fail
/// #[takt_runtime::component]
/// fn wrong(input: In<String>) {
///     let _ = input;
/// }
/// ```
/// A variable of a struct has a setter and a getter:
/// ```compile_fail
/// struct Gain(f32);
/// #[takt_runtime::component]
/// impl Gain {
///     fn new(#[param(default = 1.0, variable)] gain: f32) -> Gain { Gain(gain) }
///     fn tick(&mut self, mut x: InOut<f32>) { x.iter_mut().for_each(|x| *x *= self.0); }
/// }
/// ```
/// An input is not written:
/// ```compile_fail
/// #[takt_runtime::component]
/// fn wrong(mut input: In<f32>) {
///     input[0] = 1.0;
/// }
/// ```
/// A packet does not outlive its slot:
/// ```compile_fail
/// struct Keeper(Option<takt_runtime::In<'static, f32>>);
/// #[takt_runtime::component]
/// impl Keeper {
///     fn new() -> Keeper { Keeper(None) }
///     fn tick(&mut self, input: In<f32>) { self.0 = Some(input); }
/// }
/// ```
/// And without the mistakes it compiles:
/// ```
/// struct Gain(f32);
/// #[takt_runtime::component]
/// impl Gain {
///     fn new(#[param(default = 1.0, variable)] gain: f32) -> Gain { Gain(gain) }
///     fn tick(&mut self, mut x: InOut<f32>) { x.iter_mut().for_each(|x| *x *= self.0); }
///     fn set_gain(&mut self, gain: f32) { self.0 = gain; }
///     fn gain(&self) -> f32 { self.0 }
/// }
/// ```
#[cfg(doctest)]
pub struct RefusedByTheCompiler;

mod bench;
mod change;
mod clock;
mod component;
mod control;
mod entry;
pub mod isolated;
#[doc(hidden)]
pub mod library;
mod live;
mod miss;
mod names;
mod packet;
mod port;
mod registry;
mod report;
mod run;
mod running;
mod sample;
mod sim;
pub mod soft;
mod stats;
mod table;
mod timer;
mod trace;
mod worker;

pub use bench::{Bench, BenchError, TickError};
pub use clock::{Edges, SlotClock, wait_until};
pub use component::{Component, Io, Make, MakeError, Message, Outbox, Prepared, Scalar};
#[doc(hidden)]
pub use inventory;
pub use isolated::Isolation;
pub use library::LibraryError;
pub use live::{ComponentSnapshot, Snapshot, StatsReader};
pub use miss::{Before, Culprit, Miss};
pub use num_complex::Complex;
pub use packet::Header;
pub use port::{In, InPort, Out, OutPort};
pub use registry::{Equipment, NameTaken, Registration, Registry};
pub use report::{BrokenPacket, ComponentReport, Granted, OutputReport, Quantiles, Report, TraceEvent, WorkerReport};
pub use run::{LogOptions, Options, Session, StartError, Wish};
pub use running::{ControlError, Log, Running};
pub use sample::{Bit, Llr, Sample};
pub use stats::MissKind;
pub use table::OpenError;
#[doc(hidden)]
pub use takt_graph as graph;
#[doc(hidden)]
pub use takt_link::ring;
pub use takt_macros::component;
