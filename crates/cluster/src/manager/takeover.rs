//! Reaction to a lost or too slow node. The others take over its components at a slot edge, after the lost one can
//! execute no more.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use super::each::each;
use super::watched::{Loss, Watched, cut_off, first_slot};
use super::{Manager, PATIENCE, Placer};
use crate::ClusterError;
use crate::membership::{LEASE, RECENT};
use crate::message::{Change, Opened, Progress, Request, Started, WorkerOrder};
use crate::node::run::quorum;
use crate::quorum::Ballot;
use crate::seal::Sealed;

/// Numbers of streams between one placing and the next.
const STREAMS: u32 = 1 << 16;

/// How long one node may take to make another placing ready: it makes components that were elsewhere.
const PREPARING: Duration = Duration::from_secs(10);

impl Manager {
    /// Has the others do what a node does that is too slow, where they have the time for it.
    pub(super) fn take_over_from_slow(
        &self,
        watched: &mut Watched<'_>,
        placer: &Placer<'_>,
    ) -> Result<(), ClusterError> {
        let seen = watched.slowness.look(&watched.last, &watched.unanswered, Instant::now());
        let Some(slow) = seen else { return Ok(()) };
        // One that is about to be found lost explains what others lack; and who takes over must answer.
        let received = |name: &String| watched.members.received(&watched.order.run, name, RECENT);
        let well = |name: &String| received(name) && !watched.silent.contains(name);
        if !watched.names.iter().filter(|name| **name != slow.node).all(well) {
            return Ok(());
        }
        let left: Vec<String> = watched.names.iter().filter(|name| **name != slow.node).cloned().collect();
        let enough = watched.quorums.iter().all(|quorum| quorum.has(|voter| *voter != slow.node));
        let replaced = placer.replace(&watched.order, &left).ok().filter(|replaced| enough && replaced.fits);
        match replaced {
            Some(replaced) => self.take_over(watched, &[slow.node], &slow.why, Some(placer), Some(replaced.workers)),
            None => Ok(()),
        }
    }

    /// Has the others do what nodes did that are gone, and what those did that are lost meanwhile. `workers`: theirs from then on,
    /// if that is known.
    pub(super) fn take_over(
        &self,
        watched: &mut Watched<'_>,
        gone: &[String],
        why: &str,
        placer: Option<&Placer<'_>>,
        mut workers: Option<Vec<WorkerOrder>>,
    ) -> Result<(), ClusterError> {
        let mut lost: Vec<Lost> = gone.iter().map(|node| watched.leave(node, why)).collect();
        loop {
            let node = || lost.iter().map(|lost| lost.node.as_str()).collect::<Vec<_>>().join(", ");
            let placer = placer
                .filter(|_| !watched.names.is_empty())
                .ok_or_else(|| ClusterError::Lost { node: node(), what: why.to_owned() })?;
            let replace = || {
                let replaced = placer.replace(&watched.order, &watched.names);
                let unplaced = |why| ClusterError::Unplaced { node: node(), why };
                replaced.map(|replaced| replaced.workers).map_err(|why| unplaced(why.to_string()))
            };
            let workers = workers.take().map_or_else(replace, Ok)?;
            let gone = node();
            let (trace, facts) = (watched.trace, [("takt.lost", gone.as_str()), ("takt.why", why)]);
            match trace.span("takt.takeover", &facts, || self.place_anew(watched, workers)) {
                Ok(edge) => {
                    watched.losses.extend(lost.into_iter().map(|lost| lost.replaced(&edge)));
                    return Ok(());
                }
                Err(error) => match self.lost_meanwhile(watched, error)? {
                    Some((node, why)) => lost.push(watched.leave(&node, &why)),
                    None => {
                        let slot = watched.latest_slot();
                        watched.losses.extend(lost.into_iter().map(|lost| lost.left_out(slot)));
                        return Ok(());
                    }
                },
            }
        }
    }

