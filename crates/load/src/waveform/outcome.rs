//! Results of a run of a waveform.

use serde::{Deserialize, Serialize};
use takt_graph::Item;
use takt_runtime::{Culprit, Quantiles, Report, WorkerReport};
use takt_stats::{Histogram, Ns};

use super::{Clock, Executed, Floors, Memory, Opened, WaveformOptions};

/// Results of a run of a waveform. Counts are of the measured part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WaveformOutcome {
    pub options: WaveformOptions,
    pub waveform: String,
    pub slot_ns: u64,
    /// Slots that every component went through.
    pub slots: u64,
    /// Slots from a source to the last component that its packets reach; fixed by the plan.
    pub latency_slots: u32,
    /// Slots of components that were missed, late ends included.
    pub misses: u64,
    pub miss_share: f64,
    /// Causes of misses, most first; of the misses that the runtime remembers one by one.
    pub blamed: Vec<Blamed>,
    pub missing_packets: u64,
    /// Packets refused because they had a number of items that the shape of their output does not allow.
    #[serde(default)] // records older than this key
    pub broken_packets: u64,
    /// Packets that a consumer did not get because it was behind.
    #[serde(default)] // records older than this key
    pub dropped_packets: u64,
    pub components: Vec<ComponentOutcome>,
    pub workers: Vec<WorkerOutcome>,
    /// From the edge of a slot to its release, all workers; `None` under a free clock.
    pub lateness: Option<Spread>,
    /// Share of a slot that was used in 99.9 % of slots: late release and work together, of the fullest worker. The
    /// rest is the margin. `None` under a free clock.
    pub used_share: Option<f64>,
    /// The component with the largest part of the fullest worker's slot.
    pub slowest: Option<Slowest>,
    /// Time that workers were neither waiting nor executing, a slot, all workers, nanoseconds.
    pub overhead_ns_per_slot: f64,
    /// From the end of one component to the start of the next, as far as the runtime remembers: the overhead one by one.
    pub between: Histogram<Ns>,
    /// Bits that the sources make in a slot, as their type says (a bit item is one bit).
    pub source_bits_per_slot: u64,
    /// Bits a second that came through: those of slots that no component missed, over the time that was measured.
    pub throughput_bps: f64,
    /// Hash of what the sinks received, if requested.
    pub output_hash: Option<String>,
    pub memory: MemoryUse,
    pub floors: Floors,
    pub cores: Vec<usize>,
    pub fifo: bool,
    /// From the start of the workers to their end, seconds.
    pub elapsed_s: f64,
    pub complete: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    pub before: Memory,
    /// While it ran, where that was looked at.
    pub running: Option<Memory>,
    /// After it, its report included.
    pub after: Memory,
}

