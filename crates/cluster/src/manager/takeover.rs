//! What happens when a node is lost: the others take over its components at a slot edge, after the lost one can execute no more.

use std::time::Instant;

use serde::Serialize;

use super::run::{LEAD, Watched};
use super::{Manager, PATIENCE};
use crate::ClusterError;
use crate::membership::LEASE;
use crate::message::{Change, Order, Request, Started, WorkerOrder};
use crate::node::run::voters;

/// Numbers of streams between one placing and the next.
const STREAMS: u32 = 1 << 16;

/// Where the components of an order go when only these nodes are left: its workers on them, all of them, in order, with what
/// each executes from now on; or why that can't be.
pub type Replace<'a> = dyn Fn(&Order, &[String]) -> Result<Vec<WorkerOrder>, String> + 'a;

/// A node that was lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Which.
    pub node: String,
    /// The physical slot in which the manager knew.
    pub known_in_slot: u64,
    /// First logical slot that the others execute in its place; those between are missed.
    pub resumed_in_slot: u64,
    /// Components that begin afresh there: what they knew was on the lost node.
    pub state_lost: Vec<String>,
    /// How long the manager took from knowing to having said so to all.
    pub took_ns: u64,
}

impl Manager {
    /// Has the others do what lost nodes did.
    pub(super) fn take_over(
        &self,
        watched: &mut Watched<'_>,
        gone: &[String],
        replace: Option<&Replace<'_>>,
    ) -> Result<(), ClusterError> {
        let known = Instant::now();
        watched.names.retain(|name| !gone.contains(name));
        watched.last.retain(|name, _| !gone.contains(name));
        let node = gone.join(", ");
        let replace = replace.filter(|_| !watched.names.is_empty()).ok_or_else(|| ClusterError::Lost {
            node: node.clone(),
            what: "no heartbeat comes from it, or it was started anew".to_owned(),
        })?;
        let workers = replace(&watched.order, &watched.names).map_err(|why| ClusterError::Unplaced { node, why })?;
        let lost = |worker: &&WorkerOrder| gone.contains(&worker.node);
        let state_lost: Vec<(String, Vec<String>)> = watched
            .order
            .workers
            .iter()
            .filter(lost)
            .map(|worker| (worker.node.clone(), worker.components.clone()))
            .collect();
        let before = voters(&watched.order);
        watched.order.workers = workers;
        watched.order.placing += 1;
        watched.order.first_stream = watched.order.first_stream.wrapping_add(STREAMS);
        watched.members.promise(&watched.order.run, watched.order.placing);
        let samples = self.samples(watched, &Request::Prepare(Box::new(watched.order.clone())))?;
        let stand = watched.names.iter().chain([&watched.order.manager]).filter(|voter| before.contains(voter)).count();
        if 2 * stand <= before.len() {
            return Err(ClusterError::Lost { node: gone.join(", "), what: "too few are left to take over".to_owned() });
        }
        let (slot, at) = self.edge(watched)?;
        let (reference, clock) = watched.clock(Some(&watched.reference))?;
        let run = watched.order.run.clone();
        let mut change = Change { run, at, reference: reference.clone(), clock, epoch_ns: None, samples };
        let others = watched.names.iter().filter(|name| **name != reference);
        for name in std::iter::once(&reference).chain(others) {
            let started: Started = self.control.ask(name, &Request::Change(change.clone()), PATIENCE)?;
            change.epoch_ns = Some(started.epoch_ns);
        }
        watched.reference = reference;
        let took_ns = u64::try_from(known.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for (node, components) in state_lost {
            watched.losses.push(Loss {
                node,
                known_in_slot: slot,
                resumed_in_slot: at,
                state_lost: components,
                took_ns,
            });
        }
        Ok(())
    }

    /// The slot now, and one that begins when nobody who is lost can execute anything, and all others know of it.
    fn edge(&self, watched: &Watched<'_>) -> Result<(u64, u64), ClusterError> {
        let request = Request::Progress { run: watched.order.run.clone() };
        let first =
            watched.names.first().ok_or_else(|| ClusterError::Alone { cluster: self.control.cluster().to_owned() })?;
        let progress = self.ask_progress(first, &request, PATIENCE)?;
        let wait = LEASE + LEAD * u32::try_from(watched.names.len()).unwrap_or(u32::MAX);
        let slots = u64::try_from(wait.as_nanos()).unwrap_or(u64::MAX) / progress.slot_ns.max(1);
        Ok((progress.slot, progress.slot.saturating_add(slots).saturating_add(2)))
    }
}
