//! Report of a run.

use std::collections::BTreeMap;

use serde::Serialize;
use takt_graph::{Component, Graph, OutputShape, Plan, Value};
use takt_stats::{Histogram, Ns};

use super::hash::{SinkHash, output_hash};
use super::miss::{Miss, explain};
use super::outcome::Outcome;
use crate::port::{BrokenPacket, Losses};
use crate::soft::Outgoing;
use crate::stats::{BOUND_NS, TraceEvent};
use crate::worker::Worker;

/// A run's results, how long it took, and what went wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The waveform.
    pub waveform: String,
    /// Logical slots that every component went through, executed or missed.
    pub slots: u64,
    /// Length of a slot, nanoseconds.
    pub slot_ns: u64,
    /// Slots between what a source makes and the last component that depends on it.
    pub latency_slots: u32,
    /// Logical slots of components that were missed, faults and late ends included.
    pub misses: u64,
    /// Packets of all components that were refused ([`OutputReport::broken_packets`]).
    pub broken_packets: u64,
    /// Packets of all components that a consumer did not get ([`OutputReport::dropped_packets`]).
    pub dropped_packets: u64,
    /// Executions of the longest burst that was timed as a whole
    /// ([`SessionOptions::burst`](crate::SessionOptions::burst)): execution times are means over so many at most.
    /// 1: each was timed.
    pub burst: u64,
    /// Components, in the order of the waveform.
    pub components: Vec<ComponentReport>,
    /// Workers.
    pub workers: Vec<WorkerReport>,
    /// From the edge of a slot to its release, all workers; `None` under a free clock.
    pub lateness: Option<Quantiles>,
    /// Hash of what the sinks received, if it was requested. 16 hexadecimal digits.
    pub output_hash: Option<String>,
    /// The same of each input of each sink. [`output_hash`](crate::output_hash) folds those of several machines into one.
    #[serde(skip)]
    pub sink_hashes: Vec<SinkHash>,
    /// Misses with who is to blame; the first 256 of each worker.
    pub miss_list: Vec<Miss>,
    /// Misses beyond those in the list.
    pub misses_beyond: u64,
    /// Settings that the host granted, among those requested.
    pub granted: Granted,
    /// Executions that are not in the log, because its reader was behind.
    pub log_dropped: u64,
}

/// Real-time settings that the host granted, among those requested.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Granted {
    /// Whether all memory of the process was locked.
    pub memory_locked: bool,
    /// Why it was not, where it was asked for.
    pub memory_refused: Option<String>,
    /// The `SCHED_FIFO` priority that all workers had.
    pub fifo_priority: Option<u8>,
    /// Why they had not, where it was asked for.
    pub priority_refused: Option<String>,
}

/// Report of one component.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ComponentReport {
    pub name: String,
    pub kind: String,
    /// The worker that has it; `None` for a component of an earlier waveform.
    pub worker: Option<usize>,
    /// Physical slot of its logical slot 0.
    pub depth: u32,
    pub executions: u64,
    /// Execution times.
    pub execution: Option<Quantiles>,
    /// Logical slots not executed, or of which nothing came from outside.
    pub missed: u64,
    /// Slots among these of which nothing came from outside: the component said so by [`Io::lose`](crate::Io::lose).
    pub lost: u64,
    /// Executions that ended behind their deadline.
    pub late: u64,
    pub faults: u64,
    /// How often its process was started again; of an isolated component.
    pub restarts: u64,
    /// Whether it had to use its cheaper mode.
    pub degraded: bool,
    /// Packets that should have been there and were not, all inputs.
    pub missing_packets: u64,
    /// Packets a consumer did not get because it was behind, all outputs.
    pub dropped_packets: u64,
    /// Packets refused because they had a number of items that the shape does not allow, all outputs.
    pub broken_packets: u64,
    /// The same by output, in the order of its ports.
    pub outputs: Vec<OutputReport>,
    /// Its results.
    pub results: BTreeMap<String, Value>,
    /// All execution times, for more than quantiles.
    #[serde(skip)]
    pub histogram: Histogram<Ns>,
}

/// Fate of the packets of one output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OutputReport {
    /// Its name.
    pub name: String,
    /// Packets a consumer did not get because it was behind.
    pub dropped_packets: u64,
    /// Packets refused because they had a number of items that the shape does not allow: consumers got empty ones.
    pub broken_packets: u64,
    /// The first of these.
    pub first_broken: Option<BrokenPacket>,
}

/// Report of one worker.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerReport {
    /// Physical slots.
    pub slots: u64,
    /// From the release of its first slot to the end of its last, by its own clock.
    pub elapsed_ns: u64,
    /// From release to the end of the last entry; of slots in one burst, each the same part of it.
    pub busy: Option<Quantiles>,
    /// From edge to release; `None` under a free clock.
    pub lateness: Option<Quantiles>,
    /// Changes of the plan or the waveform that it took part in.
    pub changes: u64,
    /// From the edge of a change until the worker had its new components and had executed what they were behind.
    pub change: Option<Quantiles>,
    /// How long before an edge it stopped sleeping and watched the clock, at the end of the run; 0 under a free clock.
    pub spin_ns: u64,
    /// How long it watched the clock, in all: what its punctuality cost its core.
    pub watched_ns: u64,
    /// From the end of an execution to where the next component computes, of one in 64: completing packets, opening ports. It
    /// is within the execution times. `None` of bursts.
    pub interface: Option<Quantiles>,
    /// All of `busy`, for more than quantiles.
    #[serde(skip)]
    pub busy_histogram: Histogram<Ns>,
    /// All of `lateness`.
    #[serde(skip)]
    pub lateness_histogram: Histogram<Ns>,
    /// Its last executions, oldest first.
    #[serde(skip)]
    pub trace: Vec<TraceEvent>,
}

