//! One waveform on several nodes: opened everywhere, begun at one instant, watched, and reported as one.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde::Serialize;
use takt_base::Stop;
use takt_runtime::{SinkHash, output_hash};

use super::{Manager, PATIENCE};
use crate::ClusterError;
use crate::message::{End, NodeFacts, Opened, Order, Progress, Request, Start, Started};

/// Making components may take a while.
const OPENING: Duration = Duration::from_secs(60);

/// How long before slot 0 all nodes have to know of it: so much for each.
const LEAD: Duration = Duration::from_millis(400);

/// How often nodes are asked how they are.
const LOOK: Duration = Duration::from_millis(200);

/// What a watcher is told while a waveform runs.
pub struct Watch<'a> {
    /// Slots of the node that is behind all others.
    pub slots: u64,
    /// How each node is.
    pub nodes: &'a BTreeMap<String, Progress>,
}

/// How a run is watched.
pub struct RunOptions<'a> {
    /// Asked to stop: the nodes end at their next slot edge.
    pub stop: &'a Stop,
    /// Called a few times a second.
    pub watch: &'a mut dyn FnMut(Watch<'_>),
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ended {
    /// Its name.
    pub run: String,
    /// What all sinks received, folded, wherever they were; the same as on one machine. 16 hexadecimal digits.
    pub output_hash: Option<String>,
    /// Slots of the node that came least far.
    pub slots: u64,
    /// Slots of components missed, all nodes.
    pub misses: u64,
    /// Node whose clock set the beat.
    pub reference: String,
    /// By node.
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
    /// As `takt run --json` gives it.
    pub report: serde_json::Value,
}

impl Ended {
    /// Whether no slot was missed and no packet broken or dropped, on any node.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let count = |report: &serde_json::Value, key: &str| report.get(key).and_then(serde_json::Value::as_u64);
        let clean = |node: &NodeEnd| {
            let zero = |key| count(&node.report, key) == Some(0);
            node.bridges_broke.is_none() && zero("misses") && zero("broken_packets") && zero("dropped_packets")
        };
        self.nodes.values().all(clean)
    }
}

impl Manager {
    /// Executes an order on the nodes that it names, to its end.
    ///
    /// # Errors
    /// A node refuses or is lost; the others are stopped then.
    pub fn run(&self, order: &Order, nodes: &[NodeFacts], options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let mut names: Vec<String> = order.workers.iter().map(|worker| worker.node.clone()).collect();
        names.sort();
        names.dedup();
        let done = self.open_on(order, &names).and_then(|samples| {
            let reference = self.start(order, &names, nodes, samples)?;
            self.watch(order, &names, reference, options)
        });
        for name in &names {
            // Forgets it where it has ended, ends it where it has not; a node that is lost does so by itself.
            let _ = self.ask_progress(name, &Request::Stop { run: order.run.clone() });
        }
        done
    }

    fn open_on(&self, order: &Order, names: &[String]) -> Result<BTreeMap<String, SocketAddr>, ClusterError> {
        let request = Request::Open(Box::new(order.clone()));
        let open = |name: &String| {
            let opened: Opened = self.control.ask(name, &request, OPENING)?;
            Ok((name.clone(), opened.samples))
        };
        names.iter().map(open).collect()
    }

    /// Starts the reference first, which says when slot 0 begins, then the others.
    fn start(
        &self,
        order: &Order,
        names: &[String],
        nodes: &[NodeFacts],
        samples: BTreeMap<String, SocketAddr>,
    ) -> Result<String, ClusterError> {
        let lost = |name: &str| ClusterError::Silent { node: name.to_owned() };
        let reference = names.first().ok_or_else(|| lost("?"))?;
        let clock = nodes.iter().find(|node| node.node == *reference).ok_or_else(|| lost(reference))?.clock;
        let in_ns = u64::try_from(LEAD.as_nanos()).unwrap_or(u64::MAX).saturating_mul(names.len() as u64);
        let mut start =
            Start { run: order.run.clone(), reference: reference.clone(), clock, in_ns, epoch_ns: None, samples };
        for name in names {
            let started: Started = self.control.ask(name, &Request::Start(start.clone()), PATIENCE)?;
            start.epoch_ns = Some(started.epoch_ns);
        }
        Ok(reference.clone())
    }

    fn watch(
        &self,
        order: &Order,
        names: &[String],
        reference: String,
        options: RunOptions<'_>,
    ) -> Result<Ended, ClusterError> {
        let request = if_stopped(order, options.stop);
        let mut last: BTreeMap<String, Progress> = BTreeMap::new();
        loop {
            let request = request();
            for name in names {
                // What has ended stays as it is.
                if last.get(name).is_none_or(|progress| progress.end.is_none()) {
                    let progress = self.ask_progress(name, &request).map_err(|error| lost(name, error))?;
                    last.insert(name.clone(), progress);
                }
            }
            let slots = last.values().map(|progress| progress.slots).min().unwrap_or(0);
            (options.watch)(Watch { slots, nodes: &last });
            if last.values().all(|progress| progress.end.is_some()) {
                return Ok(ended(order, reference, last));
            }
            std::thread::sleep(LOOK);
        }
    }

    fn ask_progress(&self, node: &str, request: &Request) -> Result<Progress, ClusterError> {
        self.control.ask(node, request, PATIENCE)
    }
}

/// What the nodes are asked next: how they are, or to stop.
fn if_stopped<'a>(order: &Order, stop: &'a Stop) -> impl Fn() -> Request + use<'a> {
    let run = order.run.clone();
    move || {
        let run = run.clone();
        if stop.requested() { Request::Stop { run } } else { Request::Progress { run } }
    }
}

fn lost(node: &str, error: ClusterError) -> ClusterError {
    match error {
        ClusterError::Silent { .. } => {
            ClusterError::Lost { node: node.to_owned(), what: "it does not answer".to_owned() }
        }
        other => other,
    }
}

fn ended(order: &Order, reference: String, last: BTreeMap<String, Progress>) -> Ended {
    let slots = last.values().map(|progress| progress.slots).min().unwrap_or(0);
    let mut sinks: Vec<SinkHash> = Vec::new();
    let mut nodes = BTreeMap::new();
    for (name, progress) in last {
        let Progress { offset_ns, offset_bound_ns, end, .. } = progress;
        let Some(End { report, sinks: own, bridges_broke }) = end else { continue };
        sinks.extend(own);
        nodes.insert(name, NodeEnd { offset_ns, offset_bound_ns, bridges_broke, report });
    }
    // Bridges receive as well; what counts is what the waveform's own sinks did.
    let own = |name: &str| order.workers.iter().any(|worker| worker.components.iter().any(|own| own == name));
    sinks.retain(|sink| own(&sink.component));
    let misses = |node: &NodeEnd| node.report.get("misses").and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ended {
        run: order.run.clone(),
        output_hash: output_hash(&sinks),
        slots,
        misses: nodes.values().map(misses).sum(),
        reference,
        nodes,
    }
}
