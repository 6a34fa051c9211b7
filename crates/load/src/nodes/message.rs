//! Messages of the first node to the second, and its answers.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use takt_agent::Failure;
use takt_mapper::ClassSpec;

use crate::waveform::{WaveformOptions, WaveformOutcome};

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
    pub(super) options: WaveformOptions,
    /// Components of the first node; the second has the others.
    pub(super) first: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Start {
    /// Address of the first node's bridges.
    pub(super) samples: SocketAddr,
    /// Address at which its clock answers.
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
    pub(super) outcome: WaveformOutcome,
    pub(super) offset_ns: i64,
    pub(super) offset_bound_ns: u64,
}

/// Facts about a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFacts {
    /// Class of its core.
    pub class: String,
    /// Capacities of that core, where the mapper decided.
    pub spec: ClassSpec,
    /// The core that its worker is on.
    pub core: usize,
}
