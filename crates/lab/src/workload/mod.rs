//! What is run at a point of an experiment: one module a workload.
//!
//! | module | question | result |
//! | --- | --- | --- |
//! | `rate` | does a host keep up with a radio at this rate? | samples, letters, CPU |
//! | `udp` | what does this path carry? | datagrams/s, loss by place, jitter, latency, CPU |
//! | `round_trip` | how soon can a host answer what it received? | margin of each answer, late ones |
//!
//! Each is a serde options struct, a serde result struct (which is the `--json` document of the command of the same
//! name) and `run(options, progress, stop)`. A workload measures; it never judges.

mod engine_name;
pub mod rate;
pub mod round_trip;
pub mod udp;
