//! What a component is to the runtime, and what travels to and from it.
//!
//! Whatever executes a component, a worker, a bench, another process or a shared library, knows no more of it than this
//! trait. So a component is written once and runs in all of them.
//!
//! Implement [`Component`] for a type, or let [`component`](macro@crate::component) do so. [`Io`] is what `tick` sees of one
//! slot; [`Scalar`] is the value of a variable, [`Message`] what components send each other.

mod contract;
pub(crate) mod names;
mod value;

pub use contract::{Component, Io, Make, MakeError, Outbox, Prepared};
pub(crate) use value::Instruction;
pub use value::{Message, Scalar};
