//! One waveform's part on this node, from the order to its end.

mod facts;
mod open;
mod slow;

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, Instant};

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_bridge::clock::SlotTime;
use takt_bridge::clock::ptp::Service;
use takt_bridge::{Bridges, LinkReader};
use takt_packet::EngineKind;
use takt_runtime::{Edges, Registry, Running, StatsReader};

pub(super) use open::Opener;
use open::bridges;
use slow::Slow;

use super::beat::{Epoch, RunClock};
use super::peers::{Peers, Stated};
use super::place::{Placed, Refusal, place};
use crate::membership::{Membership, RECENT};
use crate::message::{Adopt, Adopted, Change, End, Order, Recalled, Start, Started};
use crate::metrics::totals::How;
use crate::quorum::{Ballot, Quorum};
use crate::seal::Sealed;
use crate::statement::Placing;
use crate::tenant::Tenant;

/// A run that is not started is forgotten once its manager's heartbeats have not come for so long: it is gone. One that lives may
/// wait for other nodes.
const UNSTARTED: Duration = Duration::from_secs(30);

/// A run that has ended is forgotten so much later, if no request to forget it came.
const ENDED: Duration = Duration::from_secs(120);

/// After a change of placing the bridges of the one before are kept so long: other nodes may go over a little later, and until
/// then execute what these send.
const OVERLAP: Duration = Duration::from_secs(2);

/// Earlier placings whose bridges are kept at a time. A manager needs one for each node that is lost within a few seconds.
const MOST_EARLIER: usize = 8;

/// Placings of a run on one node, in all: what each counts is kept.
const MOST_PLACINGS: u32 = 1024;

/// Resources that a node gives each of its runs.
pub(super) struct Host {
    pub(super) node: String,
    pub(super) engine: EngineKind,
    pub(super) samples: IpAddr,
    pub(super) ptp: Service,
    pub(super) registry: Registry,
    pub(super) members: Membership,
    pub(super) peers: Peers,
}

/// A waveform's part on this node.
pub(super) struct Run {
    tenant: Tenant,
    order: Order,
    placed: Placed,
    /// The placing that the node supports: the one that it executes, or the next one that is ready.
    supports: Ballot,
    /// The node whose clock sets the beat; empty before it has begun.
    reference: String,
    time: SlotTime,
    samples: SocketAddr,
    stop: Stop,
    state: State,
    since: Instant,
    beat: RunClock,
    /// Another placing that is ready.
    next: Option<(Order, Placed, Bridges)>,
    /// Bridges of earlier placings, and until when they carry what is under way.
    earlier: Vec<(MonoNs, takt_bridge::Running)>,
    /// How many it has had here.
    placings: u32,
    slow: Slow,
    counters: Counters,
}

/// Counts of its components and links, those of earlier placings included: read at any time, after its end too.
struct Counters {
    waveform: String,
    components: StatsReader,
    /// With the node at the other end.
    links: Vec<(String, LinkReader)>,
    how: Option<How>,
}

enum State {
    Opened {
        running: Box<Running>,
        bridges: Bridges,
    },
    Executing {
        running: Box<Running>,
        bridges: takt_bridge::Running,
    },
    Ended(Box<End>),
    /// Between two others.
    Changing,
}

impl Run {
    /// Takes part in it, once it is open: from now on others receive the node's heartbeats.
    pub(super) fn join(&self, members: &Membership) -> Result<(), Refusal> {
        let joined = members.join(self.name(), self.supports.clone());
        if joined.map_err(|error| Refusal::new(error, "restart the node"))? {
            return Ok(());
        }
        Err(Refusal::new(format!("run `{}` was here before", self.name()), "give the run another name"))
    }

    /// Its tenant.
    pub(super) fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Since when it has ended, if it has.
    pub(super) fn ended(&self) -> Option<Instant> {
        matches!(self.state, State::Ended(_)).then_some(self.since)
    }

