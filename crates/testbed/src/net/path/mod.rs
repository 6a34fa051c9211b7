//! The path between host and radio: from a [`PathSpec`] to namespaces, cables, routes and hops, and back to nothing.
//!
//! ```text
//! direct        host ---------------------------------------- radio
//! switch        host ---------------- switch ---------------- radio     bridge, rate on every cable end
//! router        host ---------------- router ---------------- radio     forwarding and NAT by the kernel
//! router-small  host --- lan-card : router : wan-card ------- radio     the same in a limited share of a CPU, between two cards
//! router-hw     host -- hardware : router ------------------- radio     the same, behind a model of the study's device
//! xdp-router    host ---------------- router ---------------- radio     forwarding and NAT by XDP programs of takt's own
//!
//! with impairments, any:   ... ------ network --------------- radio     delay, jitter, loss, order, doubles, rate
//! ```
//!
//! If the kernel works between the ends, each node but a card has kernel threads of its own that work off what it
//! receives. So the CPU time of each node is known, and can be limited.
//!
//! Behind a router the host has 10.0.1.2 of 10.0.1.0/24; the radio keeps its factory address, 192.168.10.2.

mod build;
mod calibrate;
mod chain;
mod counters;
mod hops;
mod lease;
mod limit;
mod options;
mod spec;

use std::net::Ipv4Addr;
use std::path::Path as FilePath;

use serde::{Deserialize, Serialize};
use takt_host::leftovers::Run;
use takt_host::receive::Offload;
use takt_path::hop::Report;
use takt_path::topology::Topology;

use super::{Namespace, PathError};
pub use calibrate::{Ceiling, SetBy, Towards};
pub use chain::CARDS;
pub use counters::{InterfaceCounters, NodeCounters};
use hops::RunningHop;
pub use limit::{Limit, SMALL_DATAGRAMS_PER_S, SMALL_PAYLOAD_BYTES};
pub use options::OPTIONS;
pub use spec::{Addressing, PathName, PathSpec, PathSpecError};

#[derive(Clone, Copy, Debug)]
pub struct Build<'a> {
    /// In whose record everything is.
    pub run: &'a Run,
    pub label: &'a str,
    /// The program whose `agent` the hops are: takt itself.
    pub program: &'a FilePath,
    /// The CPUs of the hops; empty: all.
    pub cpus: &'a [usize],
}

/// A path that stands. Dropping it takes everything away: first the hops, then the namespaces.
#[derive(Debug)]
pub struct Path {
    pub spec: PathSpec,
    pub topology: Topology,
    pub notes: Vec<String>,
    /// Share of a CPU that the router of `router-small` may use, and how it came to that.
    pub limit: Option<Limit>,
    hops: Vec<RunningHop>,
    /// Kernel threads that work off what a node receives, by its name.
    threads: Vec<(&'static str, u32)>,
    pub host: PathEnd,
    /// End of the radio, or of a load's other side.
    pub radio: PathEnd,
    between: Vec<Namespace>,
}

/// An end of a path: its namespace, and what it has there. The interface is up and has the address.
#[derive(Debug)]
pub struct PathEnd {
    pub namespace: Namespace,
    /// The only interface besides `lo`.
    pub interface: &'static str,
    pub address: Ipv4Addr,
    pub prefix_len: u8,
    pub gateway: Option<Ipv4Addr>,
    pub mtu_bytes: u32,
    /// Hardware address of the interface. Moving the address elsewhere moves this one too: leases and the constants of
    /// `xdp-router` hang on it.
    pub hardware: [u8; 6],
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HopCounters {
    pub node: String,
    /// From the host to the radio, then back.
    pub report: Report,
}

impl Path {
    /// From now on both ends finish the checksums of what they send, as a card does: what sees frames sees those too.
    ///
    /// # Errors
    /// An interface does not take it.
    pub fn finish_checksums(&self) -> Result<(), PathError> {
        let mut ends = [&self.host, &self.radio].into_iter();
        ends.try_for_each(|end| end.namespace.offload(end.interface, Offload::Checksum, false))
    }

    /// Processes and kernel threads that work for a node, `host` and `radio` the ends: their CPU time is the node's.
    #[must_use]
    pub fn pids_of(&self, node: &str) -> Vec<u32> {
        let threads = self.threads.iter().filter(|(of, _)| *of == node).map(|(_, thread)| *thread);
        self.hops.iter().filter(|hop| hop.node == node).map(RunningHop::pid).chain(threads).collect()
    }

    #[must_use]
    pub fn pids(&self) -> Vec<u32> {
        self.hops.iter().map(RunningHop::pid).chain(self.threads.iter().map(|(_, thread)| *thread)).collect()
    }
}
