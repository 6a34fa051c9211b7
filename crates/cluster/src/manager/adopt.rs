//! Another manager for a run whose own is gone. Nodes know all that one needs; while nobody watches, the run goes on.

use std::collections::BTreeSet;

use takt_graph::Graph;
use takt_runtime::Registry;

use super::run::{Ended, RunOptions, Watched};
use super::{Manager, PATIENCE, Placer};
use crate::ClusterError;
use crate::membership::Membership;
use crate::message::{Adopt, Adopted, NodeFacts, Order, Recalled, Request};
use crate::node::place::{self, Refusal};
use crate::node::run::voters_of;
use crate::quorum::Ballot;

/// A run without a manager, as its nodes know it.
pub struct Orphan {
    /// What each of its nodes says, by name.
    nodes: Vec<(String, Recalled)>,
    /// The manager that is gone.
    pub manager: String,
}

impl Orphan {
    /// What the run executes: the last placing that a node has gone over to.
    #[must_use]
    pub fn order(&self) -> &Order {
        // One node at least: `Manager::recall`.
        &self.latest().order
    }

    /// The waveform that it executes.
    ///
    /// # Errors
    /// A component is not in the registry.
    pub fn graph(&self, registry: &Registry) -> Result<Graph, ClusterError> {
        let node = || self.nodes.first().map(|(name, _)| name.clone()).unwrap_or_default();
        place::graph(self.order(), registry).map_err(|Refusal { why, fix }| ClusterError::Refused {
            node: node(),
            why,
            fix,
        })
    }

    fn latest(&self) -> &Recalled {
        let placing = |recalled: &&Recalled| recalled.order.placing;
        self.nodes.iter().map(|(_, recalled)| recalled).max_by_key(placing).unwrap_or(&self.nodes[0].1)
    }

    fn names(&self) -> Vec<String> {
        self.nodes.iter().map(|(name, _)| name.clone()).collect()
    }

    /// The placing that its nodes support, and whose support counts for it. All must support the same one.
    fn supported(&self) -> Option<(&Ballot, &[String])> {
        let (_, first) = self.nodes.first()?;
        let same = self.nodes.iter().all(|(_, recalled)| recalled.supports == first.supports);
        same.then_some((&first.supports, &first.voters))
    }

    /// Whether all nodes execute the same, and all nodes that it names are there.
    fn is_settled(&self) -> bool {
        let named: BTreeSet<&String> = self.order().workers.iter().map(|worker| &worker.node).collect();
        let there: BTreeSet<&String> = self.nodes.iter().map(|(name, _)| name).collect();
        named == there && self.nodes.iter().all(|(_, recalled)| recalled.order.workers == self.order().workers)
    }
}

impl Manager {
    /// A run whose manager is gone, from what its nodes know.
    ///
    /// # Errors
    /// No node executes it, or its manager is there.
    pub fn recall(&self, run: &str, facts: &[NodeFacts]) -> Result<Orphan, ClusterError> {
        let mut nodes = Vec::new();
        for node in facts {
            let Some(of) = node.runs.iter().find(|of| of.run == run) else { continue };
            if of.watched {
                return Err(ClusterError::Watched { run: run.to_owned(), manager: of.manager.clone() });
            }
            match self.control.ask(&node.node, &Request::Recall { run: run.to_owned() }, PATIENCE) {
                Ok(recalled) => nodes.push((node.node.clone(), recalled)),
                // It has ended there, or the node was lost just now.
                Err(ClusterError::Refused { .. } | ClusterError::Silent { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let manager = nodes.first().map(|(_, recalled): &(String, Recalled)| recalled.supports.manager.clone());
        let manager = manager.ok_or_else(|| ClusterError::NoRun { run: run.to_owned() })?;
        Ok(Orphan { nodes, manager })
    }

    /// Watches over it from now on, to its end, as [`Manager::run`] does.
    ///
    /// # Errors
    /// Too few of its nodes are there, another manager was faster, or as [`Manager::run`].
    pub fn adopt(&self, orphan: &Orphan, placer: &Placer<'_>, options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let names = orphan.names();
        let run = orphan.order().run.clone();
        let too_few = |have: usize, voters: usize| ClusterError::TooFew { run: run.clone(), have, voters };
        let (supports, before) = orphan.supported().ok_or_else(|| too_few(0, names.len()))?;
        let have = before.iter().filter(|voter| names.contains(voter)).count();
        if 2 * have <= before.len() {
            return Err(too_few(have, before.len()));
        }
        let own = self.member();
        let mut order = orphan.order().clone();
        (order.placing, order.manager) = (supports.placing + 1, own.clone());
        let members = Membership::start(&self.control, &own)?;
        // A run that is new to this one: nothing was promised.
        let _ = members.promise(&run, None, order.ballot());
        let voters = voters_of(names.clone(), &own);
        let adopt = Adopt { run, after: supports.clone(), next: order.ballot(), voters: voters.clone() };
        for name in &names {
            match self.control.ask(name, &Request::Adopt(adopt.clone()), PATIENCE) {
                Ok(Adopted { .. }) => {}
                // Its manager is there again, or another one was faster.
                Err(ClusterError::Refused { .. }) => {
                    return Err(ClusterError::Watched { run: adopt.run, manager: "another manager".to_owned() });
                }
                Err(error) => return Err(error),
            }
        }
        let reference = orphan.latest().reference.clone();
        let mut watched = Watched::new(order, placer.nodes(), reference, members);
        (watched.voters, watched.names) = (voters, names.clone());
        let settled = if orphan.is_settled() { Ok(()) } else { self.settle(&mut watched, &names, placer) };
        self.finish(watched, settled, placer, options)
    }

    /// A manager that died while it took over has left nodes between two placings, or one that is lost in the order: another
    /// placing brings all of them to the same.
    fn settle(&self, watched: &mut Watched<'_>, there: &[String], placer: &Placer<'_>) -> Result<(), ClusterError> {
        let named: BTreeSet<&String> = watched.order.workers.iter().map(|worker| &worker.node).collect();
        let gone: Vec<String> = named.into_iter().filter(|name| !there.contains(name)).cloned().collect();
        self.take_over(watched, &gone, "it was lost while nobody watched", Some(placer))
    }
}