    pub(super) fn name(&self) -> &str {
        &self.order.run
    }

    /// Manager that watches over it.
    pub(super) fn manager(&self) -> &str {
        &self.supports.manager
    }

    /// Whether that one's heartbeats come.
    fn is_watched(&self, host: &Host) -> bool {
        host.members.received(&self.order.run, self.manager(), RECENT)
    }

    /// Address at which it takes samples, for the nodes that send them.
    pub(super) fn statement(&self, host: &Host) -> Result<Sealed, Refusal> {
        host.peers.state(&host.node, self.placing(&self.order.ballot()), self.samples)
    }

    /// A placing of it.
    fn placing<'a>(&'a self, ballot: &'a Ballot) -> Placing<'a> {
        Placing { tenant: &self.tenant, run: &self.order.run, ballot }
    }

    /// Cores that it has.
    pub(super) fn cores(&self) -> impl Iterator<Item = u32> {
        let held = !matches!(self.state, State::Ended(_));
        self.placed.cores.iter().filter(move |_| held).map(|&core| core as u32)
    }

    /// Lets the workers begin at slot 0.
    pub(super) fn start(&mut self, start: &Start, host: &mut Host) -> Result<Started, Refusal> {
        let ballot = self.order.ballot();
        let (node, own) = (host.node.as_str(), &host.peers);
        let stated = Stated { node, own, placing: self.placing(&ballot), statements: &start.statements };
        let (peers, clock) = (stated.peers(&self.order, &self.placed)?, stated.clock(&start.reference)?);
        let (mut running, bridges) = match std::mem::replace(&mut self.state, State::Changing) {
            State::Opened { running, bridges } => (running, bridges),
            // It goes on as it is.
            other => {
                self.state = other;
                return Err(Refusal::new(format!("run `{}` was started before", start.run), "start it only once"));
            }
        };
        let epoch_ns = if start.reference == host.node {
            let epoch_ns = WallClock.now().0.saturating_add(start.in_ns);
            self.beat.lead(self.order.slot_clock, epoch_ns, &host.ptp, &self.time)?;
            epoch_ns
        } else {
            let Start { reference, epoch_ns, ptp, .. } = start;
            let epoch = Epoch { reference, clock, epoch_ns: *epoch_ns, ptp: *ptp };
            self.beat.follow(self.order.slot_clock, &epoch, &host.ptp, &self.time)?
        };
        let (bridges, links) = self.connect(&self.order, bridges, &peers)?;
        self.counters.links = links;
        self.reference = start.reference.clone();
        host.members.lease(&self.order.run, quorum(&self.order), self.time.clone());
        running.go();
        self.state = State::Executing { running, bridges };
        Ok(self.started(epoch_ns))
    }

    /// Part that it would execute here by another order, on the cores that it has.
    pub(super) fn place_next(&self, order: &Order, host: &Host) -> Result<Placed, Refusal> {
        if let State::Ended(end) = &self.state {
            let why = if end.cut_off { "too few others received its heartbeats" } else { "all its slots are executed" };
            return Err(Refusal::new(format!("run `{}` has ended here: {why}", self.order.run), "run it again"));
        }
        self.is_executed()?;
        let own: Vec<u32> = self.cores().collect();
        let placed = place(order, &host.node, &own, &host.registry)?;
        if placed.cores != self.placed.cores {
            return Err(Refusal::new(
                "its workers are on other cores",
                "give the workers that the run has here, in order",
            ));
        }
        Ok(placed)
    }

    /// Makes another placing ready, while this one goes on.
    pub(super) fn prepare(
        &mut self,
        after: &Ballot,
        order: Order,
        placed: Placed,
        host: &Host,
    ) -> Result<Sealed, Refusal> {
        has_room(self.earlier.len(), self.placings)?;
        if let State::Executing { running, .. } = &self.state {
            running.has_room_for(&placed.share.graph).map_err(|error| Refusal::new(error, "run it again"))?;
        }
        let bridges = bridges(&placed, host.engine, host.samples)?;
        // The node stands for the next placing, and for the one before no more: who is lost finds no majority for it.
        // This node keeps in the next what it executes.
        self.support(after, quorum(&order), host)?;
        let statement = host.peers.state(&host.node, self.placing(&order.ballot()), bridges.local())?;
        self.next = Some((order, placed, bridges));
        Ok(statement)
    }

