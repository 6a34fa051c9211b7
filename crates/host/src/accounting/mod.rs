//! CPU use: threads, processes and the machine by class, as differences between two snapshots.
//!
//! Three views, because each alone misleads. A process' own figure leaves out the protocol work that interrupts do for
//! it; the machine's figure contains everybody; and on a loopback or veth path the sender pays for the receiver.
//!
//! ```
//! use takt_host::accounting::Snapshot;
//! let earlier = Snapshot::take()?;
//! // ... the work to be accounted for ...
//! let usage = Snapshot::take()?.since(&earlier);
//! println!("{} ns of CPU, {} ns by others", usage.process.cpu_ns, usage.foreign_cpu_ns);
//! # Ok::<(), takt_host::ReadError>(())
//! ```
//!
//! Resolution: a process' and a thread's `cpu_ns` and all delays are exact; a thread's split into user and system and
//! every machine class come in ticks of 10 ms, so they mean something over a second, not over a millisecond.

mod process;
mod snapshot;

pub use crate::proc::classes::CpuClasses;
pub use process::{ProcessCpu, ThreadCpu, read_stat};
pub use snapshot::{CpuUse, Pressure, Snapshot, Softnet, Usage};
