//! The ports a component sees while it executes a slot.
//!
//! A port is made when a waveform is opened and holds its end of a link; around each execution the worker points it at
//! the packet of the slot. Nothing here allocates, locks or waits.

mod input;
mod lent;
mod output;

pub(crate) use input::Source;
pub use input::{In, InPort};
pub(crate) use lent::Lent;
pub(crate) use output::{Grant, Granted, Losses};
pub use output::{Out, OutPort};
