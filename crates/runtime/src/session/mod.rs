//! Opening a waveform and running it: on threads, on a virtual clock, or one component on a bench.
//!
//! This is the side that may allocate, wait and fail. It makes tables and workers, and from then on reaches them through
//! bounded queues alone.
//!
//! [`Session::open`] makes all components. [`Session::run`] runs to the end, [`Session::start`] gives a [`Running`] that can
//! be changed meanwhile, and [`Session::simulate`] takes virtual time. [`Bench`] executes one component by hand.

mod bench;
mod running;
mod simulate;
mod start;
mod taps;
mod view;

pub use bench::{Bench, BenchError, TickError};
pub use running::{ControlError, Log, Running};
pub use start::{Session, StartError};
pub use view::{RunLook, RunView, SeenComponent, SeenMiss};
