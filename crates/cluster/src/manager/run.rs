//! One waveform on several nodes: opened everywhere, begun at one instant, watched, and reported as one.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;
use takt_base::Stop;
use takt_runtime::{SinkHash, output_hash};

use super::takeover::{Loss, Replace};
use super::{Manager, PATIENCE};
use crate::ClusterError;
use crate::membership::Membership;
use crate::message::{End, NodeFacts, Opened, Order, Progress, Request, Start, Started};
use crate::node::run::voters;

/// Making components may take a while.
const OPENING: Duration = Duration::from_secs(60);

/// How long before slot 0 all nodes have to know of it: so much for each.
pub(super) const LEAD: Duration = Duration::from_millis(400);

/// How often nodes are asked how they are, and how long one may take to say.
const LOOK: Duration = Duration::from_millis(100);
const WORD: Duration = Duration::from_millis(500);

/// When no node answers for so long there is nothing left to watch.
const SILENCE: Duration = Duration::from_secs(10);

/// What a watcher is told while a waveform runs.
pub struct Watch<'a> {
    /// The slot of the node that is behind all others.
    pub slot: u64,
    /// How each node is.
    pub nodes: &'a BTreeMap<String, Progress>,
    /// Nodes lost so far, and what became of what they did.
    pub losses: &'a [Loss],
}

/// How a run is watched.
pub struct RunOptions<'a> {
    /// Asked to stop: the nodes end at their next slot edge.
    pub stop: &'a Stop,
    /// Called a few times a second.
    pub watch: &'a mut dyn FnMut(Watch<'_>),
    /// Says where the components of lost nodes go. `None`: a run ends with the first node that is lost.
    pub replace: Option<&'a Replace<'a>>,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ended {
    /// Its name.
    pub run: String,
    /// What all sinks received, folded, wherever they were; the same as on one machine. 16 hexadecimal digits; `None` where a
    /// node was lost.
    pub output_hash: Option<String>,
    /// Slots of the node that came least far.
    pub slots: u64,
    /// Slots of components missed, all nodes.
    pub misses: u64,
    /// Node whose clock set the beat at the end.
    pub reference: String,
    /// Nodes lost on the way.
    pub losses: Vec<Loss>,
    /// By node, those that came to the end.
    pub nodes: BTreeMap<String, NodeEnd>,
}

/// What became of a run on one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeEnd {
    /// The reference's clock less the node's when it was last asked, and how far off that is at most.
    pub offset_ns: i64,
    /// The same.
    pub offset_bound_ns: u64,
    /// Why its bridges broke, if they did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bridges_broke: Option<String>,
    /// Whether it ended because too few others received its heartbeats.
    pub cut_off: bool,
    /// As `takt run --json` gives it.
    pub report: serde_json::Value,
}

impl Ended {
    /// Whether no node was lost, no slot missed and no packet broken or dropped, on any node.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let count = |report: &serde_json::Value, key: &str| report.get(key).and_then(serde_json::Value::as_u64);
        let clean = |node: &NodeEnd| {
            let zero = |key| count(&node.report, key) == Some(0);
            let whole = node.bridges_broke.is_none() && !node.cut_off;
            whole && zero("misses") && zero("broken_packets") && zero("dropped_packets")
        };
        self.losses.is_empty() && self.nodes.values().all(clean)
    }
}

/// A run as its manager sees it.
pub(super) struct Watched<'a> {
    pub(super) order: Order,
    pub(super) names: Vec<String>,
    pub(super) facts: &'a [NodeFacts],
    pub(super) reference: String,
    pub(super) members: Membership,
    pub(super) last: BTreeMap<String, Progress>,
    pub(super) losses: Vec<Loss>,
}

impl Manager {
    /// Executes an order on the nodes that it names, to its end.
    ///
    /// # Errors
    /// A node refuses or is lost and nobody takes over; the others are stopped then.
    pub fn run(&self, order: &Order, facts: &[NodeFacts], mut options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let mut names: Vec<String> = order.workers.iter().map(|worker| worker.node.clone()).collect();
        names.sort();
        names.dedup();
        let members = Membership::start(&self.control, &order.manager)?;
        members.promise(&order.run, order.placing);
        let (last, losses) = (BTreeMap::new(), Vec::new());
        let reference = String::new();
        let mut watched =
            Watched { order: order.clone(), names: names.clone(), facts, reference, members, last, losses };
        let done = self.begin(&mut watched).and_then(|()| self.watch(&mut watched, &mut options));
        for name in &watched.names {
            // Forgets it where it has ended, ends it where it has not; a node that is lost does so by itself.
            let _ = self.ask_progress(name, &Request::Stop { run: order.run.clone() }, PATIENCE);
        }
        done.map(|()| ended(watched))
    }

    fn begin(&self, watched: &mut Watched<'_>) -> Result<(), ClusterError> {
        let request = Request::Open(Box::new(watched.order.clone()));
        let samples = self.samples(watched, &request)?;
        self.start(watched, samples)
    }

    /// Where each node's samples go, as it answers to a question.
    pub(super) fn samples(
        &self,
        watched: &Watched<'_>,
        request: &Request,
    ) -> Result<BTreeMap<String, SocketAddr>, ClusterError> {
        let ask = |name: &String| {
            let opened: Opened = self.control.ask(name, request, OPENING)?;
            Ok((name.clone(), opened.samples))
        };
        watched.names.iter().map(ask).collect()
    }

