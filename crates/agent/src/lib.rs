//! The lab's hands inside an environment: the same program as `takt agent`, told what to do in JSON lines.
//!
//! ```text
//!   takt check  --stdin-->   takt agent (in its namespace, on its cores)
//!               <-stdout--
//! ```
//!
//! One line a request, one line its reply, in order; only `stop` is heard while a workload runs. Nothing of this
//! travels over the measured path. An agent ends when its standard input does, so nothing outlives the program that
//! started it, however that ended.
#![forbid(unsafe_code)]

mod client;
mod counters;
mod kernel_facts;
mod protocol;
mod serve;

pub use client::{Agent, AgentError, Launch, cores};
pub use counters::{Counters, InterfaceCounters, UdpCounters};
pub use kernel_facts::KernelFacts;
pub use protocol::{Failure, Hello, PROTOCOL, Reply, Request, Service};
pub use serve::{Duty, ServeError, serve};