    /// Supports the next placing, if it follows the one that the node supports until now.
    fn support(&mut self, after: &Ballot, next: Quorum, host: &Host) -> Result<(), Refusal> {
        let ballot = next.ballot.clone();
        if !host.members.promise(&self.order.run, after, next) {
            let Ballot { placing, manager } = &self.supports;
            let why = format!("run `{}` is at placing {placing} of {manager}", self.order.run);
            return Err(Refusal::new(why, "let that manager watch over it"));
        }
        self.supports = ballot;
        Ok(())
    }

    fn is_executed(&self) -> Result<(), Refusal> {
        if matches!(self.state, State::Executing { .. }) {
            return Ok(());
        }
        Err(Refusal::new(format!("this node does not execute run `{}`", self.order.run), "run it again"))
    }

    /// Facts that another manager needs to know of it.
    pub(super) fn recall(&self, host: &Host) -> Result<Recalled, Refusal> {
        self.is_executed()?;
        let (order, reference) = (self.order.clone(), self.reference.clone());
        Ok(Recalled { order, quorums: host.members.quorums(&self.order.run), reference })
    }

    /// Takes another manager, if its own is gone. Its executions stay as they are.
    pub(super) fn adopt(&mut self, adopt: &Adopt, host: &Host) -> Result<Adopted, Refusal> {
        self.is_executed()?;
        if self.is_watched(host) {
            let why = format!("{} watches over run `{}`", self.manager(), adopt.run);
            return Err(Refusal::new(why, "let that manager continue, or end it first"));
        }
        self.support(&adopt.after, adopt.next.clone(), host)?;
        // The placing that its own manager had made ready is not gone over to any more.
        self.next = None;
        Ok(Adopted { slot: self.slot() })
    }

    /// Goes over to it at a logical slot: components that were here keep their state, others begin afresh. Refused, it goes on
    /// with the placing that it has.
    pub(super) fn change(&mut self, change: &Change, host: &Host) -> Result<Started, Refusal> {
        self.is_executed()?;
        let (order, placed, next) = take_ready(&mut self.next, &change.next)?;
        let (node, own) = (host.node.as_str(), &host.peers);
        let stated = Stated { node, own, placing: self.placing(&change.next), statements: &change.statements };
        let (peers, clock) = (stated.peers(&order, &placed)?, stated.clock(&change.reference)?);
        let epoch_ns = self.turn(change, clock, host)?;
        self.reference = change.reference.clone();
        let mut registry = host.registry.clone();
        next.give(&mut registry);
        let (next, links) = self.connect(&order, next, &peers)?;
        let State::Executing { running, bridges } = &mut self.state else {
            return Err(Refusal::new(
                format!("this node does not execute run `{}`", change.run),
                "start the run first",
            ));
        };
        let went = running.change_waveform(&placed.share.graph, &placed.share.plan, &registry, change.at);
        went.map_err(|error| Refusal::new(error, "give a placing for the workers that were started"))?;
        let before = std::mem::replace(bridges, next);
        self.counters.components.extend(running.stats());
        self.counters.links.extend(links);
        (self.order, self.placed) = (order, placed);
        let from_slot = change.at.max(self.slot().saturating_add(1));
        self.earlier.push((self.time.due(from_slot) + OVERLAP, before));
        self.placings += 1;
        Ok(Started { from_slot, ..self.started(epoch_ns) })
    }

