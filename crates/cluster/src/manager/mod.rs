//! Places waveforms on nodes and watches over them. A manager keeps nothing that the nodes do not know as well.

mod adopt;
mod agent;
mod each;
mod ending;
mod placer;
mod platform;
mod run;
mod slow;
mod takeover;

use std::sync::Arc;
use std::time::Duration;

pub use adopt::Orphan;
pub use agent::{AgentEnd, FromAgent, RemoteAgent, ToAgent};
use each::each;
pub use placer::{PlaceError, Placed, Placer, Replaced};
pub use platform::platform;
pub use run::{Ended, NodeEnd, OnLoss, RunOptions, Watch};
pub(crate) use run::{LOOK, lead};
pub use takeover::Loss;

use crate::ClusterError;
use crate::control::Control;
use crate::folder::Folder;
use crate::message::{NodeFacts, Request};

/// How long a node may take for an answer that needs no work.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long it may take to say what it is.
const WORD: Duration = Duration::from_secs(1);

/// How often nodes are looked for before the cluster is taken to be empty, and how long after each time.
const LOOKING: u32 = 6;
const BETWEEN: Duration = Duration::from_millis(500);

/// One who asks nodes.
pub struct Manager {
    pub(crate) control: Arc<Control>,
}

impl Manager {
    /// Joins the cluster of a folder.
    ///
    /// # Errors
    /// The folder is not complete, or Zenoh refuses.
    pub fn open(folder: &Folder) -> Result<Manager, ClusterError> {
        Ok(Manager { control: Arc::new(Control::open(folder, false)?) })
    }

    /// The node whose folder it was opened with.
    #[must_use]
    pub fn node(&self) -> &str {
        self.control.node()
    }

    /// All nodes that answer, by name. Nodes are found one after another, so it asks until twice the same ones answer.
    ///
    /// # Errors
    /// None does.
    pub fn nodes(&self) -> Result<Vec<NodeFacts>, ClusterError> {
        let mut before = Vec::new();
        for _ in 0..LOOKING {
            let names = self.control.present()?;
            if !names.is_empty() && names == before {
                return self.describe(&names);
            }
            before = names;
            std::thread::sleep(BETWEEN);
        }
        Err(ClusterError::Alone { cluster: self.control.cluster().to_owned() })
    }

    /// The same; where one of `names` is not among them it looks for a while longer.
    ///
    /// # Errors
    /// As [`Manager::nodes`].
    pub fn nodes_with(&self, names: &[&str]) -> Result<Vec<NodeFacts>, ClusterError> {
        let mut found = self.nodes()?;
        for _ in 0..LOOKING {
            if names.iter().all(|name| found.iter().any(|node| node.node == *name)) {
                break;
            }
            std::thread::sleep(BETWEEN);
            found = self.nodes()?;
        }
        Ok(found)
    }

    /// Nodes as far as this manager's tenant may have them: what its quotas leave. Where they leave nothing anywhere the nodes
    /// are as they are: the node itself answers what the quota is.
    ///
    /// # Errors
    /// None is there, or all cores have a worker.
    pub fn own_share(&self, nodes: Vec<NodeFacts>) -> Result<Vec<NodeFacts>, ClusterError> {
        if nodes.is_empty() {
            return Err(ClusterError::Alone { cluster: self.control.cluster().to_owned() });
        }
        let has_free = |node: &NodeFacts| node.free().next().is_some();
        if !nodes.iter().any(has_free) {
            return Err(ClusterError::Full { cluster: self.control.cluster().to_owned() });
        }
        let own: Vec<NodeFacts> = nodes.iter().map(|node| node.for_tenant(self.control.tenant())).collect();
        Ok(if own.iter().any(has_free) { own } else { nodes })
    }

    /// What nodes say of themselves. One that was just lost is seen for a while, and says nothing: it is left out.
    fn describe(&self, names: &[String]) -> Result<Vec<NodeFacts>, ClusterError> {
        let mut all = Vec::new();
        for (_, facts) in each(names, |name| self.control.ask(name, &Request::Describe, WORD)) {
            match facts {
                Ok(facts) => all.push(facts),
                Err(ClusterError::Silent { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(all)
    }
}
