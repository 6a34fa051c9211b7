//! One waveform on several nodes: opened everywhere, begun at one instant, watched, and reported as one.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde::Serialize;
use takt_base::Stop;
use takt_runtime::{SinkHash, output_hash};

use super::each::each;
use super::ending::Silence;
use super::watched::{Loss, Watched, cut_off, lead};
use super::{Manager, PATIENCE, Placer};
use crate::clock::ClockFacts;
use crate::membership::Membership;
use crate::message::{End, Opened, Order, Progress, Request, Start, Started};
use crate::seal::Sealed;
use crate::{ClusterError, Trace};

/// Making components may take a while.
const OPENING: Duration = Duration::from_secs(60);

/// How often the progress of nodes is requested, and how long one may take to answer.
pub(crate) const LOOK: Duration = Duration::from_millis(100);
const WORD: Duration = Duration::from_millis(500);

/// Data for a watcher while a waveform runs.
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
    /// The run is to stop: the nodes end at their next slot edge.
    pub stop: &'a Stop,
    /// Called a few times a second.
    pub watch: &'a mut dyn FnMut(Watch<'_>),
    /// Reaction to the loss of a node.
    pub on_loss: OnLoss,
    /// Trace of the manager's actions.
    pub trace: &'a Trace,
}

/// Answer to a node that is lost, or too slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnLoss {
    /// Other nodes take over its components.
    Move,
    /// A lost node ends the run; a slow one changes nothing.
    Stop,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ended {
    /// Its name.
    pub run: String,
    /// Hash of what all sinks received, wherever they were; the same as on one machine. 16 hexadecimal digits; `None`
    /// where a node was lost or cut off.
    pub output_hash: Option<String>,
    /// Slots of the node that came least far.
    pub slots: u64,
    /// Slots of components missed, all nodes.
    pub misses: u64,
    /// Node whose clock set the beat at the end.
    pub reference: String,
    /// Nodes lost on the way.
    pub losses: Vec<Loss>,
    /// Objections to the nodes' clocks.
    pub warnings: Vec<String>,
    /// By node, those that came to the end.
    pub nodes: BTreeMap<String, NodeEnd>,
}

/// End of a run on one node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeEnd {
    /// The reference's clock less the node's at the last request, and how far off that is at most.
    pub offset_ns: i64,
    /// The same.
    pub offset_bound_ns: u64,
    /// Clock of its slots, and what is known of that.
    pub clock: ClockFacts,
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

impl Manager {
    /// The name of this manager among the members of the cluster. No other has it: processes of two containers may have one
    /// number and one folder.
    #[must_use]
    pub fn member(&self) -> String {
        format!("manager-{}-{}", self.control.node(), self.drawn)
    }

    /// The name of the run of a waveform by this manager: no other manager has one of that name.
    #[must_use]
    pub fn run_name(&self, waveform: &str) -> String {
        format!("{waveform}-{}-{}", self.control.node(), self.drawn)
    }

    /// Executes an order on the nodes that it names, to its end.
    ///
    /// # Errors
    /// A node refuses or is lost and nobody takes over; the others are stopped then. Another manager watches over it by now.
    pub fn run(&self, order: &Order, placer: &Placer<'_>, options: RunOptions<'_>) -> Result<Ended, ClusterError> {
        let trace = options.trace;
        trace.span("takt.run", &[("takt.run", &order.run), ("takt.manager", &order.manager)], || {
            let members = Membership::start(&self.control, &order.manager)?;
            members.join(&order.run, order.ballot())?;
            let mut watched = Watched::new(order.clone(), String::new(), members, trace);
            let begun = self.begin(&mut watched);
            self.finish(watched, begun, placer, options)
        })
    }

    /// Watches over a run to its end, where it has begun.
    pub(super) fn finish(
        &self,
        mut watched: Watched<'_>,
        begun: Result<(), ClusterError>,
        placer: &Placer<'_>,
        mut options: RunOptions<'_>,
    ) -> Result<Ended, ClusterError> {
        let done = begun.and_then(|()| self.watch(&mut watched, placer, &mut options));
        let trace = watched.trace;
        let stop = Request::Stop { run: watched.order.run.clone(), manager: Some(watched.order.manager.clone()) };
        let forgotten = |name: &String| options.stop.requested() && watched.has_ended(name);
        let left: Vec<String> = watched.names.iter().filter(|name| !forgotten(name)).cloned().collect();
        // Forgets it where it has ended, ends it where it has not; a node that is lost does so by itself, and one that has
        // another manager by now refuses.
        let _ = each(&left, |name| {
            trace.leaf("takt.stop", &[("takt.node", name)], || self.ask_progress(name, &stop, PATIENCE))
        });
        done.map(|()| ended(watched))
    }

