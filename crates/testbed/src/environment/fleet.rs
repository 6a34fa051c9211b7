//! The environments `node:NAME`: nodes of a cluster, where agents are children of `takt node`.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use takt_agent::Agent;
use takt_cluster::manager::{Present, RemoteAgent};
use takt_cluster::{ClusterError, Manager};

use super::{Environment, EnvironmentError, EnvironmentFacts, Machine, Native, Nodes, RunningEnvironment, Shell};
use crate::net::PathEnd;

/// The nodes of a cluster.
pub struct Fleet {
    manager: Arc<Manager>,
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fleet").field("member", &self.manager.node()).finish_non_exhaustive()
    }
}

impl Fleet {
    /// Finds these nodes before anything is run.
    ///
    /// # Errors
    /// One is not there, or has another takt.
    pub fn find(manager: Manager, names: &[&str]) -> Result<Fleet, ClusterError> {
        let Present { nodes, .. } = manager.nodes_with(names)?;
        for &name in names {
            let node = nodes.iter().find(|node| node.node == name);
            let node = node.ok_or_else(|| ClusterError::Silent { node: name.to_owned() })?;
            let ours = env!("CARGO_PKG_VERSION");
            if node.version != ours {
                return Err(ClusterError::Refused {
                    node: name.to_owned(),
                    why: format!("takt has version {} there, but {ours} here", node.version),
                    fix: "run the same version of takt on all nodes".to_owned(),
                });
            }
        }
        Ok(Fleet { manager: Arc::new(manager) })
    }
}

impl Nodes for Fleet {
    fn environment(
        &self,
        node: &str,
        cores: Option<u32>,
        native: Native,
    ) -> Result<Box<dyn Environment>, EnvironmentError> {
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
    fn borrow(&self, cores: Option<u32>) -> Result<(Agent, Machine), EnvironmentError> {
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
    fn start_radio(&self, _: Option<&Path>, _: &[usize]) -> Result<Agent, EnvironmentError> {
        self.borrow(Some(1)).map(|(agent, _)| agent)
    }

    fn start(&self, _: Option<&PathEnd>, _: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
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