    /// The node that an error is about, if it is lost; none, if the run is about to end; else the error.
    fn lost_meanwhile(
        &self,
        watched: &mut Watched<'_>,
        error: ClusterError,
    ) -> Result<Option<(String, String)>, ClusterError> {
        let (ClusterError::Silent { node } | ClusterError::Refused { node, .. }) = &error else { return Err(error) };
        let why = "it was lost while others took over".to_owned();
        let lost = match &error {
            ClusterError::Refused { why: refused, .. } => (node.clone(), format!("{why}: {refused}")),
            _ => return Ok(Some((node.clone(), why))),
        };
        // It was started anew, or was cut off; or it has executed its slots, has another manager, or another reason.
        match self.ask_progress(&lost.0, &Request::Progress { run: watched.order.run.clone() }, PATIENCE) {
            Ok(progress) if !cut_off(&progress) => {
                watched.last.insert(lost.0, progress);
                watched.is_ours()?;
                if watched.is_over(false) { Ok(None) } else { Err(error) }
            }
            Ok(_) | Err(ClusterError::Silent { .. } | ClusterError::Refused { .. }) => Ok(Some(lost)),
            Err(other) => Err(other),
        }
    }

    /// Brings all nodes that are there to another placing, from a slot on.
    fn place_anew(&self, watched: &mut Watched<'_>, workers: Vec<WorkerOrder>) -> Result<Edge, ClusterError> {
        let statements = self.prepare(watched, workers)?;
        let edge = self.edge(watched)?;
        watched.changed_at = edge.at;
        let reference = watched.reference(Some(&watched.reference))?;
        let (run, next, at) = (watched.order.run.clone(), watched.order.ballot(), edge.at);
        let change = Change { run, next, at, reference: reference.clone(), epoch_ns: None, ptp: None, statements };
        let ask = |name: &String, change: Change| -> Result<Started, ClusterError> {
            let started = self.ask_member(watched, name, &Request::Change(change), PATIENCE);
            started.inspect_err(|error| self.end_there(watched, name, error))
        };
        let Started { epoch_ns, ptp, from_slot, .. } = ask(&reference, change.clone())?;
        let change = Change { epoch_ns: Some(epoch_ns), ptp, ..change };
        let mut at = edge.at.max(from_slot);
        let others = each(&watched.others(&reference), |name| ask(name, change.clone()));
        // It went over, whatever the others answered.
        watched.reference = reference;
        for (_, started) in others {
            at = at.max(started?.from_slot);
        }
        watched.slowness.restart(at);
        Ok(Edge { at, ..edge })
    }

    /// Ends the part of a node that executes the placing before and refuses to leave it: others go on with the next one, and take
    /// over from it.
    fn end_there(&self, watched: &Watched<'_>, node: &str, error: &ClusterError) {
        let (run, manager) = (watched.order.run.clone(), watched.order.manager.clone());
        // One that is about to end by itself keeps its results.
        let goes_on = |progress: Progress| {
            progress.end.is_none() && progress.manager == manager && !watched.is_too_late(&progress)
        };
        let question = Request::Progress { run: run.clone() };
        if matches!(error, ClusterError::Refused { .. })
            && self.ask_progress(node, &question, PATIENCE).is_ok_and(goes_on)
        {
            // One that does not answer to that is lost like any other.
            let _ = self.ask_progress(node, &Request::Stop { run, manager: Some(manager.clone()) }, PATIENCE);
        }
    }

    /// Makes ready the next placing on all nodes that are left. Answers the address at which each one takes samples, in
    /// its own words.
    fn prepare(
        &self,
        watched: &mut Watched<'_>,
        workers: Vec<WorkerOrder>,
    ) -> Result<BTreeMap<String, Sealed>, ClusterError> {
        let manager = watched.order.manager.clone();
        watched.has_majorities(Some(&manager))?;
        watched.order.workers = workers;
        watched.order.placing = watched.order.placing.saturating_add(1);
        watched.order.first_stream = watched.order.first_stream.wrapping_add(STREAMS);
        let next = quorum(&watched.order);
        watched.quorums.push(next.clone());
        if let Some(after) = watched.supports.insert(manager, next.ballot.clone()) {
            // Its own promise was for the placing before: nobody else asks for it.
            let _ = watched.members.promise(&watched.order.run, &after, next.clone());
        }
        let mut statements = BTreeMap::new();
        let mut lost = None;
        for (name, opened) in self.prepare_at_once(watched, &next.ballot) {
            match opened {
                Ok(opened) => {
                    statements.insert(name.clone(), opened.statement);
                    watched.supports.insert(name, next.ballot.clone());
                }
                Err(error) => lost = lost.or(Some(error)),
            }
        }
        if let Some(error) = lost {
            return Err(error);
        }
        // All support it now, and they are majorities of all before: nobody goes back.
        watched.quorums = vec![next];
        Ok(statements)
    }

