//! What nodes and managers say to each other: one JSON document a question, one its answer.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use takt_graph::Latency;
use takt_mapper::ClassSpec;
use takt_runtime::SinkHash;

use crate::quorum::Ballot;
/// What a node answers; the control socket of one machine's waveform answers alike.
pub use takt_runtime::control::Answer;

/// Version of the protocol. Another one is refused by name.
pub const PROTOCOL: u32 = 1;

/// Bytes of a question or an answer at most.
pub const MOST_BYTES: usize = 16 << 20;

/// A question with the version it is asked in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// [`PROTOCOL`] of who wrote it.
    pub protocol: u32,
    /// What is asked or answered; not looked at where the version is another one.
    pub body: T,
}

/// What a node can be asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case")]
pub enum Request {
    /// What it is and offers: [`NodeFacts`].
    Describe,
    /// Make ready its part of a waveform: [`Opened`].
    Open(Box<Order>),
    /// Begin to execute it.
    Start(Start),
    /// Make ready another placing of a waveform that runs, under the same name: [`Opened`].
    Prepare {
        /// The placing that the node supports until now; refused if it is another one.
        after: Ballot,
        /// What is next.
        order: Box<Order>,
    },
    /// Go over to it.
    Change(Change),
    /// How a run is, and once it has ended what became of it: [`Progress`].
    Progress {
        /// Which.
        run: String,
    },
    /// What a manager needs to know of a run to watch over it: [`Recalled`].
    Recall {
        /// Which.
        run: String,
    },
    /// Take another manager for a run whose own is gone: [`Adopted`]. Nothing else changes.
    Adopt(Adopt),
    /// End a run at its next slot edge, and forget it.
    Stop {
        /// Which.
        run: String,
        /// Its manager; refused if it has another one.
        manager: String,
    },
}

/// What a node is and offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Its name.
    pub node: String,
    /// Its takt's.
    pub version: String,
    /// Kind of its cores.
    pub class: String,
    /// What they can do.
    pub capacities: ClassSpec,
    /// Cores on which it lets workers run, one each.
    pub cores: Vec<u32>,
    /// Of those the ones that have a worker.
    pub busy: Vec<u32>,
    /// What the interface of its samples can carry, bytes a second.
    pub bytes_per_s: f64,
    /// Where it is asked what time it is.
    pub clock: SocketAddr,
    /// Waveforms that run on it.
    pub runs: Vec<RunFacts>,
}

/// A waveform on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the run.
    pub run: String,
    /// Name of the waveform.
    pub waveform: String,
    /// Components here.
    pub components: Vec<String>,
    /// The physical slot it is in; of one that has ended, the slots executed.
    pub slot: u64,
    /// Who watches over it.
    pub manager: String,
    /// Whether the node receives from that one.
    pub watched: bool,
}

/// A waveform, and where each component of it runs. All nodes get the same one, and each takes its own part: so each knows all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Name of the run.
    pub run: String,
    /// The how manieth placing of the run it is, from 1.
    pub placing: u32,
    /// The file: its name for messages, and its text. Components come from what is installed on the node, never with it.
    pub file: String,
    /// The same.
    pub text: String,
    /// Length of a slot, where it is not the file's.
    pub slot_ns: Option<u64>,
    /// Changed parameters, `component.parameter=value`.
    pub set: Vec<String>,
    /// Slots a hop takes.
    pub latency: Latency,
    /// Slots that a packet takes from one node to another.
    pub hop_slots: u32,
    /// Logical slots each component executes; none: until stopped.
    pub slots: Option<u64>,
    /// Real-time priority of the workers; 0: none.
    pub fifo_priority: u8,
    /// Who watches over it. Its nodes and this one are its voters.
    pub manager: String,
    /// Number of the first stream between nodes; other numbers with every placing.
    pub first_stream: u32,
    /// Its workers.
    pub workers: Vec<WorkerOrder>,
}

/// A worker of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerOrder {
    /// Where it is.
    pub node: String,
    /// The core it is bound to.
    pub cpu: u32,
    /// What it executes, by name, in order.
    pub components: Vec<String>,
}

impl Order {
    /// Its placing.
    #[must_use]
    pub fn ballot(&self) -> Ballot {
        Ballot::new(self.placing, &self.manager)
    }
}

/// A run, as a node knows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    /// What it executes.
    pub order: Order,
    /// The placing that it supports: that one, or one that was made ready.
    pub supports: Ballot,
    /// Whose support counts for that.
    pub voters: Vec<String>,
    /// The node whose clock sets the beat.
    pub reference: String,
}

/// Another manager for a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adopt {
    /// Which.
    pub run: String,
    /// The placing that the node supports until now; refused if it is another one.
    pub after: Ballot,
    /// The one that it supports from now on, by the new manager.
    pub next: Ballot,
    /// Whose support counts from now on.
    pub voters: Vec<String>,
}

/// The run has another manager.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adopted {
    /// The physical slot it is in.
    pub slot: u64,
}

/// An order is made ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Opened {
    /// Where other nodes send samples to.
    pub samples: SocketAddr,
}

/// Begin of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Which.
    pub run: String,
    /// The node whose clock sets the beat, and where it is asked.
    pub reference: String,
    /// The same.
    pub clock: SocketAddr,
    /// How long from now, on the reference's clock, slot 0 begins; asked for by the reference itself.
    pub in_ns: u64,
    /// Begin of slot 0 on the reference's clock, for all others.
    pub epoch_ns: Option<u64>,
    /// Where each node's samples go.
    pub samples: BTreeMap<String, SocketAddr>,
}

/// A run goes over to the placing that was made ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Which.
    pub run: String,
    /// First logical slot of the new placing.
    pub at: u64,
    /// The node whose clock sets the beat from now on, and where it is asked.
    pub reference: String,
    /// The same.
    pub clock: SocketAddr,
    /// Begin of slot 0 on the reference's clock, for all others.
    pub epoch_ns: Option<u64>,
    /// Where each node's samples go.
    pub samples: BTreeMap<String, SocketAddr>,
}

/// A run has begun, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Begin of slot 0 on the reference's clock.
    pub epoch_ns: u64,
    /// The reference's clock less the node's.
    pub offset_ns: i64,
    /// How far off that is at most.
    pub offset_bound_ns: u64,
}

/// How a run is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// The physical slot it is in, and how long one is; of a run that has ended, the slots executed.
    pub slot: u64,
    /// The same.
    pub slot_ns: u64,
    /// The reference's clock less the node's, now, and how far off that is at most.
    pub offset_ns: i64,
    /// The same.
    pub offset_bound_ns: u64,
    /// Who watches over it.
    pub manager: String,
    /// Slots that the node was too slow for, since it executes this placing: those of the component that has most.
    pub slow_slots: u64,
    /// Slots that did not come, or not in time, from each other node, since it executes this placing.
    pub lost_slots: BTreeMap<String, u64>,
    /// Once it has ended.
    pub end: Option<End>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Its report, as `takt run --json` gives it.
    pub report: Json,
    /// What its sinks received.
    pub sinks: Vec<SinkHash>,
    /// Why its bridges broke, if they did.
    pub bridges_broke: Option<String>,
    /// Whether the node ended it because too few others received its heartbeats.
    pub cut_off: bool,
}
