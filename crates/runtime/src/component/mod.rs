//! The runtime's view of a component, and what travels to and from it.
//!
//! Whatever executes a component, a worker, a bench or another process, knows no more of it than this trait. So a component
//! is written once and runs in all of them.
//!
//! Implement [`Component`] for a type, or let [`component`](macro@crate::component) do so. [`Io`] is what `tick` sees of one
//! slot; [`Scalar`] is the value of a variable, [`Message`] what components send each other. [`Registry`] knows component types
//! by name.

mod contract;
pub(crate) mod names;
mod registry;
mod value;

pub use contract::{Component, Io, Make, MakeError, Outbox, Prepared};
pub use registry::{Equipment, NameTaken, Registration, Registry};
pub(crate) use value::{Instruction, Word};
pub use value::{Message, Scalar};
