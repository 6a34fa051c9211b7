//! The time-slotted runtime: components, the links between them, workers that execute them on the beat, and what every
//! execution cost.
//!
//! - Time is the slot index. A component executes its logical slots 0, 1, 2, ... once and in order; the plan says in
//!   which physical slot. Its results depend on the waveform alone, so `output_hash` is one value for all plans.
//! - A link carries whole slots ([`takt_link::ring`]); no worker takes a lock, and under a clock none waits for another.
//! - The slot loop allocates nothing and makes no system call but the clock's sleep. Statistics are always on: the
//!   execution time of a component is between two readings of the time-stamp counter, right before and behind its `tick`.
//!   Looking at its links, handing over what it made and the record itself are not in it; they are in the worker's `busy`.
//! - A slot that is missed has a culprit: [`Miss`].
//!
//! ```
//! use std::time::Duration;
//! use takt_graph::{ComponentSpec, Graph, Latency, Plan, Value, Waveform};
//! use takt_runtime::{Registry, Session, SessionOptions, component};
//!
//! /// Counts slots.
//! #[component]
//! fn count(slot: u64, #[port(fixed = 4)] mut output: Out<u8>) {
//!     output.fill(slot as u8);
//! }
//!
//! struct Sum(u64);
//! /// Adds up.
//! #[component]
//! impl Sum {
//!     fn new() -> Sum {
//!         Sum(0)
//!     }
//!     fn tick(&mut self, input: In<u8>) {
//!         self.0 += input.iter().map(|&byte| u64::from(byte)).sum::<u64>();
//!     }
//!     fn results(&self) -> Vec<(&'static str, Value)> {
//!         vec![("sum", (self.0 as i64).into())]
//!     }
//! }
//!
//! let registry = Registry::of_program().unwrap();
//! let waveform = Waveform::new("example", Duration::from_millis(1))
//!     .with(ComponentSpec::new("a", "count")).with(ComponentSpec::new("z", "sum")).chain(["a", "z"]);
//! let graph = Graph::check(&waveform, &registry).unwrap();
//! let plan = Plan::assign(&graph, &[0, 1], Latency::Compact).unwrap();
//! let options = SessionOptions { slots: Some(10), ..SessionOptions::default() };
//! let report = Session::open(&graph, &plan, &registry, options).unwrap().run(&takt_base::Stop::new()).unwrap();
//! assert_eq!(report.components[1].results["sum"], Value::Int(4 * (0..10).sum::<i64>()));
//! ```

#![warn(missing_docs)]

/// Code that only the compiler itself can refuse.
///
/// A port carries items that can be carried:
/// ```compile_fail
/// #[takt_runtime::component]
/// fn wrong(input: In<String>) { let _ = input; }
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
/// fn wrong(mut input: In<f32>) { input[0] = 1.0; }
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

mod component;
pub mod control;
pub mod costs;
pub mod execinfo;
mod execution_log;
pub mod isolated;
pub mod job;
mod options;
pub mod planning;
mod port;
mod report;
mod session;
mod slot;
pub mod soft;
mod stats;
mod table;
mod worker;

pub use component::{
    Component, Equipment, Io, Make, MakeError, Message, NameTaken, Outbox, Prepared, Registration, Registry, Scalar,
};
pub use execution_log::{CsvRows, Execution, ExecutionRows, LogWriter};
#[doc(hidden)]
pub use inventory;
pub use num_complex::Complex;
pub use options::{Isolation, LogOptions, SessionOptions, Wish};
pub use port::{Bit, BrokenPacket, Header, In, InPort, Llr, Out, OutPort, Sample};
pub use report::{
    Before, ComponentReport, Culprit, Granted, Miss, OutputReport, Quantiles, Report, SinkHash, WorkerReport,
    output_hash,
};
pub use session::{
    Bench, BenchError, ControlError, Log, RunLook, RunView, Running, SeenComponent, SeenMiss, Session, StartError,
    TickError,
};
pub use slot::{Edges, Sleeper, SlotClock, wait_until};
pub use stats::{ComponentSnapshot, ComponentTally, MissKind, Snapshot, StatsReader, TraceEvent};
pub use table::OpenError;
#[doc(hidden)]
pub use takt_graph as graph;
#[doc(hidden)]
pub use takt_link::ring;
pub use takt_macros::component;