    /// Takes the beat from the node that a change names. When slot 0 began on that one's clock.
    fn turn(&mut self, change: &Change, clock: SocketAddr, host: &Host) -> Result<u64, Refusal> {
        let Change { reference, epoch_ns, ptp, .. } = change;
        if *reference != host.node {
            let epoch = Epoch { reference, clock, epoch_ns: *epoch_ns, ptp: *ptp };
            return self.beat.follow(self.order.slot_clock, &epoch, &host.ptp, &self.time);
        }
        let epoch_ns = self.time.begins().unwrap_or(0);
        self.beat.lead(self.order.slot_clock, epoch_ns, &host.ptp, &self.time)?;
        Ok(self.time.begins().unwrap_or(epoch_ns))
    }

    /// The bridges, and what their links count. `peers`: where the workers at their other ends are.
    fn connect(
        &self,
        order: &Order,
        bridges: Bridges,
        peers: &BTreeMap<usize, SocketAddr>,
    ) -> Result<(takt_bridge::Running, Vec<(String, LinkReader)>), Refusal> {
        // Above the workers: what it does is short, and they wait for it.
        let priority = (order.fifo_priority > 0).then(|| order.fifo_priority.saturating_add(1).min(98));
        let started = bridges.start(peers, self.time.clone(), priority, Stop::new());
        let started = started
            .map_err(|error| Refusal::new(error, "end other threads on this node, or raise the limit: ulimit -u"))?;
        let peer = |link: &LinkReader| order.workers.get(link.worker()).map(|worker| worker.node.clone());
        let links = started.links().iter().filter_map(|link| Some((peer(link)?, link.clone()))).collect();
        Ok((started, links))
    }

    fn started(&self, epoch_ns: u64) -> Started {
        let offset = self.time.offset();
        let ptp = self.beat.ptp();
        Started { epoch_ns, ptp, from_slot: 0, offset_ns: offset.ns(), offset_bound_ns: offset.bound_ns() }
    }

    /// Notices the end. `true`: it is to be forgotten.
    pub(super) fn attend(&mut self, members: &Membership) -> bool {
        let slot = self.slot();
        if let State::Executing { running, .. } = &mut self.state
            && self.slow.is_due(slot)
        {
            running.clear_away();
            self.slow.look(slot, running.stats().slow_slots());
        }
        while self.earlier.first().is_some_and(|&(until, _)| WallClock.now() > until) {
            // Their breakage was their own affair: they carry nothing any more.
            let _ = self.earlier.remove(0).1.finish();
        }
        match &self.state {
            State::Executing { running, .. } if running.ended() => {
                self.end(How::Complete);
                false
            }
            State::Opened { .. } => {
                self.since.elapsed() > UNSTARTED && !members.received(self.name(), self.manager(), UNSTARTED)
            }
            State::Ended(_) => self.since.elapsed() > ENDED,
            State::Executing { .. } => false,
            State::Changing => true,
        }
    }

    /// Ends it at the next slot edge.
    pub(super) fn stop(&mut self) {
        self.stop.request();
        self.end(How::Stopped);
    }

    fn end(&mut self, how: How) {
        match std::mem::replace(&mut self.state, State::Changing) {
            State::Executing { running, bridges } => {
                let report = running.join();
                let broke = bridges.finish().err().map(|error| error.to_string());
                for (_, earlier) in self.earlier.drain(..) {
                    // As above.
                    let _ = earlier.finish();
                }
                self.beat.end(&self.time);
                let sinks = report.sink_hashes.clone();
                // Our own structs, whose maps have texts as keys: always JSON.
                let report = serde_json::to_value(&report).unwrap_or_default();
                let end = End { report, sinks, bridges_broke: broke, cut_off: self.time.is_cut_off() };
                self.counters.how = Some(if end.cut_off { How::CutOff } else { how });
                (self.state, self.since) = (State::Ended(Box::new(end)), Instant::now());
            }
            other => self.state = other,
        }
    }

