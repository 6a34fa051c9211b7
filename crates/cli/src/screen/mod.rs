//! Screens of commands whose crates stand below `takt-page`, or are linked by programs that draw nothing: the runtime, the
//! mapper, a cluster. Each module is a pure function to a [`Screen`](takt_page::Screen).

#[cfg(feature = "cluster")]
pub mod cluster;
pub mod map;
pub mod recording;
pub mod run;
mod run_packets;
