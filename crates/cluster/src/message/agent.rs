//! An agent of the lab on a node: how it is started, and what it and its lab write to each other.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_host::fingerprint::Fingerprint;

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

/// Input from the lab for an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteAgent {
    /// Which.
    pub agent: u64,
    /// Bytes for it, base64, [`MOST_AGENT_BYTES`] at most; they may be none: then it is a sign of life, and a wish for output.
    pub input: String,
    /// That was all: the agent is to end.
    pub end: bool,
}

/// Output of an agent for the lab.
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
