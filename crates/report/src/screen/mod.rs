//! Screens of each command, from what it measured: one module a command, each a pure function to a
//! [`Screen`](takt_page::Screen).

#[cfg(feature = "cluster")]
pub mod cluster;
pub mod experiment;
pub mod map;
pub mod rate;
pub mod run;
mod run_packets;
pub mod stops;
pub mod udp;
pub mod udp_search;
#[cfg(test)]
mod udp_tests;
pub mod wakeup;
#[cfg(test)]
mod wakeup_tests;
