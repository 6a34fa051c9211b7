//! Errors between nodes.

use std::path::PathBuf;

use takt_packet::EngineError;

use crate::tenant::Tenant;

/// Why something between nodes was not done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum ClusterError {
    /// A file of the cluster's folder can't be read or written.
    #[error("takt can't read or write {path}")]
    File { path: PathBuf, source: std::io::Error },
    /// `cluster.toml` is not as it should be.
    #[error("{path}: {why}")]
    Settings { path: PathBuf, why: String, fix: String },
    #[error("{path} exists already")]
    Exists { path: PathBuf },
    #[error("takt can't make certificates")]
    Certificate { source: rcgen::Error },
    #[error("`{name}` can't be the name of a node or a cluster")]
    Name { name: String },
    /// Zenoh did not open a session, or lost it.
    #[error("Zenoh failed: {why}")]
    Zenoh { why: String },
    #[error("node `{node}` does not answer")]
    Silent { node: String },
    #[error("node `{node}` has not opened the run within {within_s} s")]
    Unopened { node: String, within_s: u64 },
    #[error("another node is called `{node}`")]
    Twice { node: String },
    #[error("{path} belongs to tenant `{tenant}`, who may give orders but can't be a node")]
    TenantsFolder { path: PathBuf, tenant: Tenant },
    #[error("no node answers in cluster `{cluster}`")]
    Alone { cluster: String },
    #[error("no core is free on any node of cluster `{cluster}`")]
    Full { cluster: String },
    /// A node refused.
    #[error("node `{node}`: {why}")]
    Refused { node: String, why: String, fix: String },
    #[error("node `{node}` speaks version {theirs} of the protocol; this takt speaks version {ours}")]
    Version { node: String, theirs: u32, ours: u32 },
    #[error("node `{node}` was lost: {what}")]
    Lost { node: String, what: String },
    /// Not because its lab ended it.
    #[error("the agent on node `{node}` ended: {how}")]
    AgentEnded { node: String, how: String },
    #[error("node `{node}` no longer answers: it and its agent are gone or cut off")]
    AgentLost { node: String },
    #[error("takt can't place the work of node `{node}` on the other nodes: {why}")]
    Unplaced { node: String, why: String },
    #[error("{manager} watches over run `{run}`")]
    Watched { run: String, manager: String },
    #[error("no node executes a run `{run}`")]
    NoRun { run: String },
    #[error("more than half of the {voters} voters of run `{run}` must answer; these do not: {}", lost.join(", "))]
    TooFew { run: String, lost: Vec<String>, voters: usize },
    #[error("takt can't open the packet engine of the bridges")]
    Engine { source: EngineError },
    #[error("the node can't start a thread or open a socket")]
    Io { source: std::io::Error },
}

impl ClusterError {
    /// The fix; `None` where nothing is known.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        Some(match self {
            ClusterError::File { .. } => {
                "give --folder a node's folder, as takt node certificates makes them".to_owned()
            }
            ClusterError::Settings { fix, .. } | ClusterError::Refused { fix, .. } => fix.clone(),
            ClusterError::Exists { .. } => "give another name, or remove the existing one".to_owned(),
            ClusterError::Name { .. } => "give 1 to 64 letters, digits, `-` or `_`".to_owned(),
            ClusterError::Silent { .. } | ClusterError::Alone { .. } => {
                "start takt node on each machine, with a folder of the same certificates; takt node list shows the \
                 nodes that answer"
                    .to_owned()
            }
            ClusterError::Unopened { .. } => {
                "see whether takt node list shows it; components that take this long to make can't run on a cluster"
                    .to_owned()
            }
            ClusterError::Twice { .. } => "give each node a folder of its own".to_owned(),
            ClusterError::Full { .. } => "stop a run; takt node list says whose runs they are".to_owned(),
            ClusterError::TenantsFolder { .. } => {
                "give a folder that takt node certificates made without --tenant; use this one with takt run --cluster"
                    .to_owned()
            }
            ClusterError::Version { .. } => "run the same version of takt on all nodes".to_owned(),
            ClusterError::Watched { .. } => "let that manager continue, or end it first".to_owned(),
            ClusterError::TooFew { .. } => {
                "bring nodes of the run back within a lease; otherwise the run ends".to_owned()
            }
            ClusterError::NoRun { .. }
            | ClusterError::Lost { .. }
            | ClusterError::AgentEnded { .. }
            | ClusterError::AgentLost { .. }
            | ClusterError::Unplaced { .. } => "see with takt node list which nodes answer".to_owned(),
            ClusterError::Zenoh { .. } => {
                "give addresses of this machine in `listen`, and reachable ones in `connect`".to_owned()
            }
            ClusterError::Io { .. } => {
                "end other threads and sockets on this node, or raise the limits: ulimit -u, ulimit -n".to_owned()
            }
            ClusterError::Certificate { .. } | ClusterError::Engine { .. } => return None,
        })
    }

    /// Whether it says why that node can't be used.
    #[cfg(feature = "zenoh")]
    pub(crate) fn is_of(&self, name: &str) -> bool {
        matches!(self, ClusterError::Version { node, .. } | ClusterError::Refused { node, .. } if node == name)
    }

    #[cfg(feature = "zenoh")]
    pub(crate) fn zenoh(why: impl std::fmt::Display) -> ClusterError {
        ClusterError::Zenoh { why: why.to_string() }
    }
}
