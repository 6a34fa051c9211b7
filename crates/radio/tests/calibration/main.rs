//! Files of corrections, their use, and the measurement that makes them.

#[path = "../common/mod.rs"]
mod common;
mod files;
mod leak;
mod measured;
mod search;
mod uhd;
