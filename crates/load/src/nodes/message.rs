//! What the first node says to the second, and what it is answered.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use takt_agent::Failure;
use takt_mapper::ClassSpec;

use crate::waveform::{Options, Outcome};

/// Raised when a line changes its meaning.
pub(super) const PROTOCOL: u32 = 1;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Request {
    /// Who are you, and, where that is wanted, what can you do? It takes two seconds to find out.
    Facts { protocol: u32, capacities: bool },
    /// Make your share ready.
    Open(Order),
    /// Begin.
    Start(Start),
    /// Reply when you have ended; `now`: at the next slot edge.
    End { now: bool },
}

/// The whole waveform, and how it is shared out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Order {
    pub(super) options: Options,
    /// Components of the first node; the second has the others.
    pub(super) first: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Start {
    /// Where the bridges of the first node are.
    pub(super) samples: SocketAddr,
    /// Where its clock answers.
    pub(super) clock: SocketAddr,
    /// Slot 0 begins at this instant of that clock.
    pub(super) epoch_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "reply", rename_all = "snake_case")]
pub(super) enum Reply {
    Facts(Box<NodeFacts>),
    Opened {
        samples: SocketAddr,
    },
    /// `late_ns`: since slot 0 has begun; 0 before it.
    Started {
        late_ns: u64,
    },
    Ended(Box<Ended>),
    Failed(Failure),
}

/// A node's half of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) offset_ns: i64,
    pub(super) offset_bound_ns: u64,
}

/// What a node is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Class of its core.
    pub class: String,
    /// What that core can do, where the mapper decided.
    pub spec: ClassSpec,
    /// The core that its worker is on.
    pub core: usize,
}
