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
use crate::node::run::{nodes_of, voters_of};
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

    /// The placing that its nodes support, and whose support counts for it. All must support the same: a node goes on from the
    /// one it supports alone, so two parts can't be brought together.
    fn supported(&self) -> Result<(&Ballot, &[String]), ClusterError> {
        let Recalled { supports, voters, order, .. } = self.latest();
        let have = self.nodes.iter().filter(|(_, recalled)| recalled.supports == *supports).count();
        if have < self.nodes.len() {
            return Err(ClusterError::TooFew { run: order.run.clone(), have, voters: voters.len() });
        }
        Ok((supports, voters))
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
    /// Too few of its nodes are there, its manager is back, another one was faster, or as [`Manager::run`].
    pub fn adopt(&self, orphan: &Orphan, placer: &Placer<'_>, options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let (own, mut order) = (self.member(), orphan.order().clone());
        let (after, before) = orphan.supported()?;
        let names = orphan.names();
        let have = before.iter().filter(|voter| names.contains(voter)).count();
        if 2 * have <= before.len() {
            return Err(ClusterError::TooFew { run: order.run, have, voters: before.len() });
        }
        (order.placing, order.manager) = (after.placing.saturating_add(1), own.clone());
        let members = Membership::start(&self.control, &own)?;
        members.join(&order.run, order.ballot())?;
        let voters = voters_of(names.clone(), &own);
        let run = order.run.clone();
        let adopt = Adopt { run, after: after.clone(), next: order.ballot(), voters: voters.clone() };
        names.iter().try_for_each(|name| self.ask_to_adopt(name, &adopt))?;
        let reference = orphan.latest().reference.clone();
        let mut watched = Watched { names, voters, ..Watched::new(order, placer.nodes(), reference, members) };
        let settled = if orphan.is_settled() { Ok(()) } else { self.settle(&mut watched, placer) };
        self.finish(watched, settled, placer, options)
    }

    fn ask_to_adopt(&self, node: &str, adopt: &Adopt) -> Result<(), ClusterError> {
        let asked = self.control.ask::<Adopted>(node, &Request::Adopt(adopt.clone()), PATIENCE);
        let Err(refused @ ClusterError::Refused { .. }) = asked else { return asked.map(|_| ()) };
        // Its manager is back, or another one was faster: the node says which.
        let recalled: Recalled = self.control.ask(node, &Request::Recall { run: adopt.run.clone() }, PATIENCE)?;
        let Recalled { order, supports, .. } = recalled;
        if supports == adopt.after && !self.is_watched(node, &order.run)? {
            return Err(refused);
        }
        Err(ClusterError::Watched { run: order.run, manager: supports.manager })
    }

    fn is_watched(&self, node: &str, run: &str) -> Result<bool, ClusterError> {
        let facts: NodeFacts = self.control.ask(node, &Request::Describe, PATIENCE)?;
        Ok(facts.runs.iter().any(|of| of.run == run && of.watched))
    }

    /// A manager that died while it took over has left nodes between two placings, or one that is lost in the order: another
    /// placing brings all of them to the same.
    fn settle(&self, watched: &mut Watched<'_>, placer: &Placer<'_>) -> Result<(), ClusterError> {
        let gone: Vec<String> =
            nodes_of(&watched.order).into_iter().filter(|name| !watched.names.contains(name)).collect();
        self.take_over(watched, &gone, "it was lost while nobody watched", Some(placer))
    }
}