    fn begin(&self, watched: &mut Watched<'_>) -> Result<(), ClusterError> {
        let request = Request::Open(Box::new(watched.order.clone()));
        let trace = watched.trace;
        let open = |name: &String| -> Result<Opened, ClusterError> {
            let began = Instant::now();
            let opened = trace.leaf("takt.open", &[("takt.node", name)], || self.control.ask(name, &request, OPENING));
            opened.map_err(|error| if began.elapsed() < OPENING { error } else { unopened(error) })
        };
        // Address at which each node takes samples, in its own words.
        let stated = each(&watched.names, open).into_iter().map(|(name, opened)| Ok((name, opened?.statement)));
        let statements = stated.collect::<Result<_, ClusterError>>()?;
        let all_there = || Ok(watched.members.wait_for(&watched.order.run, watched.voters(), PATIENCE));
        // A node that others can't reach now is found lost in a moment: others go on without it, if that is wanted.
        let _ = watched.trace.leaf("takt.wait-for-heartbeats", &[], all_there)?;
        self.start(watched, statements)
    }

    /// Starts the reference first, which says when slot 0 begins, then the others.
    fn start(&self, watched: &mut Watched<'_>, statements: BTreeMap<String, Sealed>) -> Result<(), ClusterError> {
        let reference = watched.reference(None)?;
        let in_ns = u64::try_from(lead(watched.names.len()).as_nanos()).unwrap_or(u64::MAX);
        let run = watched.order.run.clone();
        let start = Start { run, reference: reference.clone(), in_ns, epoch_ns: None, ptp: None, statements };
        let trace = watched.trace;
        let ask = |name: &String, start: Start| -> Result<Started, ClusterError> {
            let request = Request::Start(start);
            trace.leaf("takt.start", &[("takt.node", name)], || self.control.ask(name, &request, PATIENCE))
        };
        let Started { epoch_ns, ptp, .. } = ask(&reference, start.clone())?;
        let start = Start { epoch_ns: Some(epoch_ns), ptp, ..start };
        for (_, started) in each(&watched.others(&reference), |name| ask(name, start.clone())) {
            started?;
        }
        watched.reference = reference;
        Ok(())
    }

