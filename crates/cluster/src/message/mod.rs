//! Messages between nodes and managers: one JSON document a request, one its answer. A request that changes anything is
//! an order, and travels signed ([`crate::seal`]).

mod agent;
mod node;
mod run;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

pub use self::agent::{AGENT_LEASE, AgentOutput, AgentStarted, MOST_AGENT_BYTES, StartAgent, WriteAgent};
pub use self::node::{AgentFacts, EngineFacts, NodeFacts, RadioFacts, RunFacts, TenantFacts};
pub use self::run::{Adopt, Adopted, Change, End, Opened, Order, Progress, Recalled, Start, Started, WorkerOrder};
use crate::quorum::Ballot;
/// Answer of a node; the control socket of one machine's waveform answers alike.
pub use takt_runtime::control::RequestAnswer;

/// Version of the protocol. Another one is refused by name.
pub const PROTOCOL: u32 = 3;

/// Bytes of an answer at most; of a message to a node less ([`crate::gate::MOST_BYTES`]), and of a heartbeat 1 MiB.
pub const MOST_BYTES: usize = 16 << 20;

/// A request or an answer, with the version that it is written in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope<T> {
    /// [`PROTOCOL`] of who wrote it.
    pub protocol: u32,
    /// The request or the answer; not read where the version is another one.
    pub body: T,
}

/// Requests to a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "snake_case", deny_unknown_fields)]
pub enum Request {
    /// Tell facts and offers: [`NodeFacts`].
    Describe,
    /// Tell the moment for which an order that is given now has to be signed: [`Moment`].
    Moment,
    /// Make ready its part of a waveform: [`Opened`].
    Open(Box<Order>),
    /// Begin to execute it.
    Start(Start),
    /// Make ready another placing of a waveform that runs, under the same name: [`Opened`].
    Prepare {
        /// The placing that the node supports until now; refused if it is another one.
        after: Ballot,
        /// Order of the next placing.
        order: Box<Order>,
    },
    /// Go over to it.
    Change(Change),
    /// How a run is, and once it has ended what became of it: [`Progress`].
    Progress {
        /// Which.
        run: String,
    },
    /// Tell a manager what it needs to know of a run to watch over it: [`Recalled`].
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
    /// Names of orders.
    pub(crate) const ORDERS: [&str; 9] =
        ["open", "start", "prepare", "change", "recall", "adopt", "stop", "start_agent", "write_agent"];

    /// Whether it changes nothing, and any member may ask it; all else is an order.
    #[must_use]
    pub fn is_question(&self) -> bool {
        matches!(self, Request::Describe | Request::Moment | Request::Progress { .. })
    }

    /// Its name in messages, as in `ask`.
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

/// A moment in the life of a node: what an order has to be signed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Moment {
    /// A number that the node drew when it started.
    pub life: u64,
    /// By its monotonic clock.
    pub at_ns: u64,
}

/// Why a document between nodes can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    #[error("it speaks version {theirs} of the protocol; this takt speaks version {PROTOCOL}")]
    Version { theirs: u32 },
    #[error("it has {bytes} bytes; at most {most} are allowed")]
    Long { bytes: usize, most: usize },
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// Reads an answer.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Unread> {
    read_within(MOST_BYTES, bytes)
}

/// Reads what may have so many bytes. The version first: what another one means by its body is not ours to say.
pub(crate) fn read_within<T: DeserializeOwned>(most: usize, bytes: &[u8]) -> Result<T, Unread> {
    if bytes.len() > most {
        return Err(Unread::Long { bytes: bytes.len(), most });
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
    fn what_is_longer_than_it_may_be_is_not_read() {
        let moment = Moment { life: 1, at_ns: 2 };
        let bytes = document(&Envelope { protocol: PROTOCOL, body: moment });
        assert_eq!(read_within::<Moment>(bytes.len(), &bytes).unwrap(), moment);
        let most = bytes.len() - 1;
        assert!(matches!(read_within::<Moment>(most, &bytes), Err(Unread::Long { .. })));
    }
}
