//! A run as its manager sees it: its nodes, what they answered last, and who was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use serde::Serialize;

use super::each::turns;
use super::slow::Slowness;
use crate::membership::{LEASE, Membership};
use crate::message::{Order, Progress};
use crate::node::run::{nodes_of, quorum};
use crate::quorum::{Ballot, Quorum};
use crate::{ClusterError, Trace};

/// How long before a slot edge its nodes have to know of it: so much for the reference, and for each turn of the others.
const LEAD: Duration = Duration::from_millis(400);

/// A node that was lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Which.
    pub node: String,
    /// How the manager knew.
    pub why: String,
    /// The physical slot in which the manager knew.
    pub known_in_slot: u64,
    /// First logical slot that all others execute in its place; those between are missed. `None`: not all took over, since the run
    /// was about to end.
    pub resumed_in_slot: Option<u64>,
    /// Components that begin afresh there: what they knew was on the lost node.
    pub state_lost: Vec<String>,
    /// How long the manager took from knowing to having sent it to all, or to leaving it out.
    pub took_ns: u64,
}

/// A run as its manager sees it.
pub(super) struct Watched<'a> {
    pub(super) order: Order,
    /// Nodes of the run that are there.
    pub(super) names: Vec<String>,
    /// Quorums that the run needs: of what its nodes execute, and of each placing that some of them have promised
    /// since.
    pub(super) quorums: Vec<Quorum>,
    /// The placing that each node supports, and the manager itself.
    pub(super) supports: BTreeMap<String, Ballot>,
    /// The slot of the last change of placing.
    pub(super) changed_at: u64,
    pub(super) reference: String,
    pub(super) members: Membership,
    /// Since when it takes part.
    pub(super) since: Instant,
    pub(super) last: BTreeMap<String, Progress>,
    pub(super) losses: Vec<Loss>,
    pub(super) slowness: Slowness,
    /// Questions that each node has not answered in time, and those that have not answered the last one.
    pub(super) unanswered: BTreeMap<String, u64>,
    pub(super) silent: BTreeSet<String>,
    pub(super) trace: &'a Trace,
}

impl<'a> Watched<'a> {
    /// On all nodes of an order.
    pub(super) fn new(order: Order, reference: String, members: Membership, trace: &'a Trace) -> Watched<'a> {
        let (names, quorums) = (nodes_of(&order), vec![quorum(&order)]);
        let members_of_it = names.iter().chain([&order.manager]);
        let supports = members_of_it.map(|name| (name.clone(), order.ballot())).collect();
        let (last, losses, slowness) = (BTreeMap::new(), Vec::new(), Slowness::default());
        let (unanswered, silent) = (BTreeMap::new(), BTreeSet::new());
        Watched {
            order,
            names,
            quorums,
            supports,
            changed_at: 0,
            reference,
            members,
            since: Instant::now(),
            last,
            losses,
            slowness,
            unanswered,
            silent,
            trace,
        }
    }

    /// Members whose support counts for the last placing.
    pub(super) fn voters(&self) -> &[String] {
        self.quorums.last().map_or(&[], |quorum| &quorum.voters)
    }

    /// Fails where nodes that are there and their manager are too few for another placing.
    pub(super) fn has_majorities(&self, manager: Option<&str>) -> Result<(), ClusterError> {
        let is_there = |voter: &String| self.names.contains(voter) || manager == Some(voter);
        let Some(lacks) = self.quorums.iter().find(|quorum| !quorum.has(is_there)) else { return Ok(()) };
        let lost = lacks.voters.iter().filter(|voter| !is_there(voter)).cloned().collect();
        Err(ClusterError::TooFew { run: self.order.run.clone(), lost, voters: lacks.voters.len() })
    }

    /// Fails where a node says that another manager watches over the run.
    pub(super) fn is_ours(&self) -> Result<(), ClusterError> {
        let other = self.last.values().find(|progress| progress.manager != self.order.manager);
        other.map_or(Ok(()), |progress| {
            Err(ClusterError::Watched { run: self.order.run.clone(), manager: progress.manager.clone() })
        })
    }

    /// The node whose clock sets the beat; `keep` where that node is still there.
    pub(super) fn reference(&self, keep: Option<&String>) -> Result<String, ClusterError> {
        let name = keep.filter(|name| self.names.contains(name)).or(self.names.first());
        name.cloned().ok_or_else(|| ClusterError::Silent { node: String::new() })
    }

    /// Its nodes but for one.
    pub(super) fn others(&self, than: &str) -> Vec<String> {
        self.names.iter().filter(|name| *name != than).cloned().collect()
    }

    pub(super) fn has_ended(&self, name: &str) -> bool {
        self.last.get(name).is_some_and(|progress| progress.end.is_some())
    }

    /// The slot of the node that is behind all others.
    pub(super) fn slot(&self) -> u64 {
        self.last.values().map(|progress| progress.slot).min().unwrap_or(0)
    }
}

/// How long it takes at most until so many nodes know of a slot edge: the reference first, since it says when that is.
pub(crate) fn lead(nodes: usize) -> Duration {
    LEAD * u32::try_from(1 + turns(nodes.saturating_sub(1))).unwrap_or(u32::MAX)
}

/// The slot that another placing of so many nodes begins with at the earliest.
pub(super) fn first_slot(progress: &Progress, nodes: usize) -> u64 {
    let wait = LEASE + lead(nodes);
    let slots = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX) / progress.slot_ns.max(1);
    progress.slot.saturating_add(slots).saturating_add(2)
}

pub(super) fn cut_off(progress: &Progress) -> bool {
    progress.end.as_ref().is_some_and(|end| end.cut_off)
}