    /// Asks all nodes at once: while one of them does not answer, the others' leases need each other's promise.
    fn prepare_at_once(&self, watched: &Watched<'_>, next: &Ballot) -> Vec<(String, Result<Opened, ClusterError>)> {
        let ask = |name: &String| {
            let after = watched.supports.get(name).unwrap_or(next).clone();
            let request = Request::Prepare { after, order: Box::new(watched.order.clone()) };
            self.ask_member(watched, name, &request, PREPARING)
        };
        each(&watched.names, ask)
    }

    /// Asks a node as long as heartbeats of it came within a lease: no longer can it execute anything.
    fn ask_member<T: DeserializeOwned>(
        &self,
        watched: &Watched<'_>,
        node: &str,
        request: &Request,
        patience: Duration,
    ) -> Result<T, ClusterError> {
        // A manager that has only just begun may have received nothing of anybody.
        let is_there = || watched.since.elapsed() < LEASE || watched.members.received(&watched.order.run, node, LEASE);
        let name = format!("takt.{}", request.name());
        let ask = || self.control.ask_while(node, request, patience, is_there);
        watched.trace.leaf(&name, &[("takt.node", node)], ask)
    }

    /// A slot that begins when nobody who is lost can execute anything, and all others know of it.
    fn edge(&self, watched: &Watched<'_>) -> Result<Edge, ClusterError> {
        let request = Request::Progress { run: watched.order.run.clone() };
        let first =
            watched.names.first().ok_or_else(|| ClusterError::Alone { cluster: self.control.cluster().to_owned() })?;
        let progress: Progress = self.ask_member(watched, first, &request, PATIENCE)?;
        // A takeover that did not come to its end may have left a change behind, which goes first.
        let at = first_slot(&progress, watched.names.len()).max(watched.changed_at + 1);
        Ok(Edge { now: progress.slot, at, slot_ns: progress.slot_ns.max(1) })
    }
}

/// The slot from which another placing is executed, and the one in which that was decided.
struct Edge {
    now: u64,
    at: u64,
    slot_ns: u64,
}

/// A node that is gone, and whose work nobody has yet.
struct Lost {
    node: String,
    why: String,
    known: Instant,
    components: Vec<String>,
}

impl Watched<'_> {
    /// Goes on without nodes that nobody takes over from.
    ///
    /// # Errors
    /// None is left.
    pub(super) fn leave_out(&mut self, gone: &[String], why: &str) -> Result<(), ClusterError> {
        let slot = self.latest_slot();
        for node in gone {
            let lost = self.leave(node, why);
            self.losses.push(lost.left_out(slot));
        }
        if self.names.is_empty() {
            return Err(ClusterError::Lost { node: gone.join(", "), what: why.to_owned() });
        }
        Ok(())
    }

    /// The slot of the node that is ahead of all others.
    fn latest_slot(&self) -> u64 {
        self.last.values().map(|progress| progress.slot).max().unwrap_or(0)
    }

    fn leave(&mut self, node: &str, why: &str) -> Lost {
        self.names.retain(|name| name != node);
        self.last.remove(node);
        let own = self.order.workers.iter().filter(|worker| worker.node == node);
        let components = own.flat_map(|worker| worker.components.clone()).collect();
        Lost { node: node.to_owned(), why: why.to_owned(), known: Instant::now(), components }
    }
}

impl Lost {
    /// Others execute what it did from that slot on.
    fn replaced(self, edge: &Edge) -> Loss {
        let loss = self.left_out(edge.now);
        let known_in_slot = edge.now.saturating_sub(loss.took_ns / edge.slot_ns);
        Loss { known_in_slot, resumed_in_slot: Some(edge.at), ..loss }
    }

