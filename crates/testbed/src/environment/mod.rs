//! Environments of the measured side: this machine, an emulated processor, a container, a virtual machine, a node of a
//! cluster.
//!
//! An environment takes the host side's end on the path: a namespace and the interface in it. `native` works there,
//! and so does `aarch64`, whose processes are this machine's and whose instructions are another processor's.
//! `container` and `vm` make the interface a port of a bridge and move its address to the inside end, as the study of
//! virtualised radios did (its Figure 2):
//!
//! ```text
//!     native                  container                                  vm
//!   +-----------------+     +----------------------------------+     +----------------------------------+
//!   | agent     host0 |     | +--------+                       |     | +--------+                       |
//!   |     192.168.10.1|     | | agent  |veth1 veth0 br0 host0  |     | | agent  |eth0   tap0  br0 host0 |
//!   +-----------------+     | +--------+ 192.168.10.1          |     | +--------+ 192.168.10.1          |
//!                           +----------------------------------+     +----------------------------------+
//! ```
//!
//! A node of a cluster is another machine: nothing of this one leads into it. The connection to it is a `Fleet` (feature
//! `cluster`), behind [`Nodes`].
//!
//! The agent inside speaks over pipes, into a virtual machine over virtio-serial, never over the measured path.
//! Everything that an environment makes is registered before it exists and goes when its [`RunningEnvironment`] is
//! dropped.

mod aarch64;
mod bridge;
mod container;
mod drawing;
mod emulation;
mod error;
#[cfg(feature = "cluster")]
mod fleet;
mod given;
mod native;
mod nodes;
mod placement;
mod programs;
mod running;
mod scratch;
mod shell;
mod sides;
mod site;
mod site_path;
mod spec;
mod vm;

pub use aarch64::Aarch64;
pub use container::{Container, RuntimeName};
pub use emulation::EmulationWish;
pub use error::EnvironmentError;
#[cfg(feature = "cluster")]
pub use fleet::Fleet;
pub use native::Native;
pub use nodes::{Machine, Nodes, node_of};
pub use placement::Placement;
pub use running::{EnvironmentFacts, RunningEnvironment};
pub use scratch::Scratch;
pub use shell::Shell;
pub use site::{InForce, Site, SiteError, SiteOptions};
pub use site_path::SitePath;
pub use spec::{EnvironmentKind, Limits, Spec, open};
pub use vm::{GuestError, GuestLine, Parameters, ParametersError, Vm, serve_guest};

use std::path::Path;

use takt_agent::Agent;

use crate::net::PathEnd;

/// Something in which the measured side can run: this machine itself, an emulated processor, a container, a virtual machine, a
/// node of a cluster.
pub trait Environment: Send {
    /// Its name in experiment files and records: `native`, `aarch64`, `container`, `vm`, `node:NAME`.
    fn name(&self) -> &str;

    /// Starts agents on this machine itself: those of the other side.
    fn outside(&self) -> &Native;

    /// Whether it is another machine: it has cores and counters of its own, and no path of this machine leads there.
    fn is_elsewhere(&self) -> bool {
        false
    }

    /// Starts the agent of the other side, which is on this machine as a rule: in a namespace if there is one, on these CPUs.
    ///
    /// # Errors
    /// It does not start, or there is no core for it.
    fn start_radio(&self, namespace: Option<&Path>, cpus: &[usize]) -> Result<Agent, EnvironmentError> {
        Ok(self.outside().start_agent(namespace, cpus)?)
    }

    /// Whether it has a network of its own, into which no loopback interface of this machine leads.
    fn own_network(&self) -> bool {
        true
    }

    /// Starts an agent inside, on the end if there is a path, on these CPUs of this machine. If that fails nothing is left.
    fn start(&self, end: Option<&PathEnd>, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError>;

    /// Starts one of several agents, each with a network of its own on the same end; `seat` counts from 0. The first is started
    /// before the others, and dropped after them.
    ///
    /// # Errors
    /// There is only one of it at a time; else as [`Environment::start`].
    fn start_beside(&self, end: &PathEnd, seat: u8, cpus: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
        let _ = (end, seat, cpus);
        Err(EnvironmentError::OneProgram { environment: self.name().to_owned() })
    }
}
