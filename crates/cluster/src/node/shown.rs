//! A node as its watchers see it: the nodes of its cluster, and its own part of what runs.
//!
//! A node hears what others publish of themselves only while somebody watches. Zenoh brings it on threads of its own.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use takt_live::{Board, Component, Node as Seen, Slots, Snapshot, limits};
use zenoh::pubsub::Subscriber;

use super::Node;
use super::run::Run;
use crate::ClusterError;
use crate::control::Control;
use crate::message::NodeFacts;

/// Between two snapshots.
const EVERY: Duration = Duration::from_millis(200);
/// A node is silent once it has published nothing for so long: three times the usual.
const SILENT: Duration = Duration::from_secs(3);

/// Nodes that were heard, and when.
type Heard = BTreeMap<String, (Instant, Seen)>;

/// Shows a node on a board.
pub(super) struct Shown {
    board: Board,
    kept: Option<Instant>,
    others: Option<Others>,
}

/// Other nodes, as long as somebody watches.
struct Others {
    heard: Arc<Mutex<Heard>>,
    _hears: Subscriber<()>,
}

impl Others {
    fn listen(control: &Control) -> Result<Others, ClusterError> {
        let heard = Arc::new(Mutex::new(Heard::new()));
        let (hearing, own) = (Arc::clone(&heard), control.node().to_owned());
        let hears = control.statistics(move |facts| {
            if facts.node != own {
                note(&mut hearing.lock().unwrap_or_else(PoisonError::into_inner), &facts, Instant::now());
            }
        })?;
        Ok(Others { heard, _hears: hears })
    }

    fn now(&self) -> Vec<Seen> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.values().map(|(at, seen)| Seen { alive: at.elapsed() < SILENT, ..seen.clone() }).collect()
    }
}

/// Remembers a node, if there is room for one more.
fn note(heard: &mut Heard, facts: &NodeFacts, now: Instant) {
    if heard.len() < limits::NODES || heard.contains_key(&facts.node) {
        heard.insert(facts.node.clone(), (now, seen(facts)));
    }
}

/// A node by its own word.
fn seen(facts: &NodeFacts) -> Seen {
    let waveforms = facts.runs.iter().take(limits::WAVEFORMS + 1).map(|run| run.waveform.clone()).collect();
    let load = (!facts.cores.is_empty()).then(|| facts.busy.len() as f64 / facts.cores.len() as f64);
    Seen { name: facts.node.clone(), alive: true, waveforms, load }
}

impl Shown {
    pub(super) fn on(board: Board) -> Shown {
        Shown { board, kept: None, others: None }
    }
}

impl Node {
    /// Shows the node on this board, while somebody looks.
    pub fn watched_on(&mut self, board: Board) {
        self.shown = Some(Shown::on(board));
    }

    /// Keeps a snapshot for who watches, if it is time for one.
    pub(super) fn show(&mut self) {
        let Some(mut shown) = self.shown.take() else { return };
        if !shown.board.is_watched() {
            shown.others = None;
        } else if shown.kept.is_none_or(|at| at.elapsed() >= EVERY) {
            shown.kept = Some(Instant::now());
            if shown.others.is_none() {
                // Without the others it shows itself; the next turn tries again.
                shown.others = Others::listen(&self.control).ok();
            }
            shown.board.keep(self.snapshot(shown.others.as_ref()));
        }
        self.shown = Some(shown);
    }

    fn snapshot(&self, others: Option<&Others>) -> Snapshot {
        let others = others.map(Others::now).unwrap_or_default();
        let nodes = [seen(&self.facts())].into_iter().chain(others).collect();
        let executing: Vec<&Run> = self.runs.iter().filter(|run| run.is_executing()).collect();
        // Slots of several waveforms have nothing in common.
        let slots = if let [only] = &executing[..] { Some(only.slots()) } else { None };
        let prefixed = executing.len() > 1;
        let components = executing.iter().flat_map(|run| run.components(prefixed)).collect();
        Snapshot { nodes, slots, components, ..Snapshot::default() }
    }
}

impl Run {
    /// Its slots; misses are those of the components here.
    fn slots(&self) -> Slots {
        let misses = self.tally().iter().map(|one| one.missed + one.late).sum();
        Slots { count: self.slot(), slot_ns: Some(self.slot_ns()), misses: Some(misses), ..Slots::default() }
    }

    /// Its components here, `prefixed` with the name of the waveform.
    fn components(&self, prefixed: bool) -> Vec<Component> {
        let slot_ns = self.slot_ns() as f64;
        let component = |one: takt_runtime::ComponentTally| {
            let mean_ns = (one.executions > 0).then(|| one.sum_ns as f64 / one.executions as f64);
            Component {
                name: if prefixed { format!("{}.{}", self.waveform(), one.name) } else { one.name },
                executions: Some(one.executions),
                misses: Some(one.missed + one.late),
                load_share: mean_ns.map(|mean_ns| mean_ns / slot_ns),
                ..Component::default()
            }
        };
        self.tally().into_iter().map(component).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(name: &str, busy: &str) -> NodeFacts {
        let text = format!(
            r#"{{"node": "{name}", "version": "1", "class": "x", "capacities": {{}}, "cores": [1, 2], "busy": {busy},
            "bytes_per_s": 1.0, "clock": "10.0.0.1:7", "runs": [{{"run": "r", "tenant": "blue", "waveform": "utran",
            "components": [], "slot": 1, "manager": "m", "watched": true}}]}}"#
        );
        serde_json::from_str(&text).expect("facts")
    }

    #[test]
    fn a_node_is_shown_by_its_own_word_and_the_last_counts() {
        let mut heard = Heard::new();
        note(&mut heard, &facts("b", "[]"), Instant::now());
        note(&mut heard, &facts("b", "[1]"), Instant::now());
        let (_, seen) = &heard["b"];
        assert_eq!((seen.load, seen.alive, &seen.waveforms[..]), (Some(0.5), true, &["utran".to_owned()][..]));
        let none = NodeFacts { cores: Vec::new(), ..facts("c", "[]") };
        assert_eq!(super::seen(&none).load, None, "it offers no core");
    }

    #[test]
    fn names_without_end_fill_no_memory() {
        let mut heard = Heard::new();
        (0..2 * limits::NODES).for_each(|n| note(&mut heard, &facts(&format!("n{n}"), "[]"), Instant::now()));
        assert_eq!(heard.len(), limits::NODES);
        note(&mut heard, &facts("n0", "[1]"), Instant::now());
        assert_eq!(heard["n0"].1.load, Some(0.5), "one that is known is heard on");
    }
}
