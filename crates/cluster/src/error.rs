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
    #[error("{path}")]
    File { path: PathBuf, source: std::io::Error },
    /// `cluster.toml` is not as it should be.
    #[error("{path}: {why}")]
    Settings { path: PathBuf, why: String, fix: String },
    #[error("{path} is there already")]
    Exists { path: PathBuf },
    #[error("certificates")]
    Certificate { source: rcgen::Error },
    #[error("`{name}` is no name for a node or a cluster")]
    Name { name: String },
    /// Zenoh did not open a session, or lost it.
    #[error("Zenoh: {why}")]
    Zenoh { why: String },
    #[error("node `{node}` does not answer")]
    Silent { node: String },
    #[error("node `{node}` has not opened the run within {within_s} s")]
    Unopened { node: String, within_s: u64 },
    #[error("another node is called `{node}`")]
    Twice { node: String },
    #[error("{path} is of tenant `{tenant}`, who gives orders and is no node")]
    TenantsFolder { path: PathBuf, tenant: Tenant },
    #[error("no node answers in cluster `{cluster}`")]
    Alone { cluster: String },
    #[error("no core is free on any node of cluster `{cluster}`")]
    Full { cluster: String },
    /// A node refused.
    #[error("node `{node}`: {why}")]
    Refused { node: String, why: String, fix: String },
    #[error("node `{node}` speaks version {theirs} of the protocol, and this takt {ours}")]
    Version { node: String, theirs: u32, ours: u32 },
    #[error("node `{node}` was lost: {what}")]
    Lost { node: String, what: String },
    /// Not because its lab ended it.
    #[error("the agent on node `{node}` ended: {how}")]
    AgentEnded { node: String, how: String },
    #[error("node `{node}` does not answer any more: it is gone or cut off, and its agent with it")]
    AgentLost { node: String },
    #[error("what node `{node}` did can't be placed on the others: {why}")]
    Unplaced { node: String, why: String },
    #[error("{manager} watches over run `{run}`")]
    Watched { run: String, manager: String },
    #[error("no node executes a run `{run}`")]
    NoRun { run: String },
    #[error("of {voters} voters of run `{run}` more than half must answer, and some do not: {}", lost.join(", "))]
    TooFew { run: String, lost: Vec<String>, voters: usize },
    #[error("the engine of the bridges")]
    Engine { source: EngineError },
    #[error("a thread or socket of the node")]
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
            ClusterError::Exists { .. } => "another name, or remove what is there".to_owned(),
            ClusterError::Name { .. } => "1 to 64 letters, digits, `-`, `_`".to_owned(),
            ClusterError::Silent { .. } | ClusterError::Alone { .. } => {
                "start takt node on each machine, with a folder of the same certificates; takt node list shows the \
                 nodes that answer"
                    .to_owned()
            }
            ClusterError::Unopened { .. } => {
                "takt node list says whether it answers; components that take so long to be made can't run on a cluster"
                    .to_owned()
            }
            ClusterError::Twice { .. } => "give each node a folder of its own".to_owned(),
            ClusterError::Full { .. } => "stop a run; takt node list says whose they are".to_owned(),
            ClusterError::TenantsFolder { .. } => {
                "a folder of takt node certificates without --tenant; with this one: takt run --cluster".to_owned()
            }
            ClusterError::Version { .. } => "run the same version of takt on all nodes".to_owned(),
            ClusterError::Watched { .. } => "let that manager go on, or end it first".to_owned(),
            ClusterError::TooFew { .. } => {
                "bring nodes of the run back within a lease; else it ends by itself".to_owned()
            }
            ClusterError::NoRun { .. }
            | ClusterError::Lost { .. }
            | ClusterError::AgentEnded { .. }
            | ClusterError::AgentLost { .. }
            | ClusterError::Unplaced { .. } => "takt node list says who is there".to_owned(),
            ClusterError::Zenoh { .. } => {
                "addresses of this machine in `listen`, and reachable ones in `connect`".to_owned()
            }
            ClusterError::Certificate { .. } | ClusterError::Engine { .. } | ClusterError::Io { .. } => return None,
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
