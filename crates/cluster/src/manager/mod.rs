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
mod watched;

use std::sync::Arc;
use std::time::Duration;

pub use adopt::Orphan;
pub use agent::{AgentEnd, FromAgent, RemoteAgent, ToAgent};
use each::each;
pub use placer::{NoSpare, Placed, Placer, Replaced};
pub use platform::platform;
pub(crate) use run::LOOK;
pub use run::{Ended, NodeEnd, OnLoss, RunOptions, Watch};
pub use watched::Loss;
pub(crate) use watched::lead;

use crate::ClusterError;
use crate::control::Control;
use crate::folder::Folder;
use crate::message::{NodeFacts, Request};
use crate::seal::number;

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
    /// End of its own name and those of its runs.
    drawn: String,
}

/// The nodes that are there.
pub struct Present {
    /// Facts of each about itself, by name.
    pub nodes: Vec<NodeFacts>,
    /// Why others that are there can't be used: one speaks another version, or refuses to say what it is.
    pub left_out: Vec<ClusterError>,
}

impl Manager {
    /// Joins the cluster of a folder.
    ///
    /// # Errors
    /// The folder is not complete, or Zenoh refuses.
    pub fn open(folder: &Folder) -> Result<Manager, ClusterError> {
        let drawn = drawn().map_err(|source| ClusterError::Certificate { source })?;
        Ok(Manager { control: Arc::new(Control::open(folder, false)?), drawn })
    }

    /// The node whose folder it was opened with.
    #[must_use]
    pub fn node(&self) -> &str {
        self.control.node()
    }

    /// All nodes that answer, by name. Nodes are found one after another, so it asks until twice the same ones answer.
    ///
    /// # Errors
    /// None does, or none that can be used.
    pub fn nodes(&self) -> Result<Present, ClusterError> {
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
    /// As [`Manager::nodes`], or one of `names` can't be used.
    pub fn nodes_with(&self, names: &[&str]) -> Result<Present, ClusterError> {
        let mut found = self.nodes()?;
        for _ in 0..LOOKING {
            let is_known = |name: &&str| {
                found.nodes.iter().any(|node| node.node == **name) || found.left_out.iter().any(|why| why.is_of(name))
            };
            if names.iter().all(is_known) {
                break;
            }
            std::thread::sleep(BETWEEN);
            found = self.nodes()?;
        }
        match found.left_out.iter().position(|why| names.iter().any(|name| why.is_of(name))) {
            Some(at) => Err(found.left_out.swap_remove(at)),
            None => Ok(found),
        }
    }

    /// Nodes as far as this manager's tenant may have them: what its quotas leave. If they leave nothing anywhere the
    /// nodes are as they are: the node itself answers what the quota is.
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

    fn describe(&self, names: &[String]) -> Result<Present, ClusterError> {
        sorted(each(names, |name| self.control.ask(name, &Request::Describe, WORD)))
    }
}

/// Facts of nodes about themselves, by name. One that was just lost is seen for a while, and says nothing: it is left
/// out. One that can't be used, as while a fleet gets another takt machine by machine, keeps nobody from using the
/// others.
fn sorted(answers: Vec<(String, Result<NodeFacts, ClusterError>)>) -> Result<Present, ClusterError> {
    let mut present = Present { nodes: Vec::new(), left_out: Vec::new() };
    for (_, facts) in answers {
        match facts {
            Ok(facts) => present.nodes.push(facts),
            Err(ClusterError::Silent { .. }) => {}
            Err(error @ (ClusterError::Version { .. } | ClusterError::Refused { .. })) => present.left_out.push(error),
            Err(error) => return Err(error),
        }
    }
    match present.left_out.pop() {
        Some(why) if present.nodes.is_empty() => Err(why),
        why => {
            present.left_out.extend(why);
            Ok(present)
        }
    }
}

/// Five letters and digits that another manager has drawn once in 60 million times.
fn drawn() -> Result<String, rcgen::Error> {
    let number = number()?;
    let letter = |place: u32| char::from_digit((number / 36_u64.pow(place) % 36) as u32, 36).unwrap_or('0');
    Ok((0..5).map(letter).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_version(node: &str) -> (String, Result<NodeFacts, ClusterError>) {
        (node.to_owned(), Err(ClusterError::Version { node: node.to_owned(), theirs: 1, ours: 2 }))
    }

    fn facts(node: &str) -> (String, Result<NodeFacts, ClusterError>) {
        let facts = serde_json::json!({
            "node": node, "version": "1", "class": "x", "capacities": { "capacities": { "mac_per_s": 3e9 } },
            "cores": [], "busy": [], "bytes_per_s": 1e9, "clock": "127.0.0.1:1", "runs": [], "tenants": [], "agents": [],
            "engines": [], "radios": [],
        });
        (node.to_owned(), Ok(serde_json::from_value(facts).unwrap()))
    }

    #[test]
    fn a_node_of_another_version_keeps_nobody_from_the_others() {
        let silent = ("c".to_owned(), Err(ClusterError::Silent { node: "c".to_owned() }));
        let present = sorted(vec![other_version("a"), facts("b"), silent]).unwrap();
        assert_eq!(present.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), ["b"]);
        assert!(present.left_out.iter().all(|why| why.is_of("a")) && present.left_out.len() == 1);
        assert!(sorted(vec![other_version("a")]).is_err_and(|why| why.is_of("a")), "nobody else is there");
        assert!(sorted(Vec::new()).unwrap().nodes.is_empty());
    }

    #[test]
    fn two_managers_draw_two_names() {
        let drawn = [drawn().unwrap(), drawn().unwrap()];
        assert_ne!(drawn[0], drawn[1]);
        assert!(drawn.iter().all(|name| name.len() == 5 && takt_graph::limits::is_name(name)));
    }
}