/// Quantiles, nanoseconds; `None` beyond the second that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p99_9_ns: Option<u64>,
    pub max_ns: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ComponentOutcome {
    pub name: String,
    pub kind: String,
    pub worker: Option<usize>,
    pub misses: u64,
    pub execution: Histogram<Ns>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WorkerOutcome {
    pub slots: u64,
    pub busy: Option<Spread>,
    /// From edge to release.
    pub lateness: Option<Spread>,
    /// Time in a slot that was neither waiting nor execution, nanoseconds.
    pub overhead_ns: f64,
}

/// Cause of late slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blamed {
    /// A component's name; `None`: the host, which let a worker begin late or took its processor away.
    pub component: Option<String>,
    pub misses: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slowest {
    /// A component's name; `None`: the host's late release.
    pub component: Option<String>,
    /// In 99.9 % of slots it takes no longer, nanoseconds.
    pub p99_9_ns: u64,
}

impl WaveformOutcome {
    /// Packets that a component made and no other got.
    #[must_use]
    pub fn lost_packets(&self) -> u64 {
        self.broken_packets + self.dropped_packets
    }

    pub(crate) fn of(
        options: &WaveformOptions,
        opened: &Opened,
        ran: &Executed,
        floors: Floors,
        [before, after]: [Memory; 2],
        complete: bool,
    ) -> WaveformOutcome {
        let report = &ran.report;
        let workers = workers(options, ran);
        let all = report.slots.saturating_mul(report.components.len() as u64).max(1);
        let seconds = match options.clock {
            Clock::Wall => report.slots as f64 * report.slot_ns as f64 / 1e9,
            Clock::Free => ran.elapsed.as_secs_f64(),
        };
        let source_bits_per_slot = source_bits(opened);
        let good = report.slots.saturating_sub(last_misses(opened, report));
        WaveformOutcome {
            options: options.clone(),
            waveform: report.waveform.clone(),
            slot_ns: report.slot_ns,
            slots: report.slots,
            latency_slots: report.latency_slots,
            misses: report.misses,
            miss_share: report.misses as f64 / all as f64,
            blamed: blamed(report),
            missing_packets: report.components.iter().map(|c| c.missing_packets).sum(),
            broken_packets: report.broken_packets,
            dropped_packets: report.dropped_packets,
            components: report.components.iter().map(component).collect(),
            lateness: report.lateness.map(Spread::from),
            used_share: used_share(report),
            slowest: slowest(report),
            overhead_ns_per_slot: workers.iter().map(|worker| worker.overhead_ns).sum(),
            workers,
            between: between(report),
            source_bits_per_slot,
            throughput_bps: if seconds > 0.0 { (good * source_bits_per_slot) as f64 / seconds } else { 0.0 },
            output_hash: report.output_hash.clone(),
            memory: MemoryUse { before, running: ran.memory, after },
            floors,
            cores: opened.cores.clone(),
            fifo: ran.fifo,
            elapsed_s: ran.elapsed.as_secs_f64(),
            complete,
        }
    }
}

impl From<Quantiles> for Spread {
    fn from(q: Quantiles) -> Spread {
        let Quantiles { mean_ns, p50_ns, p99_ns, p999_ns, max_ns, .. } = q;
        Spread { mean_ns, p50_ns, p99_ns, p99_9_ns: p999_ns, max_ns }
    }
}

impl Spread {
    /// Spread of a histogram; `None` of an empty one.
    #[must_use]
    pub fn of(histogram: &Histogram<Ns>) -> Option<Spread> {
        Quantiles::of(histogram).map(Spread::from)
    }

    /// 99.9 %, or the largest where that lies beyond what is measured.
    #[must_use]
    pub fn tail_ns(&self) -> u64 {
        self.p99_9_ns.unwrap_or(self.max_ns)
    }
}

fn component(of: &takt_runtime::ComponentReport) -> ComponentOutcome {
    ComponentOutcome {
        name: of.name.clone(),
        kind: of.kind.clone(),
        worker: of.worker,
        misses: of.missed + of.late + of.faults,
        execution: of.histogram.clone(),
    }
}

/// Medians, so that what the host takes away now and then is not the runtime's: of a slot's busy time, less those of its
/// components. Without a clock there is also what lies between the slots: all the time there was, less all that was busy.
fn workers(options: &WaveformOptions, ran: &Executed) -> Vec<WorkerOutcome> {
    let report = &ran.report;
    let executed_ns = |worker: usize| {
        let own = report.components.iter().filter(|c| c.worker == Some(worker));
        own.filter_map(|c| c.histogram.quantile(0.5)).sum::<u64>() as f64
    };
    let of = |(index, worker): (usize, &WorkerReport)| {
        let busy_ns = worker.busy.and_then(|busy| busy.p50_ns).unwrap_or(0) as f64;
        let between_ns = match (options.clock, worker.busy.and_then(|busy| busy.mean_ns)) {
            (Clock::Free, Some(mean)) => ran.elapsed.as_nanos() as f64 / worker.slots.max(1) as f64 - mean,
            _ => 0.0,
        };
        WorkerOutcome {
            slots: worker.slots,
            busy: worker.busy.map(Spread::from),
            lateness: worker.lateness.map(Spread::from),
            overhead_ns: busy_ns - executed_ns(index) + between_ns,
        }
    };
    report.workers.iter().enumerate().map(of).collect()
}

fn tail(quantiles: Option<Quantiles>) -> u64 {
    quantiles.map_or(0, |q| Spread::from(q).tail_ns())
}

fn fullest(report: &Report) -> Option<(usize, &WorkerReport)> {
    let used = |worker: &WorkerReport| tail(worker.busy) + tail(worker.lateness);
    report.workers.iter().enumerate().max_by_key(|(_, worker)| used(worker))
}

fn used_share(report: &Report) -> Option<f64> {
    let (_, worker) = fullest(report)?;
    worker.lateness?;
    Some((tail(worker.busy) + tail(worker.lateness)) as f64 / report.slot_ns.max(1) as f64)
}

fn slowest(report: &Report) -> Option<Slowest> {
    let (index, worker) = fullest(report)?;
    let own = report.components.iter().filter(|c| c.worker == Some(index));
    let components = own.map(|c| Slowest { component: Some(c.name.clone()), p99_9_ns: tail(c.execution) });
    let host = worker.lateness.map(|_| Slowest { component: None, p99_9_ns: tail(worker.lateness) });
    components.chain(host).max_by_key(|one| one.p99_9_ns)
}

fn blamed(report: &Report) -> Vec<Blamed> {
    let mut all: Vec<Blamed> = Vec::new();
    for miss in &report.miss_list {
        let who = match &miss.culprit {
            Culprit::Component { component, .. }
            | Culprit::Radio { component, .. }
            | Culprit::Bridge { component, .. } => Some(component.clone()),
            Culprit::Release { .. } => None,
        };
        match all.iter_mut().find(|one| one.component == who) {
            Some(one) => one.misses += miss.count,
            None => all.push(Blamed { component: who, misses: miss.count }),
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.misses));
    all
}

/// From the trace: what lies between two executions of one slot.
fn between(report: &Report) -> Histogram<Ns> {
    let mut all = Histogram::with_bound(1_000_000_000);
    for worker in &report.workers {
        for pair in worker.trace.windows(2) {
            let [first, second] = pair else { continue };
            if first.slot == second.slot {
                all.record_saturating(second.start_ns.saturating_sub(first.start_ns + first.execution_ns));
            }
        }
    }
    all
}

/// Most bits that sources say they make; a bit is an item of a byte and counts as a bit.
fn source_bits(opened: &Opened) -> u64 {
    let graph = &opened.graph;
    let of_source = graph.links().iter().filter(|link| graph.components()[link.from.component].shape.inputs.is_empty());
    let bits = |item: Item| if item == Item::Bit { 1 } else { 8 * item.bytes() as u64 };
    let mut outputs: Vec<_> = of_source.map(|link| (link.from, link.lengths.max * bits(link.item))).collect();
    outputs.sort_by_key(|(port, _)| *port);
    outputs.dedup_by_key(|(port, _)| *port);
    outputs.into_iter().map(|(_, bits)| bits).sum()
}

/// Slots that the waveform's ends missed.
fn last_misses(opened: &Opened, report: &Report) -> u64 {
    let of = |sink: usize| {
        let name = &opened.graph.components()[sink].name;
        let found = report.components.iter().find(|component| &component.name == name);
        found.map_or(0, |c| c.missed + c.late + c.faults + c.missing_packets)
    };
    opened.graph.sinks().map(of).max().unwrap_or(0)
}
