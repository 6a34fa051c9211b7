//! Experiments, their runs, the results store, and the check made of them.
//!
//! A question travels through here: an experiment file becomes a matrix of points, an environment and a path are
//! brought up, a workload runs, its record goes into the store, and a check turns the records into a verdict.
//! This crate measures through the crates below, and removes on every way out what it has started.
#![forbid(unsafe_code)]

pub mod aa_pairs;
mod about;
pub mod bench;
pub mod check;
pub mod compare;
mod execute;
pub mod experiment;
pub mod nodes;
pub mod run;
pub mod store;
pub mod summary;

pub use about::{About, HostFacts};
pub use execute::{ExecuteError, Expected, Order, execute};
