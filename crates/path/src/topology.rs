//! A path as data: what a report draws and a record keeps.

use serde::{Deserialize, Serialize};

/// Nodes from the host to the radio, and the cables between neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Topology {
    pub name: String,
    pub nodes: Vec<Node>,
    /// Cable k lies between node k and node k + 1.
    pub links: Vec<Link>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub name: String,
    pub kind: NodeKind,
    /// Facts that a reader must know: `NAT`, `25 % of a core`.
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NodeKind {
    /// The host, or the radio.
    End,
    /// A bridge of the kernel.
    Switch,
    /// The kernel forwards.
    Router,
    /// A process of takt passes frames on.
    Hop,
}

/// A veth pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The end nearer to the host, then the other.
    pub ends: [LinkEnd; 2],
    /// Its limit, bits a second on the wire.
    pub rate_bps: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkEnd {
    /// The interface: `host0`.
    pub interface: String,
    /// Its address with the network's prefix; `None`: it has none.
    pub address: Option<String>,
}