    /// Starts the reference first, which says when slot 0 begins, then the others.
    fn start(&self, watched: &mut Watched<'_>, samples: BTreeMap<String, SocketAddr>) -> Result<(), ClusterError> {
        let (reference, clock) = watched.clock(None)?;
        let in_ns = u64::try_from(LEAD.as_nanos()).unwrap_or(u64::MAX).saturating_mul(watched.names.len() as u64);
        let run = watched.order.run.clone();
        let mut start = Start { run, reference: reference.clone(), clock, in_ns, epoch_ns: None, samples };
        for name in &watched.names {
            let started: Started = self.control.ask(name, &Request::Start(start.clone()), PATIENCE)?;
            start.epoch_ns = Some(started.epoch_ns);
        }
        watched.reference = reference;
        Ok(())
    }

    fn watch(&self, watched: &mut Watched<'_>, options: &mut RunOptions<'_>) -> Result<(), ClusterError> {
        let mut answered = Instant::now();
        loop {
            let run = watched.order.run.clone();
            let request = if options.stop.requested() { Request::Stop { run } } else { Request::Progress { run } };
            let (gone, any) = self.look(watched, &request)?;
            if any {
                answered = Instant::now();
            } else if answered.elapsed() > SILENCE {
                let node = watched.names.join(", ");
                return Err(ClusterError::Lost { node, what: "no node answers".to_owned() });
            }
            if !gone.is_empty() {
                self.take_over(watched, &gone, options.replace)?;
            }
            (options.watch)(Watch { slot: watched.slot(), nodes: &watched.last, losses: &watched.losses });
            if watched.names.iter().all(|name| watched.has_ended(name)) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks every node how it is. The nodes that are lost, and whether anything is known of any.
    fn look(&self, watched: &mut Watched<'_>, request: &Request) -> Result<(Vec<String>, bool), ClusterError> {
        let mut gone = watched.members.lost(&voters(&watched.order));
        gone.retain(|name| watched.names.contains(name));
        let mut any = false;
        for name in watched.names.clone() {
            // What has ended stays as it is.
            if watched.has_ended(&name) || gone.contains(&name) {
                any = true;
                continue;
            }
            match self.ask_progress(&name, request, WORD) {
                Ok(progress) => {
                    any = true;
                    watched.last.insert(name, progress);
                }
                // It was started anew and knows nothing of the run.
                Err(ClusterError::Refused { .. }) => gone.push(name),
                Err(ClusterError::Silent { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        gone.extend(watched.last.iter().filter(|(_, progress)| cut_off(progress)).map(|(name, _)| name.clone()));
        gone.sort();
        gone.dedup();
        Ok((gone, any))
    }

    pub(super) fn ask_progress(
        &self,
        node: &str,
        request: &Request,
        patience: Duration,
    ) -> Result<Progress, ClusterError> {
        self.control.ask(node, request, patience)
    }
}

impl Watched<'_> {
    /// The node whose clock sets the beat, and where it is asked; `keep` where that node is still there.
    pub(super) fn clock(&self, keep: Option<&String>) -> Result<(String, SocketAddr), ClusterError> {
        let name = keep.filter(|name| self.names.contains(name)).or(self.names.first());
        let silent = || ClusterError::Silent { node: name.cloned().unwrap_or_default() };
        let facts = self.facts.iter().find(|facts| Some(&facts.node) == name).ok_or_else(silent)?;
        Ok((facts.node.clone(), facts.clock))
    }

    fn has_ended(&self, name: &str) -> bool {
        self.last.get(name).is_some_and(|progress| progress.end.is_some())
    }

    /// The slot of the node that is behind all others.
    fn slot(&self) -> u64 {
        self.last.values().map(|progress| progress.slot).min().unwrap_or(0)
    }
}

fn cut_off(progress: &Progress) -> bool {
    progress.end.as_ref().is_some_and(|end| end.cut_off)
}

fn ended(watched: Watched<'_>) -> Ended {
    let slots = watched.slot();
    let Watched { order, reference, last, losses, .. } = watched;
    let mut sinks: Vec<SinkHash> = Vec::new();
    let mut nodes = BTreeMap::new();
    for (name, progress) in last {
        let Progress { offset_ns, offset_bound_ns, end, .. } = progress;
        let Some(End { report, sinks: own, bridges_broke, cut_off }) = end else { continue };
        sinks.extend(own);
        nodes.insert(name, NodeEnd { offset_ns, offset_bound_ns, bridges_broke, cut_off, report });
    }
    // Bridges receive as well; what counts is what the waveform's own sinks did.
    let own = |name: &str| order.workers.iter().any(|worker| worker.components.iter().any(|own| own == name));
    sinks.retain(|sink| own(&sink.component));
    let misses = |node: &NodeEnd| node.report.get("misses").and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ended {
        run: order.run.clone(),
        output_hash: if losses.is_empty() { output_hash(&sinks) } else { None },
        slots,
        misses: nodes.values().map(misses).sum(),
        reference,
        losses,
        nodes,
    }
}
