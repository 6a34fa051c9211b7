//! Tests that need the machine for themselves: guests with timers, settings of the whole machine, real-time threads
//! beside busy loops. The gate runs these tests one after the other, and nothing beside them.

#[path = "../support/mod.rs"]
mod support;

#[cfg(feature = "cluster")]
mod cluster;
mod doctor;
#[cfg(feature = "cluster")]
mod failures;
mod guest;
mod linux_rt;
#[cfg(feature = "cluster")]
mod metrics;
#[cfg(feature = "cluster")]
mod ptp;
mod starved;
mod stopped_guest;
mod two_nodes;