/// Quantiles of a histogram, nanoseconds; `None` where they lie beyond its bound of a second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Quantiles {
    pub mean_ns: Option<f64>,
    pub min_ns: u64,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p999_ns: Option<u64>,
    pub max_ns: u64,
}

impl Quantiles {
    /// Quantiles of a histogram; `None` of an empty one.
    #[must_use]
    pub fn of(histogram: &Histogram<Ns>) -> Option<Quantiles> {
        Some(Quantiles {
            mean_ns: histogram.mean(),
            min_ns: histogram.min()?,
            p50_ns: histogram.quantile(0.5),
            p99_ns: histogram.quantile(0.99),
            p999_ns: histogram.quantile(0.999),
            max_ns: histogram.max()?,
        })
    }
}

impl Report {
    /// Whether every component made every slot in time, and every packet came to all its consumers as its shape says.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        (self.misses, self.broken_packets, self.dropped_packets) == (0, 0, 0)
    }
}

/// Makes the report of workers that have ended. `known`: all components there were, by id; `left_behind`: those of
/// earlier waveforms that have no successor.
pub(crate) fn report(
    graph: &Graph,
    plan: &Plan,
    workers: &[Worker],
    known: &[Component],
    left_behind: Vec<Outcome>,
) -> Report {
    let entries = workers.iter().enumerate().flat_map(|(worker, w)| w.table.entries.iter().map(move |e| (worker, e)));
    let slots = entries.clone().map(|(_, entry)| entry.next).min().unwrap_or(0);
    let running = entries.map(|(worker, entry)| (Some(worker), Outcome::of(entry)));
    let mut all: Vec<_> = running.chain(left_behind.into_iter().map(|outcome| (None, outcome))).collect();
    all.sort_by_key(|(_, outcome)| outcome.id);
    let hashes = all.iter().flat_map(|(_, Outcome { id, hashes, .. })| hashes.iter().map(move |hash| (*id, *hash)));
    let sink = |(id, (port, hash)): (usize, (usize, u64))| SinkHash { component: known[id].name.clone(), port, hash };
    let hashes: Vec<SinkHash> = hashes.map(sink).collect();
    let components: Vec<ComponentReport> =
        all.into_iter().map(|(worker, outcome)| component(&known[outcome.id], worker, outcome)).collect();
    let mut lateness = Histogram::with_bound(BOUND_NS);
    for worker in workers {
        // All of one bound.
        let _ = lateness.merge(&worker.stats.lateness);
    }
    let misses = components.iter().map(|component| component.missed + component.late + component.faults).sum();
    Report {
        waveform: graph.name().to_owned(),
        slots,
        slot_ns: graph.slot_ns(),
        latency_slots: plan.latency_slots(),
        misses,
        broken_packets: components.iter().map(|component| component.broken_packets).sum(),
        dropped_packets: components.iter().map(|component| component.dropped_packets).sum(),
        burst: workers.iter().map(|worker| worker.stats.burst).max().unwrap_or(1),
        lateness: Quantiles::of(&lateness),
        output_hash: output_hash(&hashes),
        sink_hashes: hashes,
        miss_list: explain(known, &components, workers),
        granted: Granted::default(),
        log_dropped: workers.iter().filter_map(|worker| worker.stats.log.as_ref()).map(Outgoing::dropped).sum(),
        misses_beyond: workers.iter().map(|worker| worker.stats.misses_beyond).sum(),
        workers: workers.iter().map(worker_report).collect(),
        components,
    }
}

fn component(known: &Component, worker: Option<usize>, outcome: Outcome) -> ComponentReport {
    let histogram = outcome.live.histogram();
    let named = known.shape.outputs.iter().zip(outcome.losses);
    let outputs: Vec<OutputReport> = named.map(|(shape, losses)| output(shape, losses)).collect();
    ComponentReport {
        name: known.name.clone(),
        kind: known.kind.clone(),
        worker,
        depth: u32::try_from(outcome.depth).unwrap_or(u32::MAX),
        executions: histogram.len(),
        execution: Quantiles::of(&histogram),
        missed: outcome.live.missed.get(),
        lost: outcome.live.lost.get(),
        late: outcome.live.late.get(),
        faults: outcome.live.faults.get(),
        restarts: outcome.restarts,
        degraded: outcome.degraded,
        missing_packets: outcome.missing_packets,
        dropped_packets: outputs.iter().map(|output| output.dropped_packets).sum(),
        broken_packets: outputs.iter().map(|output| output.broken_packets).sum(),
        outputs,
        results: outcome.results,
        histogram,
    }
}

fn output(shape: &OutputShape, losses: Losses) -> OutputReport {
    let Losses { dropped, broken, first_broken } = losses;
    OutputReport { name: shape.name.clone(), dropped_packets: dropped, broken_packets: broken, first_broken }
}

fn worker_report(worker: &Worker) -> WorkerReport {
    WorkerReport {
        slots: worker.stats.slots,
        elapsed_ns: worker.timer.ns(worker.stats.begun, worker.stats.ended),
        busy: Quantiles::of(&worker.stats.busy),
        lateness: Quantiles::of(&worker.stats.lateness),
        changes: worker.stats.changes.len(),
        change: Quantiles::of(&worker.stats.changes),
        spin_ns: worker.stats.spin_ns,
        watched_ns: worker.stats.watched_ns,
        interface: Quantiles::of(&worker.stats.interface),
        busy_histogram: worker.stats.busy.clone(),
        lateness_histogram: worker.stats.lateness.clone(),
        trace: worker.stats.events().map(|event| event.in_ns(&worker.timer)).collect(),
    }
}
