//! [`Mapping`]: a plan, with what it is predicted to take and how far it is from what is possible.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use takt_graph::{Graph, Plan};

use super::next::{Next, next};
use crate::place::bounds::Bounds;
use crate::place::problem::Problem;
use crate::place::solve::{Algorithm, Solution};
use crate::place::state::State;
use crate::platform::Platform;

/// A plan that fits the slot. Times are predicted from the costs at the requested quantile.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Mapping {
    pub plan: Plan,
    /// For each worker of the plan the core it is meant for, an index of `Platform::cores`.
    pub cores: Vec<usize>,
    /// For each isolated component, by name, the core on which there is room for its process, likewise.
    pub process_cores: BTreeMap<String, usize>,
    pub algorithm: Algorithm,
    pub slot_ns: u64,
    /// Time that work may take of it, ns.
    pub allowed_ns: u64,
    /// The busiest core or link, ns: the shortest slot this keeps up with if nothing is ever late.
    pub period_ns: u64,
    /// No placement has a shorter period than this, ns.
    pub bound_ns: u64,
    /// Origin of the bound.
    pub bounds: Bounds,
    /// Whether no placement has a shorter period than this one: it meets the bound, or everything else was ruled out.
    pub optimal: bool,
    /// Slots from a source to the last that it reaches, hops between machines at their own delay.
    pub latency_slots: u32,
    /// One a worker; behind those, cores that have nothing but processes of isolated components.
    pub core_loads: Vec<CoreLoad>,
    /// Links between machines, and insides of machines where a limit is known.
    pub link_loads: Vec<LinkLoad>,
    /// Changes with the largest effect on it, best first.
    pub next: Vec<Next>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoreLoad {
    /// `node:cpu`.
    pub core: String,
    pub class: String,
    /// Time that it needs in every slot, ns.
    pub load_ns: u64,
    /// The same as a share of the slot.
    pub share: f64,
    /// Components that its worker runs, in order; of an isolated component, the call alone.
    pub components: Vec<String>,
    /// Isolated components whose processes are reckoned with on it.
    pub processes: Vec<String>,
}

/// Predicted load of a link, one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkLoad {
    pub from: String,
    /// To this one; the same for the inside of a machine.
    pub to: String,
    /// Bytes a slot, longest packets.
    pub bytes: u64,
    pub load_ns: u64,
    /// The same as a share of the slot.
    pub share: f64,
}

impl Mapping {
    /// The cores for the processes of isolated components, where each has one without a worker, which would come first; else
    /// none: the kernel finds room better then.
    #[must_use]
    pub fn cores_apart(&self) -> Vec<usize> {
        let apart = || self.process_cores.values().filter(|core| !self.cores.contains(core));
        if apart().count() == self.process_cores.len() { apart().copied().collect() } else { Vec::new() }
    }

    /// How much longer the period is than the bound: 0 is optimal, 0.1 is at most 10 % from it. 0 where it was proven
    /// optimal though no bound shows it.
    #[must_use]
    pub fn gap(&self) -> f64 {
        if self.optimal { 0.0 } else { self.period_ns as f64 / self.bound_ns.max(1) as f64 - 1.0 }
    }
}

/// The request and what is known about it.
pub(super) struct MapTask<'a> {
    pub graph: &'a Graph,
    pub platform: &'a Platform,
    pub problem: &'a Problem,
    pub slot_ns: u64,
    pub allowed_ns: u64,
    /// Share that work may take of any slot.
    pub use_at_most: f64,
    pub bounds: Bounds,
}

/// Workers in the order of their cores: the worker of each component, the core of each worker.
pub(super) fn workers(core_of: &[usize]) -> (Vec<usize>, Vec<usize>) {
    let mut cores = core_of.to_vec();
    cores.sort_unstable();
    cores.dedup();
    let worker_of = core_of.iter().map(|core| cores.binary_search(core).unwrap_or_default()).collect();
    (worker_of, cores)
}

pub(super) fn mapping(task: MapTask<'_>, solution: &Solution, plan: Plan, cores: Vec<usize>, moves: bool) -> Mapping {
    let MapTask { graph, platform, problem, slot_ns, allowed_ns, bounds, .. } = task;
    let state = State::of(problem, &solution.placed);
    let share = |ns: u64| ns as f64 / slot_ns.max(1) as f64;
    let name = |c: usize| graph.components()[c].name.clone();
    let processes =
        || (problem.processes..problem.groups.len()).map(|group| (problem.groups[group][0], state.placed[group]));
    let core_load = |core: usize, components: &[usize]| CoreLoad {
        core: platform.core_name(core),
        class: platform.class_of(core).name.clone(),
        load_ns: state.load_ns(core),
        share: share(state.load_ns(core)),
        components: components.iter().map(|&c| name(c)).collect(),
        processes: processes().filter(|&(_, on)| on == core).map(|(c, _)| name(c)).collect(),
    };
    let mut core_loads: Vec<CoreLoad> =
        cores.iter().zip(plan.workers()).map(|(&core, components)| core_load(core, components)).collect();
    let others: BTreeSet<usize> = processes().map(|(_, core)| core).filter(|core| !cores.contains(core)).collect();
    core_loads.extend(others.into_iter().map(|core| core_load(core, &[])));
    let link_load = |(index, channel): (usize, &crate::place::problem::Channel)| {
        let load_ns = problem.channel_ns(index, state.bytes[index]);
        let name = |node: usize| platform.nodes()[node].name.clone();
        let (from, to) = (name(channel.from), name(channel.to));
        LinkLoad { from, to, bytes: state.bytes[index], load_ns, share: share(load_ns) }
    };
    let bound_ns = bounds.best_ns();
    Mapping {
        algorithm: solution.algorithm,
        slot_ns,
        allowed_ns,
        period_ns: solution.period_ns,
        bound_ns,
        optimal: solution.proven || solution.period_ns <= bound_ns,
        latency_slots: solution.latency_slots,
        process_cores: processes().map(|(c, core)| (name(c), core)).collect(),
        core_loads,
        link_loads: problem.channels.iter().enumerate().map(link_load).collect(),
        next: if moves { next(graph, platform, problem, solution) } else { Vec::new() },
        bounds,
        plan,
        cores,
    }
}
