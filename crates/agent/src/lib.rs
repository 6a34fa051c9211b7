//! A process that works for another: this program as `takt agent`, which reads requests and writes replies as JSON lines.
//!
//! ```text
//!   takt check  --stdin-->   takt agent (in its namespace, on its cores)
//!               <-stdout--
//! ```
//!
//! One line a request, one line its reply with the same number, in order; only `stop` takes effect while a workload runs. A reply that
//! comes after its sender has stopped waiting is dropped: its number is not the last one's. Nothing of this
//! travels over the measured path. An agent ends when its standard input does, so nothing outlives the program that
//! started it, however that ended.
#![forbid(unsafe_code)]

mod client;
mod counters;
mod kernel_facts;
mod protocol;
mod replies;
mod serve;

pub use client::{Agent, AgentError, Launch, cores};
pub use counters::Counters;
pub use kernel_facts::KernelFacts;
pub use protocol::{Failure, Hello, Numbered, PROTOCOL, Reply, Request, Service};
pub use serve::{Handler, ServeError, serve};
