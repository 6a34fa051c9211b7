//! Experiments, their runs, and the results store.
//!
//! A question travels through here: an experiment file becomes a matrix of points, an environment and a path are
//! brought up, a workload runs, and its record goes into the store. `takt-questions` turns the records into an answer.
//! This crate measures through the crates below, and removes on every way out what it has started.
#![forbid(unsafe_code)]

pub mod aa_pairs;
mod about;
pub mod bench;
pub mod compare;
mod execute;
pub mod experiment;
pub mod nodes;
pub mod run;
pub mod screen;
pub mod store;
mod stored;
pub mod summary;

pub use about::{About, HostFacts};
pub use execute::{ExecuteError, Expected, Order, execute};
pub use stored::{AssembleError, RoundsSummary, StoredRun};
