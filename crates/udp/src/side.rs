//! Counts of each end besides its datagrams, and what it sends to the other: the halves a report is joined from.
//! `docs/reference/udp.md` explains each key.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use takt_stats::{Histogram, Ns};

use super::evidence::NetCounts;
use super::reorder::Extents;
use super::report::{FlowReceived, Interval};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    pub client: EndCpu,
    pub server: EndCpu,
    /// The client's process, for each datagram that was received by either end, ns. `None`: none was.
    pub client_ns_per_datagram: Option<f64>,
    pub server_ns_per_datagram: Option<f64>,
}

/// CPU of one end, from before the first datagram to after the last had arrived (about 0.3 s more than was sent).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndCpu {
    pub wall_s: f64,
    pub process_s: f64,
    /// The thread that carried the load. `None`: the kernel does not say.
    pub thread_s: Option<f64>,
    /// Part of it on this thread's account and in the kernel; ticks of 10 ms.
    pub thread_system_s: Option<f64>,
    pub machine_softirq_share: f64,
    pub machine_busy_share: f64,
    pub machine_cpus: usize,
    /// CPU time of tasks that are not this process, seconds. Both ends on one machine are foreign to each other.
    pub foreign_s: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    pub client: EndEvidence,
    pub server: EndEvidence,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndEvidence {
    pub engine: String,
    /// How datagrams passed between the process and the interface, in words. Older records have none.
    #[serde(default)]
    pub engine_path: String,
    /// Choice of engine `auto`: which it was, and why no other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_choice: Option<String>,
    /// Which queues of a card it served, and what brought datagrams there, in words; or why it had all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine_queues: Option<String>,
    pub recv_buffer_bytes: usize,
    pub aggregates_sends: bool,
    pub aggregates_receives: bool,
    /// Scheduling policy that its thread had. Older records have none.
    #[serde(default)]
    pub policy: Option<String>,
    /// Whether its thread never slept. Older records have none, and none did.
    #[serde(default)]
    pub busy_poll: bool,
    /// Whether arrivals carry the kernel's stamp; else they are stamped when read.
    pub kernel_stamps: bool,
    pub receive_buffer_drops: Option<u64>,
    pub control_sent: u64,
    pub control_received: u64,
    pub undeliverable: u64,
    pub congested: u64,
    /// Datagrams longer than planned or of no flow of this round.
    pub foreign: u64,
    pub send_calls: u64,
    pub receive_calls: u64,
    pub softnet_dropped: Option<u64>,
    pub net: NetCounts,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    pub(super) datagrams: u64,
    pub(super) payload_bytes: u64,
    pub(super) unsent: u64,
    pub(super) span_s: f64,
    pub(super) pacing_error_ns: Histogram<Ns>,
    pub(super) by_flow: Vec<u64>,
    pub(super) by_interval: Vec<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub(super) datagrams: u64,
    pub(super) payload_bytes: u64,
    pub(super) reordered: u64,
    pub(super) extents: Extents,
    pub(super) duplicates: u64,
    pub(super) too_old: u64,
    /// Older servers did not count these.
    #[serde(default)]
    pub(super) too_far: u64,
    pub(super) foreign: u64,
    pub(super) earlier_than_sent: u64,
    pub(super) span_s: f64,
    pub(super) jitter_us: Option<f64>,
    pub(super) latency_ns: Histogram<Ns>,
    pub(super) flows: Vec<FlowReceived>,
    pub(super) intervals: Vec<Interval>,
}

/// One end's half of a round; what a server sends its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    pub(super) sent: Option<Sent>,
    pub(super) received: Option<Received>,
    pub(super) evidence: EndEvidence,
    pub(super) cpu: EndCpu,
}

/// Report of a server when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServeSummary {
    pub sessions: u64,
    /// Rounds served to their end, warm-ups included.
    pub rounds: u64,
    pub abandoned: u64,
    pub received: u64,
    pub sent: u64,
    /// Datagrams that were neither control nor load of a session.
    pub strangers: u64,
}

/// Address of a server, and what becomes of its sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    Ready(SocketAddr),
    Opened(SocketAddr),
    Round {
        client: SocketAddr,
        received: u64,
        sent: u64,
    },
    /// The client closed its session, or (`false`) fell silent.
    Closed(SocketAddr, bool),
}
