//! Datagram load between two ends that agreed to it: what does this path carry, and where does it lose?
//!
//! ```text
//!   client (run)                               server (serve)
//!   Hello, Open      -- cookie handshake -->   one session at a time
//!   Ping             -- same clock? ------->   Pong
//!   Start(plan)      ---------------------->   counters read, then Started
//!   load ==================================>   window, jitter, latency        (or <==, or both)
//!   Finish           ---------------------->   quiet for 0.2 s, counters read again
//!   Get              ---------------------->   the server's half, in pieces
//! ```
//!
//! * Load is sent only to an address that has answered with a cookie, and ends 3 s after its last sign of life.
//! * Datagrams leave on an absolute schedule and carry the time they were **meant** to leave, so that no stall of the
//!   sender hides in the latency (no coordinated omission).
//! * Lost, repeated and reordered are counted apart exactly; each loss is placed by counters of both kernels, read before
//!   the first datagram and after traffic has stopped, and what no counter saw is called unplaced.
//! * Nothing allocates, locks or logs between the first datagram and the last.
//!
//! [`run`] is the client, [`serve`] the server; [`UdpReport`] is the `--json` document. [`search`] runs many rounds to find
//! the highest rate without loss. The bytes are in [`protocol`];
//! `docs/reference/udp.md` has the conversation and every field.

#![forbid(unsafe_code)]

mod client;
mod clock;
mod end;
mod error;
mod evidence;
mod iperf3;
mod join;
mod jump;
mod measure;
mod options;
mod place;
mod plan;
pub mod protocol;
mod receiver;
mod reorder;
mod report;
mod schedule;
pub mod screen;
pub mod search;
mod sender;
mod server;
mod session;
mod side;
mod window;

pub use client::{Progress, run};
pub use clock::Relation;
pub use error::UdpError;
pub use evidence::{DeviceCounts, NetCounts, queue_drops};
pub use iperf3::NoIperf3;
pub use options::{DEFAULT_PORT, Direction, IMIX, MadeBy, ServeOptions, UdpOptions};
pub use place::Places;
pub use plan::{Plan, PlanError};
pub use report::{
    CrossedAs, FlowReceived, Histograms, Interval, LatencyKind, Lost, ReceivedFigures, Reordered, SCHEMA, SentFigures,
    UdpReport, Way, WayName,
};
pub use server::serve;
pub use side::{Cpu, EndCpu, EndEvidence, Evidence, Notice, ServeSummary};

/// Parts by which tests hold the halves of an end against their contract, without the other end.
#[doc(hidden)]
pub mod halves {
    pub use super::receiver::Receiver;
    pub use super::sender::Sender;
}
