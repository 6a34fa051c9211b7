//! A plan made executable: for each worker a table of entries, with the rings of all links between them.
//!
//! Everything that takes memory or can be refused happens here, before the first slot. The slot only has to go through
//! a table from the first entry to the last.
//!
//! [`make_components`] makes the components of a graph, [`make`] their [`Table`]s. A worker asks each [`Entry`] what it has
//! [`Due`] in a slot, calls [`Entry::execute`] and then [`Entry::publish`]; or, where nothing has a deadline, [`Entry::burst`].

mod call;
mod caught_up;
mod entry;
mod make;
mod rings;

pub(crate) use call::{Executed, Recorder};
pub(crate) use caught_up::CaughtUp;
pub(crate) use entry::{Body, Due, Entry, PENDING, Pending};
pub use make::OpenError;
pub(crate) use make::{Table, make, make_components};
