//! Another manager for a run whose own is gone. Nodes know all that one needs; while nobody watches, the run goes on.

use std::collections::{BTreeMap, BTreeSet};

use takt_graph::Graph;
use takt_mapper::Objective;
use takt_runtime::Registry;
use takt_runtime::planning::PlanningError;

use super::run::{Ended, RunOptions};
use super::watched::Watched;
use super::{Manager, PATIENCE, Placer};
use crate::ClusterError;
use crate::membership::Membership;
use crate::message::{Adopt, Adopted, NodeFacts, Order, Recalled, Request};
use crate::node::place::{self, Refusal};
use crate::node::run::{nodes_of, quorum_of};
use crate::quorum::{Ballot, Quorum};

/// A run without a manager, as its nodes know it.
pub struct Orphan {
    /// Facts from each of its nodes, by name.
    nodes: Vec<(String, Recalled)>,
    /// The manager that is gone.
    pub manager: String,
}

impl Orphan {
    /// Order that the run executes: the last placing that a node has gone over to.
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
        place::graph(self.order(), registry).map_err(|Refusal { why, fix, .. }| ClusterError::Refused {
            node: node(),
            why,
            fix,
        })
    }

    /// A placer for it on these nodes.
    ///
    /// # Errors
    /// As [`Placer::new`].
    pub fn placer<'a>(
        &self,
        graph: &'a Graph,
        registry: &Registry,
        nodes: &'a [NodeFacts],
    ) -> Result<Placer<'a>, PlanningError> {
        let Order { latency, hop_slots, .. } = *self.order();
        Placer::new(graph, registry, nodes, None, Objective::best_effort(latency), hop_slots)
    }

    /// Those of `facts` that execute it, with all their cores free: it may be placed on its own again.
    #[must_use]
    pub fn own_nodes(&self, facts: Vec<NodeFacts>) -> Vec<NodeFacts> {
        let run = &self.order().run;
        let executes = |node: &NodeFacts| node.runs.iter().any(|of| of.run == *run);
        facts.into_iter().filter(executes).map(|node| NodeFacts { busy: Vec::new(), ..node }).collect()
    }

    fn latest(&self) -> &Recalled {
        let placing = |recalled: &&Recalled| recalled.order.placing;
        self.nodes.iter().map(|(_, recalled)| recalled).max_by_key(placing).unwrap_or(&self.nodes[0].1)
    }

    /// Its nodes, but for those that a placing leaves out which another one knows: others may execute already what they did.
    fn names(&self) -> Vec<String> {
        let quorums = self.quorums();
        let in_all = |name: &&String| quorums.iter().all(|quorum| quorum.voters.contains(name));
        self.nodes.iter().map(|(name, _)| name).filter(in_all).cloned().collect()
    }

    /// Quorums that another manager needs: of all that any node executes or has promised. A majority of any of them may
    /// go on without it.
    fn quorums(&self) -> Vec<Quorum> {
        let mut quorums: Vec<Quorum> = Vec::new();
        for quorum in self.nodes.iter().flat_map(|(_, recalled)| &recalled.quorums) {
            if !quorums.contains(quorum) {
                quorums.push(quorum.clone());
            }
        }
        quorums
    }

    /// The placing that each node supports: a takeover that did not come to its end leaves them at several.
    fn supports(&self) -> BTreeMap<String, Ballot> {
        let of = |(name, recalled): &(String, Recalled)| Some((name.clone(), recalled.supports()?.clone()));
        self.nodes.iter().filter_map(of).collect()
    }

    /// Whether all nodes execute the same, and all nodes that it names are there.
    fn is_settled(&self) -> bool {
        let named: BTreeSet<&String> = self.order().workers.iter().map(|worker| &worker.node).collect();
        let names = self.names();
        named == names.iter().collect()
            && self.nodes.iter().all(|(_, recalled)| recalled.order.workers == self.order().workers)
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
        let latest = nodes.iter().filter_map(|(_, recalled): &(String, Recalled)| recalled.supports());
        let latest = latest.max_by_key(|ballot| ballot.placing);
        let manager = latest.map(|ballot| ballot.manager.clone());
        let manager = manager.ok_or_else(|| ClusterError::NoRun { run: run.to_owned() })?;
        Ok(Orphan { nodes, manager })
    }

    /// Watches over it from now on, to its end, as [`Manager::run`] does.
    ///
    /// # Errors
    /// Too few of its nodes are there, its manager is back, another one was faster, or as [`Manager::run`].
    pub fn adopt(&self, orphan: &Orphan, placer: &Placer<'_>, options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let (own, trace) = (self.member(), options.trace);
        let facts = [("takt.run", orphan.order().run.as_str()), ("takt.manager", &own)];
        trace.span("takt.run", &facts, || self.adopt_as(&own, orphan, placer, options))
    }

    fn adopt_as(
        &self,
        own: &str,
        orphan: &Orphan,
        placer: &Placer<'_>,
        options: RunOptions<'_>,
    ) -> Result<Ended, ClusterError> {
        let (mut order, supports, trace) = (orphan.order().clone(), orphan.supports(), options.trace);
        let placing = supports.values().map(|ballot| ballot.placing).max().unwrap_or(0);
        (order.placing, order.manager) = (placing.saturating_add(1), own.to_owned());
        let (names, next) = (orphan.names(), quorum_of(order.ballot(), orphan.names()));
        let members = Membership::start(&self.control, own)?;
        members.join(&order.run, order.ballot())?;
        let reference = orphan.latest().reference.clone();
        let quorums = orphan.quorums();
        let mut watched = Watched { names, quorums, ..Watched::new(order, reference, members, trace) };
        watched.has_majorities(None)?;
        for (name, after) in supports.into_iter().filter(|(name, _)| next.voters.contains(name)) {
            let adopt = Adopt { run: watched.order.run.clone(), after, next: next.clone() };
            trace.leaf("takt.adopt", &[("takt.node", &name)], || self.ask_to_adopt(&name, &adopt))?;
            watched.supports.insert(name, next.ballot.clone());
        }
        // All support it now, and they are majorities of all before: nobody goes back.
        watched.quorums = vec![next];
        let settled = if orphan.is_settled() { Ok(()) } else { self.settle(&mut watched, placer) };
        self.finish(watched, settled, placer, options)
    }

    fn ask_to_adopt(&self, node: &str, adopt: &Adopt) -> Result<(), ClusterError> {
        let asked = self.control.ask::<Adopted>(node, &Request::Adopt(adopt.clone()), PATIENCE);
        let Err(refused @ ClusterError::Refused { .. }) = asked else { return asked.map(|_| ()) };
        // Its manager is back, or another one was faster: the node says which.
        let recalled: Recalled = self.control.ask(node, &Request::Recall { run: adopt.run.clone() }, PATIENCE)?;
        match recalled.supports() {
            Some(supports) if *supports != adopt.after || self.is_watched(node, &adopt.run)? => {
                Err(ClusterError::Watched { run: adopt.run.clone(), manager: supports.manager.clone() })
            }
            _ => Err(refused),
        }
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
        self.take_over(watched, &gone, "it was lost while nobody watched", Some(placer), None)
    }
}