    fn watch(
        &self,
        watched: &mut Watched<'_>,
        placer: &Placer<'_>,
        options: &mut RunOptions<'_>,
    ) -> Result<(), ClusterError> {
        let placer = (options.on_loss == OnLoss::Move).then_some(placer);
        let mut silence = Silence::new(Instant::now());
        loop {
            let (run, manager) = (watched.order.run.clone(), Some(watched.order.manager.clone()));
            let stops = options.stop.requested();
            let request = if stops { Request::Stop { run, manager } } else { Request::Progress { run } };
            let begun = Instant::now();
            let (mut gone, asked) = self.look(watched, &request)?;
            watched.is_ours()?;
            let is_silent = silence.is_too_long(begun, &asked, &watched.silent, Instant::now());
            let over = watched.is_over(stops);
            if over {
                // One that was cut off has ended: what it did is kept.
                gone.retain(|name| !watched.has_ended(name));
            }
            if !gone.is_empty() && over {
                watched.leave_out(&gone, "no heartbeat comes from it, or it did not say how it ended")?;
            } else if !gone.is_empty() {
                self.take_over(watched, &gone, "no heartbeat comes from it, or it was started anew", placer, None)?;
            } else if is_silent {
                watched.leave_out(&asked, "it does not answer")?;
            } else if let Some(placer) = placer.filter(|_| !over) {
                self.take_over_from_slow(watched, placer)?;
            }
            (options.watch)(Watch { slot: watched.slot(), nodes: &watched.last, losses: &watched.losses });
            if watched.names.iter().all(|name| watched.has_ended(name)) {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Asks every node how it is that is there and has not ended. The nodes that are lost, and those that were asked.
    fn look(&self, watched: &mut Watched<'_>, request: &Request) -> Result<(Vec<String>, Vec<String>), ClusterError> {
        let mut gone = watched.members.lost(&watched.order.run, watched.voters());
        // A node that has ended stays as it is, though no heartbeats come from it any more.
        gone.retain(|name| watched.names.contains(name) && !watched.has_ended(name));
        let asked: Vec<String> =
            watched.names.iter().filter(|name| !watched.has_ended(name) && !gone.contains(name)).cloned().collect();
        let answers = each(&asked, |name| self.how_is(watched, name, request));
        for (name, progress) in answers {
            match progress {
                Ok(progress) => {
                    watched.silent.remove(&name);
                    watched.last.insert(name, progress);
                }
                // It was started anew and knows nothing of the run; or it has ended it, and its answer was lost.
                Err(ClusterError::Refused { .. }) => {
                    watched.silent.remove(&name);
                    gone.push(name);
                }
                Err(ClusterError::Silent { .. }) => {
                    *watched.unanswered.entry(name.clone()).or_default() += 1;
                    watched.silent.insert(name);
                }
                Err(error) => return Err(error),
            }
        }
        gone.extend(watched.last.iter().filter(|(_, progress)| cut_off(progress)).map(|(name, _)| name.clone()));
        gone.sort();
        gone.dedup();
        Ok((gone, asked))
    }

    /// Progress by a node's own words. One that refuses to stop may have another manager by now: then it says that.
    fn how_is(&self, watched: &Watched<'_>, name: &str, request: &Request) -> Result<Progress, ClusterError> {
        let asked = self.ask_progress(name, request, patience(request));
        if !matches!(asked, Err(ClusterError::Refused { .. })) {
            return asked;
        }
        let question = Request::Progress { run: watched.order.run.clone() };
        match self.ask_progress(name, &question, WORD) {
            Ok(progress) if progress.manager != watched.order.manager => Ok(progress),
            _ => asked,
        }
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

/// A node that has not answered in all that time that a run is open may answer everything else.
fn unopened(error: ClusterError) -> ClusterError {
    match error {
        ClusterError::Silent { node } => ClusterError::Unopened { node, within_s: OPENING.as_secs() },
        other => other,
    }
}

/// How long a node may take to answer. To end a run is work, on a busy machine of more than [`WORD`]; and who asks a second time
/// learns that the node knows no such run, as if it had been started anew.
fn patience(request: &Request) -> Duration {
    if matches!(request, Request::Stop { .. }) { PATIENCE } else { WORD }
}

fn ended(watched: Watched<'_>) -> Ended {
    let slots = watched.slot();
    let Watched { order, reference, last, losses, .. } = watched;
    let mut sinks: Vec<SinkHash> = Vec::new();
    let (mut nodes, mut warnings) = (BTreeMap::new(), Vec::new());
    for (name, progress) in last {
        let Progress { offset_ns, offset_bound_ns, clock, end, .. } = progress;
        let Some(End { report, sinks: own, bridges_broke, cut_off }) = end else { continue };
        sinks.extend(own);
        warnings.extend(clock.warnings(&name));
        nodes.insert(name, NodeEnd { offset_ns, offset_bound_ns, clock, bridges_broke, cut_off, report });
    }
    // Bridges receive as well; what counts is what the waveform's own sinks did.
    let own = |name: &str| order.workers.iter().any(|worker| worker.components.iter().any(|own| own == name));
    sinks.retain(|sink| own(&sink.component));
    let whole = losses.is_empty() && nodes.values().all(|node| !node.cut_off);
    let misses = |node: &NodeEnd| node.report.get("misses").and_then(serde_json::Value::as_u64).unwrap_or(0);
    Ended {
        run: order.run.clone(),
        output_hash: if whole { output_hash(&sinks) } else { None },
        slots,
        misses: nodes.values().map(misses).sum(),
        reference,
        losses,
        warnings,
        nodes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_may_take_longer_to_end_a_run_than_to_say_how_it_is() {
        let run = || "run".to_owned();
        assert_eq!(patience(&Request::Progress { run: run() }), WORD);
        assert_eq!(patience(&Request::Stop { run: run(), manager: None }), PATIENCE);
        assert!(PATIENCE > WORD);
    }
}
