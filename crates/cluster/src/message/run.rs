//! A run of a waveform, from its order to its end.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use takt_graph::Latency;
use takt_runtime::SinkHash;

use crate::clock::{ClockFacts, PtpEpoch, SlotClock};
use crate::quorum::{Ballot, Quorum};
use crate::sealed::Sealed;

/// A waveform, and where each component of it runs. All nodes get the same one, and each takes its own part: so each knows all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Name of the run.
    pub run: String,
    /// Number of the placing in its run, from 1.
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
    /// Manager that watches over it. Its nodes and this one are its voters.
    pub manager: String,
    /// Number of the first stream between nodes; other numbers with every placing.
    pub first_stream: u32,
    /// Clock of its slots.
    #[serde(default, skip_serializing_if = "SlotClock::is_own")]
    pub slot_clock: SlotClock,
    /// Its workers.
    pub workers: Vec<WorkerOrder>,
}

/// A worker of an order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerOrder {
    /// Its node.
    pub node: String,
    /// The core it is bound to.
    pub cpu: u32,
    /// Components that it executes, by name, in order.
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
    /// The order that it executes.
    pub order: Order,
    /// Quorums that it needs. The last is of the placing that it supports: that one, or one that was made ready.
    pub quorums: Vec<Quorum>,
    /// The node whose clock sets the beat.
    pub reference: String,
}

impl Recalled {
    /// The placing that it supports.
    #[must_use]
    pub fn supports(&self) -> Option<&Ballot> {
        self.quorums.last().map(|quorum| &quorum.ballot)
    }
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
    pub next: Quorum,
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
    /// Addresses at which the node takes samples of it and requests for the time: a signed
    /// [`crate::statement::Statement`].
    pub statement: Sealed,
}

/// Start of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Which.
    pub run: String,
    /// The node whose clock sets the beat.
    pub reference: String,
    /// How long from now, on the reference's clock, slot 0 begins; requested by the reference itself.
    pub in_ns: u64,
    /// Start of slot 0 on the reference's clock, for all others.
    pub epoch_ns: Option<u64>,
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
    /// Answer of each node of the run to [`Order`]: where it takes samples.
    pub statements: BTreeMap<String, Sealed>,
}

/// A run goes over to the placing that was made ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Which.
    pub run: String,
    /// That placing, and the manager that made it ready; refused if another one is ready.
    pub next: Ballot,
    /// First logical slot of the new placing.
    pub at: u64,
    /// The node whose clock sets the beat from now on.
    pub reference: String,
    /// Start of slot 0 on the reference's clock, for all others.
    pub epoch_ns: Option<u64>,
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
    /// Answer of each node when it made that placing ready.
    pub statements: BTreeMap<String, Sealed>,
}

/// A run has begun, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Start of slot 0 on the reference's clock.
    pub epoch_ns: u64,
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
    /// After a change of placing: the first slot that can be of the new one. Behind the slot that was ordered, if the order came
    /// after that.
    #[serde(default)]
    pub from_slot: u64,
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
    /// Facts about the clock, and their source.
    #[serde(default)]
    pub clock: ClockFacts,
    /// Manager that watches over it.
    pub manager: String,
    /// Slots that the node was too slow for: from look to look those of the component that missed most.
    pub slow_slots: u64,
    /// Slots that did not come, or not in time, from each other node, since it executes this placing.
    pub lost_slots: BTreeMap<String, u64>,
    /// Once it has ended.
    pub end: Option<End>,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// Its report, as `takt run --json` gives it.
    pub report: Json,
    /// Hashes of what its sinks received.
    pub sinks: Vec<SinkHash>,
    /// Why its bridges broke, if they did.
    pub bridges_broke: Option<String>,
    /// Whether the node ended it because too few others received its heartbeats.
    pub cut_off: bool,
}
