//! Failures under engine `dpdk` in particular: the interface, its neighbours, permissions, what stays behind. And what
//! it does over the devices that are the engine's alone. Each test runs over a cable of its own (`support/far.rs`), by
//! its whole name.
#![cfg(feature = "dpdk")]

mod common;
mod interface;
mod missing;
mod own_host;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
