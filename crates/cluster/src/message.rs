//! What nodes and managers say to each other: one JSON document a question, one its answer. What changes anything is an order,
//! and travels signed ([`crate::seal`]).

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use takt_graph::Latency;
use takt_host::fingerprint::Fingerprint;
use takt_mapper::ClassSpec;
use takt_runtime::SinkHash;

use crate::clock::{ClockFacts, PtpEpoch, SlotClock};
use crate::quorum::{Ballot, Quorum};
use crate::tenant::{Quota, Quotas, Share, Tenant};
/// What a node answers; the control socket of one machine's waveform answers alike.
pub use takt_runtime::control::Answer;

/// Version of the protocol. Another one is refused by name.
pub const PROTOCOL: u32 = 1;

/// Bytes of an answer at most; of a message to a node less ([`crate::gate::MOST_BYTES`]).
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
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// What it is and offers: [`NodeFacts`].
    Describe,
    /// What an order that is given now has to be signed for: [`Moment`].
    Moment,
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
        /// The manager that says so; refused if the run has another one. None: its tenant, whoever watches.
        manager: Option<String>,
    },
    /// Start an agent of the lab: [`AgentStarted`]. Nothing else is ever started by it: the takt that is installed on the node, as its
    /// child, on the cores that it grants.
    StartAgent(StartAgent),
    /// Bytes for such an agent, and those that it has written: [`AgentOutput`]. Its messages are numbered from 0, and each is taken
    /// once and in order.
    WriteAgent(WriteAgent),
}

impl Request {
    /// What orders are called.
    pub(crate) const ORDERS: [&str; 9] =
        ["open", "start", "prepare", "change", "recall", "adopt", "stop", "start_agent", "write_agent"];

    /// Whether it changes nothing, and any member may ask it; all else is an order.
    #[must_use]
    pub fn is_question(&self) -> bool {
        matches!(self, Request::Describe | Request::Moment | Request::Progress { .. })
    }

    /// What it is called in messages, as in `ask`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Request::Describe => "describe",
            Request::Moment => "moment",
            Request::Open(_) => "open",
            Request::Start(_) => "start",
            Request::Prepare { .. } => "prepare",
            Request::Change(_) => "change",
            Request::Progress { .. } => "progress",
            Request::Recall { .. } => "recall",
            Request::Adopt(_) => "adopt",
            Request::Stop { .. } => "stop",
            Request::StartAgent(_) => "start_agent",
            Request::WriteAgent(_) => "write_agent",
        }
    }
}

/// An agent is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartAgent {
    /// The lab's takt: the node's has to be the same.
    pub version: String,
    /// How many cores it is to have; none: all that are free and that the quota leaves.
    pub cores: Option<u32>,
}

/// An agent was started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentStarted {
    /// Its number, drawn by the node.
    pub agent: u64,
    /// The node's life: what is written to the agent is for that one alone.
    pub life: u64,
    /// The cores that it is pinned on.
    pub cores: Vec<u32>,
    /// The machine that the node is.
    pub machine: Fingerprint,
}

/// What the lab says to an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteAgent {
    /// Which.
    pub agent: u64,
    /// Bytes for it, base64, [`MOST_AGENT_BYTES`] at most; they may be none: then it is a sign of life, and a wish to hear.
    pub input: String,
    /// That was all: the agent is to end.
    pub end: bool,
}

/// What an agent says to the lab.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentOutput {
    /// Bytes of it, base64, [`MOST_AGENT_BYTES`] at most.
    pub output: String,
    /// Once it has ended and nothing more comes: how.
    pub ended: Option<String>,
}

/// Bytes to or from an agent in one message at most.
pub const MOST_AGENT_BYTES: usize = 256 << 10;

/// How long an agent lives without a message of its lab.
pub const AGENT_LEASE: Duration = Duration::from_secs(10);

/// A moment in the life of a node: what an order has to be signed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// A number that the node drew when it started.
    pub life: u64,
    /// By its monotonic clock.
    pub at_ns: u64,
}

/// What is a node's own to say of a tenant: what it may have, and what it has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TenantFacts {
    /// Which.
    pub tenant: Tenant,
    /// What it may have.
    pub quota: Quota,
    /// What it has.
    pub has: Share,
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
    /// Tenants with a quota here, or with runs; `default` for all others.
    #[serde(default)]
    pub tenants: Vec<TenantFacts>,
    /// Agents of labs on it.
    #[serde(default)]
    pub agents: Vec<AgentFacts>,
}

impl NodeFacts {
    /// Cores that have no worker.
    pub fn free(&self) -> impl Iterator<Item = u32> {
        self.cores.iter().copied().filter(|core| !self.busy.contains(core))
    }

