//! What each end counted besides its datagrams, and what it tells the other: the halves a report is joined from.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use takt_stats::{Histogram, Ns};

use super::evidence::NetCounts;
use super::reorder::Extents;
use super::report::{FlowReceived, Interval};

/// CPU of both ends.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    /// The end that asked.
    pub client: EndCpu,
    /// The end that served.
    pub server: EndCpu,
    /// The client's process, for each datagram that was received by either end, ns. `None`: none was.
    pub client_ns_per_datagram: Option<f64>,
    /// The server's process, likewise.
    pub server_ns_per_datagram: Option<f64>,
}

/// CPU of one end, from before the first datagram to after the last had arrived (about 0.3 s more than was sent).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndCpu {
    /// The span this covers.
    pub wall_s: f64,
    /// The process, all threads.
    pub process_s: f64,
    /// The thread that carried the load. `None`: the kernel does not say.
    pub thread_s: Option<f64>,
    /// Of it, on this thread's account and in the kernel; ticks of 10 ms.
    pub thread_system_s: Option<f64>,
    /// The machine's CPU time spent in soft interrupts, over all of its CPUs' time: 0 to 1.
    pub machine_softirq_share: f64,
    /// The machine's busy share, 0 to 1.
    pub machine_busy_share: f64,
    /// CPUs of the machine.
    pub machine_cpus: usize,
    /// CPU time of tasks that are not this process, seconds. Both ends on one machine are foreign to each other.
    pub foreign_s: f64,
}

/// What each end counted besides its datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The end that asked.
    pub client: EndEvidence,
    /// The end that served.
    pub server: EndEvidence,
}

/// What one end counted besides its datagrams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EndEvidence {
    /// Its packet engine.
    pub engine: String,
    /// Receive buffer the kernel granted, bytes.
    pub recv_buffer_bytes: usize,
    /// Whether its sends may have left as aggregates.
    pub aggregates_sends: bool,
    /// Whether its receives may have come as aggregates.
    pub aggregates_receives: bool,
    /// Whether arrivals carry the kernel's stamp; else they are stamped when read.
    pub kernel_stamps: bool,
    /// Datagrams its sockets dropped for a full buffer. `None`: not known (see the engine).
    pub receive_buffer_drops: Option<u64>,
    /// Control messages sent.
    pub control_sent: u64,
    /// Control messages received.
    pub control_received: u64,
    /// Datagrams the kernel refused for their destination's sake.
    pub undeliverable: u64,
    /// Datagrams offered again, because a queue below the socket was full.
    pub congested: u64,
    /// Datagrams longer than planned or of no flow of this round.
    pub foreign: u64,
    /// Send calls.
    pub send_calls: u64,
    /// Receive calls.
    pub receive_calls: u64,
    /// Frames the machine's receive path had no room for, all devices.
    pub softnet_dropped: Option<u64>,
    /// Counters of its network namespace and device.
    pub net: NetCounts,
}

/// What a sender counted in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sent {
    pub(super) datagrams: u64,
    pub(super) payload_bytes: u64,
    pub(super) unsent: u64,
    pub(super) span_s: f64,
    pub(super) pacing_error_ns: Histogram<Ns>,
    pub(super) by_flow: Vec<u64>,
    pub(super) by_interval: Vec<u64>,
}

/// What a receiver counted in a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Received {
    pub(super) datagrams: u64,
    pub(super) payload_bytes: u64,
    pub(super) reordered: u64,
    pub(super) extents: Extents,
    pub(super) duplicates: u64,
    pub(super) too_old: u64,
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

/// What a server has seen, told when it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServeSummary {
    /// Sessions opened.
    pub sessions: u64,
    /// Rounds served to their end, warm-ups included.
    pub rounds: u64,
    /// Rounds whose client fell silent.
    pub abandoned: u64,
    /// Datagrams of load received.
    pub received: u64,
    /// Datagrams of load sent.
    pub sent: u64,
    /// Datagrams that were neither control nor load of a session.
    pub strangers: u64,
}

/// Where a server is reached, and what becomes of its sessions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    /// It listens here.
    Ready(SocketAddr),
    /// A client opened a session.
    Opened(SocketAddr),
    /// A round ended: datagrams received and sent.
    Round {
        /// Of whom.
        client: SocketAddr,
        /// Datagrams of load received.
        received: u64,
        /// Datagrams of load sent.
        sent: u64,
    },
    /// The client closed its session, or (`false`) fell silent.
    Closed(SocketAddr, bool),
}
