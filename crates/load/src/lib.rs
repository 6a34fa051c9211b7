//! Workloads that are run at a point of an experiment: one module a workload.
//!
//! | module | question | result |
//! | --- | --- | --- |
//! | `rate` | does a host keep up with a radio at this rate? | samples, letters, CPU |
//! | `udp` | what does this path carry? | datagrams/s, loss by place, jitter, latency, CPU |
//! | `round_trip` | how soon can a host answer what it received? | margin of each answer, late ones |
//! | `waveform` | does a host hold a waveform's slot? | misses, execution, lateness, overhead |
//! | `interface` | what does handing a packet over cost? | latency, hand-over, both beside two copies |
//! | `deadline` | does a host answer the air interface in time? | answers in time and late, each stage of each |
//! | `roles` | what does each role of an operating environment cost a slot? | variables, loading |
//! | `calibration` | what can this processor do, and what do components execute? | capacities, prices, counts |
//! | `wakeup` | how late is a thread that should wake up once a period? | lateness of every tick, stolen time |
//! | `link` | does an LTE link come up on two radios, and what does it lose? | attempts that connect, jitter, loss, CPU by thread |
//! | `programs` | what does each of several programs get behind one front end, or with radios of their own? | samples, losses, CPU, delay, what leaks |
//! | `longest_packet` | how long may a waveform's packets be? | items, every trial |
//! | `nodes` | do two machines hold a waveform's slot, and how long may its packets be there? | the same, both nodes and the cable |
//!
//! Each is a folder with a serde options struct, a serde result struct (which is the `--json` document of the command of the
//! same name), `run`, and `workload.rs`: what experiments know of it, by the contract of
//! [`Workload`]. `udp` and `wakeup` are measured by crates of their own, so that each is one file here. A new workload is a new
//! folder, a line in `kind.rs`, and its module and row here. A workload measures; it never judges.

#![forbid(unsafe_code)]

pub mod calibration;
pub mod deadline;
mod emulated;
mod every;
mod excluded;
pub mod interface;
mod kind;
pub mod lent;
pub mod link;
pub mod longest_packet;
pub mod nodes;
pub mod programs;
mod quantity;
pub mod rate;
pub mod roles;
pub mod round_trip;
pub mod setting;
mod udp;
mod wakeup;
pub mod waveform;
mod workload;

pub use emulated::{Played, PlayedFile, WriteFile};
pub use every::{Every, EveryError};
pub use excluded::ExcludedSpans;
pub use kind::WorkloadKind;
pub use quantity::Quantity;
pub use takt_radio::Model;
pub use workload::{
    Beside, Contradiction, EmulatedAir, EmulatedRadios, Facts, Lost, Peer, PointNeeds, PointWorkload, Target, Workload,
};