    /// As far as a tenant may have it: of the free cores those that its quota leaves.
    #[must_use]
    pub fn for_tenant(&self, tenant: &Tenant) -> NodeFacts {
        let of = |name: &str| self.tenants.iter().find(|facts| facts.tenant.name() == name);
        let default = || of(Quotas::DEFAULT).filter(|_| *tenant != Tenant::operator());
        let Some(TenantFacts { quota, has, .. }) = of(tenant.name()).or_else(default) else { return self.clone() };
        let left = quota.cores.map_or(usize::MAX, |most| most.saturating_sub(has.cores) as usize);
        let left = if quota.runs.is_some_and(|most| has.runs >= most) { 0 } else { left };
        let busy = self.cores.iter().copied().filter(|core| self.busy.contains(core));
        let cores = busy.chain(self.free().take(left)).collect();
        NodeFacts { cores, ..self.clone() }
    }
}

/// An agent of a lab on a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentFacts {
    /// Whose it is.
    pub tenant: Tenant,
    /// The cores that it is pinned on.
    pub cores: Vec<u32>,
}

/// A waveform on a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the run.
    pub run: String,
    /// Whose it is.
    pub tenant: Tenant,
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
    /// Who watches over it. Its nodes and this one are its voters.
    pub manager: String,
    /// Number of the first stream between nodes; other numbers with every placing.
    pub first_stream: u32,
    /// What slots are timed by.
    #[serde(default, skip_serializing_if = "SlotClock::is_own")]
    pub slot_clock: SlotClock,
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
    /// Whose majorities it needs. The last is of the placing that it supports: that one, or one that was made ready.
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
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
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
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
    /// Where each node's samples go.
    pub samples: BTreeMap<String, SocketAddr>,
}

/// A run has begun, or is about to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Started {
    /// Begin of slot 0 on the reference's clock.
    pub epoch_ns: u64,
    /// The same in PTP's time, where slots are timed by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptp: Option<PtpEpoch>,
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
    /// What is known of it, and by whom.
    #[serde(default)]
    pub clock: ClockFacts,
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

/// Why a document between nodes can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    #[error("it speaks version {theirs} of the protocol, and this takt {PROTOCOL}")]
    Version { theirs: u32 },
    #[error("{bytes} bytes, and {MOST_BYTES} are the most")]
    Long { bytes: usize },
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Reads an answer or a heartbeat. The version first: what another one means by its body is not ours to say.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unread> {
    if bytes.len() > MOST_BYTES {
        return Err(Unread::Long { bytes: bytes.len() });
    }
    let Envelope::<IgnoredAny> { protocol: theirs, .. } = serde_json::from_slice(bytes)?;
    if theirs != PROTOCOL {
        return Err(Unread::Version { theirs });
    }
    Ok(serde_json::from_slice::<Envelope<T>>(bytes)?.body)
}

pub(crate) fn document(value: &impl Serialize) -> Vec<u8> {
    // Our own structs, whose maps have texts as keys: always JSON.
    serde_json::to_vec(value).unwrap_or_default()
}

pub(crate) fn text(value: &impl Serialize) -> String {
    // As above.
    serde_json::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_of_another_version_is_not_looked_at() {
        let read = |protocol: u32, body: &str| {
            read::<Moment>(format!("{{\"protocol\": {protocol}, \"body\": {body}}}").as_bytes())
        };
        let moment = r#"{"life": 1, "at_ns": 2}"#;
        assert_eq!(read(PROTOCOL, moment).unwrap(), Moment { life: 1, at_ns: 2 });
        for body in [moment, "[[7]]"] {
            assert!(matches!(read(PROTOCOL + 1, body), Err(Unread::Version { theirs }) if theirs == PROTOCOL + 1));
        }
        for body in ["[[7]]", r#"{"life": 1, "at_ns": 2, "more": 3}"#, r#"{"life": 1, "life": 1, "at_ns": 2}"#, "{"] {
            assert!(matches!(read(PROTOCOL, body), Err(Unread::Json(_))), "{body}");
        }
    }

    #[test]
    fn a_node_has_for_a_tenant_what_its_quota_leaves() {
        let text = r#"{"node": "a", "version": "1", "class": "x", "capacities": {}, "cores": [1, 2, 3, 4], "busy": [2],
            "bytes_per_s": 1.0, "clock": "10.0.0.1:7", "runs": [], "tenants": [
            {"tenant": "blue", "quota": {"cores": 3}, "has": {"cores": 1, "runs": 1}},
            {"tenant": "full", "quota": {"runs": 1}, "has": {"cores": 0, "runs": 1}},
            {"tenant": "default", "quota": {"cores": 1}, "has": {"cores": 0, "runs": 0}}]}"#;
        let node: NodeFacts = serde_json::from_str(text).unwrap();
        let free = |name: &str| node.for_tenant(&Tenant::named(name).unwrap()).free().collect::<Vec<_>>();
        assert_eq!(free("blue"), [1, 3]);
        assert_eq!(free("full"), Vec::<u32>::new());
        assert_eq!(free("red"), [1]);
        assert_eq!(node.for_tenant(&Tenant::operator()), node);
    }
}
