//! From options to a graph, a plan and cores: everything a run needs, any number of times.

use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_graph::{Catalogue, ComponentSpec, Graph, Kind, Plan, Waveform};
use takt_host::Host;
use takt_host::affinity::own_cpus;
use takt_host::topology::Topology;
use takt_runtime::{Registry, Session, SessionOptions, SlotClock, StartError};

use super::{Clock, Executed, Policy, WaveformError, WaveformOptions, join, library};

pub(crate) struct Opened {
    pub(crate) registry: Registry,
    pub(crate) graph: Graph,
    pub(crate) plan: Plan,
    pub(crate) cores: Vec<usize>,
    clock: Clock,
    policy: Policy,
    hash: bool,
    watch_memory: bool,
}

impl Opened {
    /// Checks and places it; where there are several workers, so that the fullest has as little to do as can be.
    pub(crate) fn new(options: &WaveformOptions) -> Result<Opened, WaveformError> {
        let mut opened = Opened::placed(options, None)?;
        if options.workers > 1 {
            let placement = split(&opened.costs()?, options.workers);
            opened.plan = Plan::assign(&opened.graph, &placement, opened.plan.latency())?;
        }
        Ok(opened)
    }

    /// Checks it, and places each component on the worker that is named for it; without names all on one.
    pub(crate) fn placed(options: &WaveformOptions, placement: Option<&[usize]>) -> Result<Opened, WaveformError> {
        let cores = cores(options.workers)?;
        takt_phy::link();
        let registry = Registry::of_program()?;
        let waveform = written(options, &registry)?;
        let graph = Graph::check(&waveform, &registry)?;
        let one = vec![0; graph.components().len()];
        let plan = Plan::assign(&graph, placement.unwrap_or(&one), options.latency)?;
        let WaveformOptions { clock, policy, hash, watch_memory, .. } = *options;
        Ok(Opened { registry, graph, plan, cores, clock, policy, hash, watch_memory })
    }

    pub(crate) fn placement(&self) -> Vec<usize> {
        (0..self.graph.components().len()).map(|component| self.plan.worker_of(component)).collect()
    }

    pub(crate) fn slot_ns(&self) -> u64 {
        self.graph.slot_ns()
    }

    /// Median execution time of each component in a short free run on one core.
    fn costs(&self) -> Result<Vec<f64>, WaveformError> {
        let options = SessionOptions { slots: Some(PROBE_SLOTS), hash: false, ..SessionOptions::default() };
        let report = Session::open(&self.graph, &self.plan, &self.registry, options)?.run(&Stop::new())?;
        let median = |component: &takt_runtime::ComponentReport| component.histogram.quantile(0.5).unwrap_or(1) as f64;
        Ok(report.components.iter().map(median).collect())
    }

    /// Runs it once; with `slots` of `None` for as long as `limit`.
    pub(crate) fn execute(&self, slots: Option<u64>, limit: Duration, stop: &Stop) -> Result<Executed, WaveformError> {
        let limit = slots.is_none().then_some(limit);
        match self.policy {
            Policy::Other => self.attempt(slots, limit, None, stop),
            Policy::Fifo => self.attempt(slots, limit, Some(PRIORITY), stop),
            Policy::Highest => match self.attempt(slots, limit, Some(PRIORITY), stop) {
                Err(WaveformError::Start(StartError::Priority { .. })) => self.attempt(slots, limit, None, stop),
                done => done,
            },
        }
    }

    fn attempt(
        &self,
        slots: Option<u64>,
        limit: Option<Duration>,
        fifo_priority: Option<u8>,
        stop: &Stop,
    ) -> Result<Executed, WaveformError> {
        let clock = if self.clock == Clock::Wall { SlotClock::Wall } else { SlotClock::Free };
        let cores = self.cores.get(..self.plan.workers().len()).unwrap_or(&self.cores).to_vec();
        let usual = SessionOptions::default();
        // Watching the clock all the time would meet the kernel's bound on real-time threads: 50 ms off in each second.
        let spin = usual.spin.min(Duration::from_nanos(self.slot_ns() / 2));
        let options = SessionOptions { slots, clock, cores, fifo_priority, spin, hash: self.hash, ..usual };
        let own = Stop::new();
        let mut running = Session::open(&self.graph, &self.plan, &self.registry, options)?.start_paused(&own)?;
        let begun = Instant::now();
        running.go();
        let (report, elapsed, memory) = join(running, begun, &own, stop, limit, self.watch_memory);
        Ok(Executed { report, elapsed, memory, fifo: fifo_priority.is_some() })
    }
}

