//! What components take, as a run or a trial shows.

use std::time::Instant;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_mapper::{Cost, Costs};
use takt_stats::{Histogram, Ns};

use super::{CostsError, class};
use crate::{ComponentReport, Options, Registry, Report, Session};

/// Slots of the first trial, which only says how many the second may have.
const FIRST: u64 = 20;
/// Slots of the second at most, and what it may take.
const MOST: u64 = 1000;
const TRIAL_S: f64 = 0.5;

/// Runs the waveform for a short while on one core, each slot following the last, and keeps what its components took. What a trial
/// must not touch, a file that is written, it does not.
pub(super) fn tried(graph: &Graph, registry: &Registry) -> Result<Costs, CostsError> {
    let graph = graph.for_trials(registry);
    let run = |slots: u64| -> Result<Report, CostsError> {
        let options = Options { slots: Some(slots), hash: false, ..Options::default() };
        let plan = Plan::single(&graph, Latency::Compact);
        let session = Session::open(&graph, &plan, registry, options)?;
        Ok(session.run(&Stop::new())?)
    };
    let start = Instant::now();
    let first = run(FIRST)?;
    let slot_s = start.elapsed().as_secs_f64() / FIRST as f64;
    let more = ((TRIAL_S / slot_s.max(1e-9)) as u64).min(MOST);
    Ok(of_report(&if more > FIRST { run(more)? } else { first }))
}

/// What a run says of its components. Of one that was never executed nothing is known.
#[must_use]
pub fn of_report(report: &Report) -> Costs {
    let mut costs = Costs::of(&class(), None);
    for component in &report.components {
        if let Some(cost) = cost(component) {
            costs = costs.with(&component.name, cost);
        }
    }
    costs
}

/// Quantiles beyond the histogram's bound are the longest execution, which is always known.
fn cost(component: &ComponentReport) -> Option<Cost> {
    let times = component.execution?;
    Some(Cost {
        p50_ns: times.p50_ns.unwrap_or(times.max_ns),
        p99_ns: times.p99_ns.unwrap_or(times.max_ns),
        max_ns: times.max_ns,
        n: component.executions,
    })
}

/// What executions of one component say; `None` of none.
pub(super) fn of_times(times: &Histogram<Ns>) -> Option<Cost> {
    // As in a report: quantiles beyond the bound are the longest.
    let (max_ns, at) = (times.max()?, |share| times.quantile(share));
    Some(Cost { p50_ns: at(0.5).unwrap_or(max_ns), p99_ns: at(0.99).unwrap_or(max_ns), max_ns, n: times.len() })
}
