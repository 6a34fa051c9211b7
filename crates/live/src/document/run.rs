//! The beat of a waveform, its components, and the nodes of a cluster.

use serde::{Deserialize, Serialize};

/// The beat of a waveform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Slots {
    /// Slots that have ended.
    pub count: u64,
    /// Length of a slot, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_ns: Option<u64>,
    /// Slots that a component missed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses: Option<u64>,
    /// How late workers were released, as a histogram: bars from the smallest lateness up. Absent: nobody measures it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lateness: Vec<LatenessBar>,
    /// The last misses, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recent_misses: Vec<Miss>,
}

/// A bar of a histogram: releases with a lateness above the bar before and up to this. In JSON a pair: `[1000, 42]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct LatenessBar {
    /// Upper end, ns.
    pub upper_ns: u64,
    /// How many.
    pub count: u64,
}

impl From<(u64, u64)> for LatenessBar {
    fn from((upper_ns, count): (u64, u64)) -> LatenessBar {
        LatenessBar { upper_ns, count }
    }
}

impl From<LatenessBar> for (u64, u64) {
    fn from(bar: LatenessBar) -> (u64, u64) {
        (bar.upper_ns, bar.count)
    }
}

/// A slot that was missed, and what caused it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Miss {
    /// The slot.
    pub slot: u64,
    /// Component that was late or left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub component: Option<String>,
    /// Stage that took the time: `release`, `execution`, `before`; as the report of the run says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<String>,
    /// How late it was, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub late_ns: Option<u64>,
}

/// A component of a waveform.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Name in the waveform.
    pub name: String,
    /// Type, as in the waveform file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Core of its worker; absent: any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<u32>,
    /// Executions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executions: Option<u64>,
    /// Executions that ended too late, or were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub misses: Option<u64>,
    /// Share of a slot that its executions take in the mean, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_share: Option<f64>,
    /// Longest execution, ns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_ns: Option<u64>,
    /// Names of the components that it feeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edges: Vec<String>,
}

/// A node of a cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Name in the cluster.
    pub name: String,
    /// Whether it is heard.
    pub alive: bool,
    /// Waveforms of which it runs a part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waveforms: Vec<String>,
    /// Share of its cores' time that waveforms take, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
}
