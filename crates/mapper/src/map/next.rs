//! Changes with the largest effect on a mapping: moves, and what an engineer could do about the busiest core.

use serde::Serialize;
use takt_graph::Graph;

use crate::place::problem::Problem;
use crate::place::search::every_move;
use crate::place::solve::Solution;
use crate::place::state::State;
use crate::platform::Platform;

/// A change, and what it leads to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Next {
    #[serde(flatten)]
    pub change: Change,
    pub period_ns: u64,
    pub latency_slots: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "change")]
pub enum Change {
    /// Run components (one, or a cycle that stays together) on another core.
    Move {
        components: Vec<String>,
        /// Whether it is the process of an isolated component that moves, not what its worker does for it.
        process: bool,
        /// `node:cpu` of their core.
        from: String,
        /// `node:cpu` of the other.
        to: String,
    },
    /// Make a component of the busiest core twice as fast, all else as it is.
    Halve {
        component: String,
        /// Its share of its core's load.
        percent: u32,
    },
}

/// The three best moves and, if a core is what binds, its dearest component halved. Sorted by period, then latency.
pub(super) fn next(graph: &Graph, platform: &Platform, problem: &Problem, solution: &Solution) -> Vec<Next> {
    let mut moves: Vec<(u64, u32, u64, usize, usize)> = Vec::new();
    every_move(problem, &solution.placed, |group, core, state| {
        if let Some(latency_slots) = state.latency_slots() {
            moves.push((state.period_ns(), latency_slots, state.crossing, group, core));
        }
    });
    moves.sort_unstable();
    let names = |group: usize| problem.groups[group].iter().map(|&c| graph.components()[c].name.clone()).collect();
    let best = moves.into_iter().take(3).map(|(period_ns, latency_slots, _, group, core)| Next {
        change: Change::Move {
            components: names(group),
            process: group >= problem.processes,
            from: platform.core_name(solution.placed[group]),
            to: platform.core_name(core),
        },
        period_ns,
        latency_slots,
    });
    let mut all: Vec<Next> = best.chain(halved(graph, problem, solution)).collect();
    all.sort_by_key(|next| (next.period_ns, next.latency_slots));
    all
}

fn halved(graph: &Graph, problem: &Problem, solution: &Solution) -> Option<Next> {
    let state = State::of(problem, &solution.placed);
    let core = (0..problem.kind_of.len()).find(|&core| state.load_ns(core) == solution.period_ns)?;
    let kind = problem.kind_of[core];
    let here =
        (0..solution.placed.len()).filter(|&group| solution.placed[group] == core && problem.groups[group].len() == 1);
    let dearest = here.max_by_key(|&group| (problem.cost(group, kind), usize::MAX - group))?;
    let half = problem.cost(dearest, kind) / 2;
    let others = (0..problem.kind_of.len()).filter(|&other| other != core).map(|other| state.load_ns(other));
    let channels = (0..problem.channels.len()).map(|channel| problem.channel_ns(channel, state.bytes[channel]));
    let rest = others.chain(channels).max().unwrap_or(0);
    let component = graph.components()[problem.groups[dearest][0]].name.clone();
    let percent = u32::try_from(problem.cost(dearest, kind) * 100 / solution.period_ns.max(1)).unwrap_or(100);
    Some(Next {
        change: Change::Halve { component, percent },
        period_ns: rest.max(solution.period_ns - half),
        latency_slots: solution.latency_slots,
    })
}
