//! What happens when a node is lost or too slow: the others take over its components at a slot edge, after the lost one can execute no more.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Instant;

use serde::Serialize;

use super::run::{LEAD, Watched};
use super::{Manager, PATIENCE, Placer};
use crate::ClusterError;
use crate::membership::LEASE;
use crate::message::{Change, Request, Started, WorkerOrder};
use crate::node::run::voters;

/// Numbers of streams between one placing and the next.
const STREAMS: u32 = 1 << 16;

/// A node that was lost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Loss {
    /// Which.
    pub node: String,
    /// How the manager knew.
    pub why: String,
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
    /// Has the others do what a node does that is too slow, where they have the time for it.
    pub(super) fn relieve(&self, watched: &mut Watched<'_>, placer: &Placer<'_>) -> Result<(), ClusterError> {
        let seen = watched.slowness.look(&watched.last, &watched.unanswered, Instant::now());
        let Some(slow) = seen else { return Ok(()) };
        // One that is about to be found lost explains what others lack; and who takes over must answer.
        let well = |name: &String| watched.members.receives(&watched.order.run, name) && !watched.silent.contains(name);
        if !watched.names.iter().filter(|name| **name != slow.node).all(well) {
            return Ok(());
        }
        let left: Vec<String> = watched.names.iter().filter(|name| **name != slow.node).cloned().collect();
        let left_voters = watched.voters.iter().filter(|voter| **voter != slow.node).count();
        let fits = placer.replace(&watched.order, &left).is_ok_and(|replaced| replaced.fits);
        if !fits || 2 * left_voters <= watched.voters.len() {
            return Ok(());
        }
        self.take_over(watched, &[slow.node], &slow.why, Some(placer))
    }

    /// Has the others do what nodes did that are gone.
    pub(super) fn take_over(
        &self,
        watched: &mut Watched<'_>,
        gone: &[String],
        why: &str,
        placer: Option<&Placer<'_>>,
    ) -> Result<(), ClusterError> {
        let known = Instant::now();
        watched.names.retain(|name| !gone.contains(name));
        watched.last.retain(|name, _| !gone.contains(name));
        let node = gone.join(", ");
        let placer = placer
            .filter(|_| !watched.names.is_empty())
            .ok_or_else(|| ClusterError::Lost { node: node.clone(), what: why.to_owned() })?;
        let replaced = placer.replace(&watched.order, &watched.names);
        let workers = replaced.map_err(|why| ClusterError::Unplaced { node, why: why.to_string() })?.workers;
        let lost = |worker: &&WorkerOrder| gone.contains(&worker.node);
        let state_lost: Vec<(String, Vec<String>)> = watched
            .order
            .workers
            .iter()
            .filter(lost)
            .map(|worker| (worker.node.clone(), worker.components.clone()))
            .collect();
        let samples = self.prepare(watched, workers)?;
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
        watched.slowness.restart(at);
        let took_ns = u64::try_from(known.elapsed().as_nanos()).unwrap_or(u64::MAX);
        for (node, components) in state_lost {
            watched.losses.push(Loss {
                node,
                why: why.to_owned(),
                known_in_slot: slot,
                resumed_in_slot: at,
                state_lost: components,
                took_ns,
            });
        }
        Ok(())
    }

    /// Makes ready the next placing on all nodes that are left. Where each one's samples go.
    fn prepare(
        &self,
        watched: &mut Watched<'_>,
        workers: Vec<WorkerOrder>,
    ) -> Result<BTreeMap<String, SocketAddr>, ClusterError> {
        let (after, before) = (watched.order.ballot(), watched.voters.clone());
        let have = watched.names.iter().chain([&watched.order.manager]).filter(|voter| before.contains(voter)).count();
        if 2 * have <= before.len() {
            return Err(ClusterError::TooFew { run: watched.order.run.clone(), have, voters: before.len() });
        }
        watched.order.workers = workers;
        watched.order.placing = watched.order.placing.saturating_add(1);
        watched.order.first_stream = watched.order.first_stream.wrapping_add(STREAMS);
        watched.voters = voters(&watched.order);
        let order = Box::new(watched.order.clone());
        // Its own promise was for the placing before: nobody else asks for it.
        let _ = watched.members.promise(&order.run, &after, order.ballot());
        self.samples(watched, &Request::Prepare { after, order })
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
