//! Times of components, as a run or a trial shows them.

use std::time::Instant;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_mapper::{Cost, Costs};
use takt_stats::{Histogram, Ns};

use super::{CostsError, class};
use crate::{ComponentReport, Registry, Report, Session, SessionOptions};

/// Slots of the first trial, which only says how many the second may have.
const FIRST: u64 = 20;
/// Slots of the second at most, and what it may take.
const MOST: u64 = 1000;
const TRIAL_S: f64 = 0.5;

/// Runs the waveform for a short while on one core, each slot following the last, and keeps what its components took. A
/// trial does not touch a file that is written.
pub(super) fn tried(graph: &Graph, registry: &Registry) -> Result<Costs, CostsError> {
    let graph = graph.for_trials(registry);
    let run = |slots: u64| -> Result<Report, CostsError> {
        let options = SessionOptions { slots: Some(slots), hash: false, ..SessionOptions::default() };
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

/// A run's costs of its components. Nothing is known of one that was never executed.
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

/// Cost by the executions of one component; `None` of none.
pub(super) fn of_times(times: &Histogram<Ns>) -> Option<Cost> {
    // As in a report: quantiles beyond the bound are the longest.
    let (max_ns, at) = (times.max()?, |share| times.quantile(share));
    Some(Cost { p50_ns: at(0.5).unwrap_or(max_ns), p99_ns: at(0.99).unwrap_or(max_ns), max_ns, n: times.len() })
}