/// Slots of the run that finds out what each component costs.
const PROBE_SLOTS: u64 = 50;
/// Priority of workers: above ordinary threads, below the kernel's own.
pub(crate) const PRIORITY: u8 = 20;

fn written(options: &WaveformOptions, registry: &Registry) -> Result<Waveform, WaveformError> {
    let mut waveform = match (&options.text, library::named(&options.waveform, options.components)) {
        (Some(text), _) => Waveform::parse(&options.waveform, text)?,
        (None, Some(named)) => named?,
        (None, None) => Waveform::parse(&options.waveform, "")?,
    };
    waveform.slot_ns = u64::try_from(options.slot.as_nanos()).unwrap_or(u64::MAX);
    if let Some(items) = options.items() {
        let graph = Graph::check(&waveform, registry)?;
        let is_source = |name: &str| graph.components().iter().any(|c| c.name == name && c.shape.inputs.is_empty());
        for spec in waveform.components.iter_mut().filter(|spec| is_source(&spec.name)) {
            let takes = registry.kind(&spec.kind).is_some_and(|kind| kind.params.iter().any(|p| p.name == "items"));
            if takes {
                spec.params = std::mem::take(&mut spec.params).with("items", items);
            }
        }
    }
    Ok(waveform)
}

/// The first component of a waveform from a file that may open files of this machine, or is a process of its own. Those that come
/// with the program have none that does.
///
/// # Errors
/// The waveform is none.
pub fn needs_its_machine(options: &WaveformOptions) -> Result<Option<String>, WaveformError> {
    if options.text.is_none() {
        return Ok(None);
    }
    takt_phy::link();
    let registry = Registry::of_program()?;
    let waveform = written(options, &registry)?;
    let needs = |spec: &&ComponentSpec| spec.isolated || registry.kind(&spec.kind).is_none_or(Kind::may_open_files);
    Ok(waveform.components.iter().find(needs).map(|spec| spec.name.clone()))
}

/// A processor of each of so many cores. They are the last cores, since most interrupts go to the first.
pub(crate) fn cores(wanted: usize) -> Result<Vec<usize>, WaveformError> {
    let cores = Topology::read(&Host::this())?.cores(&own_cpus());
    let mut first: Vec<usize> = cores.iter().filter_map(|core| core.first().copied()).collect();
    first.reverse();
    if wanted > first.len() {
        return Err(WaveformError::Cores { wanted, cores: first.len() });
    }
    first.truncate(wanted.max(1));
    Ok(first)
}

/// Cuts a chain into so many runs of neighbours that the costliest costs least; the worker of each.
fn split(costs: &[f64], workers: usize) -> Vec<usize> {
    let highest = costs.iter().copied().fold(0.0, f64::max);
    let total: f64 = costs.iter().sum();
    // Cut wherever the next would exceed a bound: the least bound that needs no more than `workers` is the best.
    let cut = |bound: f64| {
        let (mut worker, mut load) = (0_usize, 0.0);
        let place = |&cost: &f64| {
            if load > 0.0 && load + cost > bound {
                (worker, load) = (worker + 1, 0.0);
            }
            load += cost;
            worker
        };
        costs.iter().map(place).collect::<Vec<usize>>()
    };
    let (mut low, mut high) = (highest, total.max(highest));
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if cut(middle).last().is_some_and(|&last| last < workers) { high = middle } else { low = middle }
    }
    cut(high * (1.0 + 1e-9))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn load(costs: &[f64], workers_of: &[usize]) -> f64 {
        let workers = workers_of.iter().max().map_or(0, |last| last + 1);
        let of =
            |worker| costs.iter().zip(workers_of).filter(|(_, w)| **w == worker).map(|(cost, _)| cost).sum::<f64>();
        (0..workers).map(of).fold(0.0, f64::max)
    }

    #[test]
    fn the_costliest_worker_has_as_little_as_can_be() {
        assert_eq!(split(&[4.0, 1.0, 1.0, 2.0], 2), [0, 1, 1, 1]);
        assert_eq!(split(&[1.0, 1.0, 1.0, 1.0], 2), [0, 0, 1, 1]);
        assert_eq!(split(&[5.0], 4), [0]);
    }

    proptest! {
        /// Against all cuts into two.
        #[test]
        fn no_cut_into_two_is_better(costs in proptest::collection::vec(0.1_f64..100.0, 2..12)) {
            let ours = load(&costs, &split(&costs, 2));
            for at in 1..costs.len() {
                let other: Vec<usize> = (0..costs.len()).map(|n| usize::from(n >= at)).collect();
                prop_assert!(ours <= load(&costs, &other) * (1.0 + 1e-6));
            }
        }
    }
}