    /// Nobody executes what it did, in that slot or later.
    fn left_out(self, slot: u64) -> Loss {
        let took_ns = u64::try_from(self.known.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let (known_in_slot, resumed_in_slot, state_lost) = (slot, None, self.components);
        Loss { node: self.node, why: self.why, known_in_slot, resumed_in_slot, state_lost, took_ns }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::{Arc, Mutex};

    use serde_json::{Value, json};
    use takt_base::Stop;
    use takt_testing::{loopback, wait_for};

    use super::*;
    use crate::Trace;
    use crate::certificates::{Grant, issue};
    use crate::clock::ClockFacts;
    use crate::control::{Control, payload, reply};
    use crate::folder::{Folder, Settings};
    use crate::membership::Membership;
    use crate::message::{Moment, Order, RequestAnswer};

    fn folder(place: &Path, name: &str, listen: u8, connect: &[String]) -> Folder {
        let at = format!("quic/{}:7447", loopback(listen));
        let text = format!("cluster = 'lab'\nnode = 'x'\nlisten = ['{at}']\nconnect = {connect:?}\nmulticast = false");
        let settings: Settings = toml::from_str(&text).unwrap();
        issue(place, "lab", &[name.to_owned()], &settings, &Grant::default()).unwrap();
        Folder::read(&place.join(name)).unwrap()
    }

    fn order() -> Order {
        let worker = |node: &str| json!({ "node": node, "cpu": 0, "components": [] });
        let order = json!({
            "run": "r", "placing": 2, "file": "x.toml", "text": "", "slot_ns": null, "set": [], "latency": "fixed",
            "hop_slots": 2, "slots": 1000, "fifo_priority": 0, "manager": "m", "first_stream": 0,
            "workers": [worker("a"), worker("b")],
        });
        serde_json::from_value(order).unwrap()
    }

    /// In that slot of 10 ms, watched over by `manager`.
    fn progress(slot: u64, manager: &str) -> Progress {
        Progress {
            slot,
            slot_ns: 10_000_000,
            offset_ns: 0,
            offset_bound_ns: 0,
            clock: ClockFacts::default(),
            manager: manager.to_owned(),
            slow_slots: 0,
            lost_slots: BTreeMap::new(),
            end: None,
        }
    }

    /// Ends the node, also where the test fails.
    struct Ends<'a>(&'a Stop);

    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.request();
        }
    }

    /// Request of a message; an order is in the text that is signed.
    fn ask_of(message: &[u8]) -> String {
        let message: Value = serde_json::from_slice(message).unwrap();
        let order = message["order"]["text"].as_str().map(|text| serde_json::from_str::<Value>(text).unwrap());
        let request = order.map_or(message["body"].clone(), |given| given["order"].clone());
        request["ask"].as_str().unwrap().to_owned()
    }

    #[test]
    fn a_node_that_refuses_another_placing_is_ended_unless_it_is_about_to_end_or_has_another_manager() {
        let place = tempfile::tempdir().unwrap();
        let node = Control::open(&folder(place.path(), "a", 41, &[]), true).unwrap();
        let connect = [format!("quic/{}:7447", loopback(41))];
        let manager = Manager::open(&folder(place.path(), "m", 42, &connect)).unwrap();
        let (is, asked, stop) = (Mutex::new(progress(0, "m")), Mutex::new(Vec::new()), Stop::new());
        let questions = node.questions().unwrap();
        std::thread::scope(|scope| {
            let _ends = Ends(&stop);
            let _alive = node.appear().unwrap();
            scope.spawn(|| {
                while !stop.requested() {
                    let Ok(Some(query)) = questions.recv_timeout(Duration::from_millis(20)) else { continue };
                    let ask = ask_of(&payload(&query));
                    let answer = match ask.as_str() {
                        "moment" => json!(Moment { life: 1, at_ns: 1 }),
                        _ => json!(*is.lock().unwrap()),
                    };
                    asked.lock().unwrap().push(ask);
                    reply(&query, RequestAnswer::Good(answer));
                }
            });
            wait_for("the node", || manager.control.present().ok()?.contains(&"a".to_owned()).then_some(()));
            let members = Membership::start(&Arc::clone(&manager.control), "m").unwrap();
            let trace = Trace::off();
            let watched = Watched::new(order(), "a".to_owned(), members, &trace);
            let refused = ClusterError::Refused { node: "a".to_owned(), why: String::new(), fix: String::new() };
            let asked_after = |now: Progress, error: &ClusterError| {
                *is.lock().unwrap() = now;
                manager.end_there(&watched, "a", error);
                std::mem::take(&mut *asked.lock().unwrap())
            };
            assert_eq!(asked_after(progress(100, "m"), &refused), ["progress", "moment", "stop"]);
            // Its last slots pass before another placing of two nodes could begin, a lease and the time to tell them later.
            assert_eq!(asked_after(progress(999, "m"), &refused), ["progress"], "it ends by itself, with its results");
            assert_eq!(asked_after(progress(100, "n"), &refused), ["progress"], "another one watches over it");
            let silent = ClusterError::Silent { node: "a".to_owned() };
            assert_eq!(asked_after(progress(100, "m"), &silent), Vec::<String>::new(), "it is lost like any other");
        });
    }
}
