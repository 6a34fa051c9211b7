//! Places for the components of a waveform: on the nodes that are there, and on those that are left.

use takt_graph::Graph;
use takt_mapper::{Costs, Mapping, Objective, Platform, map};
use takt_runtime::Registry;
use takt_runtime::planning::{CostsChoice, PlanningError, costs};

use super::platform;
use crate::message::{NodeFacts, Order, WorkerOrder};

/// A node can't be a spare one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no node of that name has a free core")]
pub struct NoSpare {
    /// The node.
    pub node: String,
    /// Nodes with a free core.
    pub have: Vec<String>,
}

/// Places of a waveform's components.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// A worker for each core that is used, and for those that wait.
    pub workers: Vec<WorkerOrder>,
    /// Time that the busiest core or link needs of a slot, ns, as far as is known.
    pub needs_ns: u64,
}

/// New places of an order's components when some of its nodes are left.
#[derive(Clone, Debug, PartialEq)]
pub struct Replaced {
    /// Its workers on them, in order, with all components.
    pub workers: Vec<WorkerOrder>,
    /// Whether they have the time for it, as far as is known.
    pub fits: bool,
}

/// Facts that the mapper needs to place a waveform on nodes, and to place it again when one is lost.
pub struct Placer<'a> {
    graph: &'a Graph,
    nodes: &'a [NodeFacts],
    costs: Costs,
    objective: Objective,
    hop_slots: u32,
    spares: Vec<String>,
}

impl<'a> Placer<'a> {
    /// For a waveform on these nodes; components of which `kept` says nothing are measured here.
    ///
    /// # Errors
    /// No core is free; a component can't be measured.
    pub fn new(
        graph: &'a Graph,
        registry: &Registry,
        nodes: &'a [NodeFacts],
        kept: Option<Costs>,
        objective: Objective,
        hop_slots: u32,
    ) -> Result<Placer<'a>, PlanningError> {
        let platform = platform("cluster", nodes, hop_slots)?;
        let costs = costs(graph, registry, &platform, CostsChoice { kept, for_elsewhere: false })?;
        Ok(Placer { graph, nodes, costs, objective, hop_slots, spares: Vec::new() })
    }

    /// Nodes that execute nothing until another one is lost or too slow. All their free cores wait.
    ///
    /// # Errors
    /// One of them has no free core.
    pub fn with_spares(self, spares: &[String]) -> Result<Placer<'a>, NoSpare> {
        let free: Vec<&String> =
            self.nodes.iter().filter(|node| node.free().next().is_some()).map(|node| &node.node).collect();
        match spares.iter().find(|spare| !free.contains(spare)) {
            Some(lacks) => Err(NoSpare { node: lacks.clone(), have: free.into_iter().cloned().collect() }),
            None => Ok(Placer { spares: spares.to_vec(), ..self }),
        }
    }

    /// A worker on each core that the mapper chose, and on each of the spare nodes, which have nothing to do.
    ///
    /// # Errors
    /// Nothing fits.
    pub fn place(&self) -> Result<Placed, PlanningError> {
        let is_spare = |node: &&NodeFacts| self.spares.contains(&node.node);
        let (spares, used): (Vec<&NodeFacts>, Vec<&NodeFacts>) = self.nodes.iter().partition(is_spare);
        let used: Vec<NodeFacts> = used.into_iter().cloned().collect();
        let platform = platform("cluster", &used, self.hop_slots)?;
        let found = map(self.graph, &self.costs, &platform, &self.objective)?;
        let waits = |node: &NodeFacts, cpu| WorkerOrder { node: node.node.clone(), cpu, components: Vec::new() };
        let waiting = spares.into_iter().flat_map(|node| node.free().map(move |cpu| waits(node, cpu)));
        let workers = self.workers(&platform, &found).into_iter().chain(waiting).collect();
        Ok(Placed { workers, needs_ns: found.period_ns })
    }

    /// All components of an order on the workers of the nodes that are left. Those that were there stay on their node.
    ///
    /// # Errors
    /// They don't fit there.
    pub fn replace(&self, order: &Order, left: &[String]) -> Result<Replaced, PlanningError> {
        let workers: Vec<&WorkerOrder> = order.workers.iter().filter(|worker| left.contains(&worker.node)).collect();
        let cores = |node: &NodeFacts| {
            workers.iter().filter(|worker| worker.node == node.node).map(|worker| worker.cpu).collect::<Vec<u32>>()
        };
        let nodes: Vec<NodeFacts> = self
            .nodes
            .iter()
            .filter(|node| left.contains(&node.node))
            .map(|node| NodeFacts { cores: cores(node), busy: Vec::new(), ..node.clone() })
            .collect();
        let platform = platform("cluster", &nodes, self.hop_slots)?;
        let stays = |worker: &&WorkerOrder| {
            worker.components.iter().map(|name| (name.clone(), worker.node.clone())).collect::<Vec<_>>()
        };
        let pins = workers.iter().flat_map(stays).collect();
        let objective = Objective { pins, ..self.objective.clone() };
        let found = map(self.graph, &self.costs, &platform, &objective)?;
        let placed = self.workers(&platform, &found);
        let same = |worker: &&WorkerOrder| {
            let own = placed.iter().find(|other| (&other.node, other.cpu) == (&worker.node, worker.cpu));
            let components = own.map(|own| own.components.clone()).unwrap_or_default();
            WorkerOrder { components, ..(*worker).clone() }
        };
        let workers = workers.iter().map(same).collect();
        Ok(Replaced { workers, fits: found.period_ns <= self.graph.slot_ns() })
    }

    fn workers(&self, platform: &Platform, found: &Mapping) -> Vec<WorkerOrder> {
        let worker = |(components, &core): (&Vec<usize>, &usize)| {
            let core = &platform.cores()[core];
            let name = |&component: &usize| self.graph.components()[component].name.clone();
            WorkerOrder {
                node: platform.nodes()[core.node].name.clone(),
                cpu: core.cpu,
                components: components.iter().map(name).collect(),
            }
        };
        found.plan.workers().iter().zip(&found.cores).map(worker).collect()
    }
}