    /// The physical slot it is in; of a run that has ended, the slots executed.
    pub(super) fn slot(&self) -> u64 {
        match &self.state {
            State::Executing { .. } => self.time.slot_at(WallClock.now()),
            State::Ended(end) => end.report.get("slots").and_then(serde_json::Value::as_u64).unwrap_or(0),
            State::Opened { .. } | State::Changing => 0,
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Takes the placing that is ready, if it is the one that is wanted. Another manager may have made its own ready since this one
/// was frozen: slot and addresses of this one's order are not for that placing.
fn take_ready<P, B>(ready: &mut Option<(Order, P, B)>, wanted: &Ballot) -> Result<(Order, P, B), Refusal> {
    ready.take_if(|(order, ..)| order.ballot() == *wanted).ok_or_else(|| {
        let Ballot { placing, manager } = wanted;
        Refusal::new(format!("placing {placing} of {manager} is not ready"), "prepare that placing first")
    })
}

/// Whether a run that has had so many placings here, of which so many still carry what is under way, may have another one: what
/// they take is in no quota.
fn has_room(earlier: usize, placings: u32) -> Result<(), Refusal> {
    if earlier >= MOST_EARLIER {
        let why = format!("{earlier} earlier placings still carry data, and at most {MOST_EARLIER} may");
        return Err(Refusal::new(why, "repeat the order once they are over"));
    }
    if placings >= MOST_PLACINGS {
        return Err(Refusal::new(
            format!("the run has had {placings} placings here, the most allowed"),
            "run it again",
        ));
    }
    Ok(())
}

/// Members whose support this node needs to go on: the nodes of the run, and its manager. A node that has all of it
/// goes on by itself: no other takes over from it.
pub(crate) fn quorum(order: &Order) -> Quorum {
    quorum_of(order.ballot(), nodes_of(order))
}

/// The same, of a run that is on these nodes by now.
pub(crate) fn quorum_of(ballot: Ballot, nodes: Vec<String>) -> Quorum {
    let mut voters = nodes;
    if voters.len() > 1 {
        voters.push(ballot.manager.clone());
    }
    Quorum { ballot, voters }
}

/// The nodes of an order, each once.
pub(crate) fn nodes_of(order: &Order) -> Vec<String> {
    let nodes: BTreeSet<&String> = order.workers.iter().map(|worker| &worker.node).collect();
    nodes.into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn order(placing: u32, manager: &str) -> Order {
        let order = json!({
            "run": "bpsk-7", "placing": placing, "file": "bpsk.toml", "text": "", "slot_ns": null, "set": [],
            "latency": "fixed", "hop_slots": 2, "slots": null, "fifo_priority": 0, "manager": manager, "first_stream": 0,
            "workers": [],
        });
        serde_json::from_value(order).unwrap()
    }

    #[test]
    fn placings_that_pile_up_are_refused_before_anything_is_made() {
        assert!(has_room(MOST_EARLIER - 1, MOST_PLACINGS - 1).is_ok());
        let crowded = has_room(MOST_EARLIER, 9).unwrap_err();
        assert_eq!(crowded.why, "8 earlier placings still carry data, and at most 8 may");
        assert_eq!(has_room(0, MOST_PLACINGS).unwrap_err().why, "the run has had 1024 placings here, the most allowed");
    }

    #[test]
    fn a_manager_goes_over_to_no_placing_but_the_one_that_it_made_ready() {
        let mut ready = Some((order(4, "second"), (), ()));
        for (placing, manager) in [(2, "first"), (4, "first"), (3, "second")] {
            let refused = take_ready(&mut ready, &Ballot::new(placing, manager)).unwrap_err();
            assert_eq!(refused.why, format!("placing {placing} of {manager} is not ready"));
        }
        let wanted = Ballot::new(4, "second");
        assert_eq!(take_ready(&mut ready, &wanted), Ok((order(4, "second"), (), ())));
        assert!(take_ready(&mut ready, &wanted).is_err(), "it is executed by now");
    }
}
