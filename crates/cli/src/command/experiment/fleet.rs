//! `takt experiment run --cluster`: environments on the nodes of a cluster.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::Result;
use takt_agent::Agent;
use takt_cluster::manager::{Present, RemoteAgent};
use takt_cluster::{ClusterError, Manager};
use takt_lab::experiment::Point;
use takt_testbed::environment::{
    Environment, EnvironmentError, EnvironmentFacts, Machine, Native, Nodes, RunningEnvironment, Shell, node_of,
};
use takt_testbed::net::PathEnd;

use crate::command::node;

/// Sections of the help.
pub const EXAMPLES: &str =
    "  takt experiment run fleet.toml --cluster cluster/a   in the environments native and node:a\n";

#[derive(Debug, clap::Args)]
pub struct OnNodes {
    /// Cluster with the environments node:NAME. DIR is a folder from `takt node certificates`.
    #[arg(long = "cluster", value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Connection to the nodes that these points name; `None`: they name none, or there is no cluster, which is for the lab
/// to refuse.
///
/// # Errors
/// The folder is none; a node is not there, or has another takt.
pub fn open(flags: &OnNodes, points: &[Point]) -> Result<Option<Arc<dyn Nodes>>> {
    let mut names: Vec<&str> = points.iter().filter_map(|point| node_of(point.settings.word("environment"))).collect();
    names.sort_unstable();
    names.dedup();
    let Some(folder) = flags.folder.as_deref().filter(|_| !names.is_empty()) else { return Ok(None) };
    let fleet = Fleet { manager: Arc::new(node::manager(folder)?) };
    fleet.find(&names).map_err(|error| node::problem("measure on the cluster", error))?;
    Ok(Some(Arc::new(fleet)))
}

/// The nodes of a cluster.
struct Fleet {
    manager: Arc<Manager>,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").field("member", &self.manager.node()).finish_non_exhaustive()
    }
}

impl Fleet {
    /// Whether all of these are there and have this takt, before anything is run.
    fn find(&self, names: &[&str]) -> std::result::Result<(), ClusterError> {
        let Present { nodes, .. } = self.manager.nodes_with(names)?;
        for &name in names {
            let node = nodes.iter().find(|node| node.node == name);
            let node = node.ok_or_else(|| ClusterError::Silent { node: name.to_owned() })?;
            let ours = env!("CARGO_PKG_VERSION");
            if node.version != ours {
                return Err(ClusterError::Refused {
                    node: name.to_owned(),
                    why: format!("takt is {} there, and {ours} here", node.version),
                    fix: "the same takt on all nodes".to_owned(),
                });
            }
        }
        Ok(())
    }
}

impl Nodes for Fleet {
    fn environment(
        &self,
        node: &str,
        cores: Option<u32>,
        native: Native,
    ) -> std::result::Result<Box<dyn Environment>, EnvironmentError> {
        let (name, node) = (format!("node:{node}"), node.to_owned());
        Ok(Box::new(OnNode { name, node, cores, native, manager: Arc::clone(&self.manager) }))
    }
}

/// The environment `node:NAME`: agents are children of `takt node` on another machine.
struct OnNode {
    name: String,
    node: String,
    cores: Option<u32>,
    native: Native,
    manager: Arc<Manager>,
}

impl OnNode {
    /// An agent on so many cores of the node, and what the node says of itself.
    fn borrow(&self, cores: Option<u32>) -> std::result::Result<(Agent, Machine), EnvironmentError> {
        let refused = |error: ClusterError| EnvironmentError::Node { why: error.to_string(), fix: error.fix() };
        let RemoteAgent { started, to, from, end } = self.manager.start_agent(&self.node, cores).map_err(refused)?;
        let agent = Agent::over(to, from)?;
        let pid = agent.hello().pid;
        let cores = agent.hello().cpus.clone();
        let machine = Machine { node: self.node.clone(), cores, fingerprint: started.machine };
        Ok((agent.in_environment(pid, end), machine))
    }
}

impl Environment for OnNode {
    fn name(&self) -> &str {
        &self.name
    }

    fn outside(&self) -> &Native {
        &self.native
    }

    fn is_elsewhere(&self) -> bool {
        true
    }

    /// On a core of its own beside the host side's.
    fn start_radio(&self, _: Option<&Path>, _: &[usize]) -> std::result::Result<Agent, EnvironmentError> {
        self.borrow(Some(1)).map(|(agent, _)| agent)
    }

    fn start(&self, _: Option<&PathEnd>, _: &[usize]) -> std::result::Result<RunningEnvironment, EnvironmentError> {
        let (agent, machine) = self.borrow(self.cores)?;
        let hello = agent.hello();
        let holder = EnvironmentFacts {
            environment: self.name.clone(),
            kernel: hello.kernel.clone(),
            kernel_facts: Some(hello.kernel_facts.clone()),
            runtime: Some(format!("takt {}", hello.version)),
            processor: machine.fingerprint.cpu_model.clone(),
            cpus: Some(machine.cores.len() as f64),
            machine: Some(machine),
            ..EnvironmentFacts::default()
        };
        Ok(RunningEnvironment { agent, holder, shell: Shell::None })
    }
}
