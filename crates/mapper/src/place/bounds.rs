//! Bounds that no placement can beat, and why.

use serde::Serialize;
use takt_graph::Graph;

use super::problem::{NEVER, Problem, Way};
use crate::platform::Platform;

/// Lower bounds of the period, each by itself, ns. They hold for every placement, found or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bounds {
    /// The dearest component alone on the core that suits it best.
    pub component: Option<Part>,
    /// The dearest cycle that can't be parted, alone on the core that suits it best.
    pub cycle: Option<Part>,
    /// All work spread evenly, each where it is cheapest for the whole.
    pub work_ns: u64,
    /// Among the dearest components, one more than there are cores, two (or more, and so on) share one.
    pub sharing_ns: u64,
    /// Traffic between components pinned to different machines.
    pub link: Option<LinkPart>,
}

/// Components that stay together, and their time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Part {
    pub components: Vec<String>,
    /// Their time on the best core, its own base included, ns.
    pub ns: u64,
    pub class: String,
}

/// Traffic that must pass between two machines, and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkPart {
    pub from: String,
    pub to: String,
    /// So many bytes a slot.
    pub bytes: u64,
    pub ns: u64,
}

impl Bounds {
    /// The largest: no slot is shorter.
    #[must_use]
    pub fn best_ns(&self) -> u64 {
        let parts = [&self.component, &self.cycle].map(|part| part.as_ref().map_or(0, |part| part.ns));
        let link = self.link.as_ref().map_or(0, |link| link.ns);
        parts.into_iter().chain([self.work_ns, self.sharing_ns, link]).max().unwrap_or(0)
    }
}

pub(crate) fn bounds(problem: &Problem, graph: &Graph, platform: &Platform) -> Bounds {
    let part = |many: bool| {
        let groups = (0..problem.groups.len()).filter(|&group| (problem.groups[group].len() > 1) == many);
        let (group, kind, ns) =
            groups.map(|group| alone(problem, group)).max_by_key(|&(group, _, ns)| (ns, usize::MAX - group))?;
        let components = problem.groups[group].iter().map(|&c| graph.components()[c].name.clone()).collect();
        Some(Part { components, ns, class: platform.classes()[problem.kinds[kind].class].name.clone() })
    };
    Bounds {
        component: part(false),
        cycle: part(true),
        work_ns: weights(problem, problem.kind_of.len()).0,
        sharing_ns: sharing_ns(problem, problem.kind_of.len()),
        link: forced(problem, platform),
    }
}

/// The largest of those that need no names, for the first `cores` cores.
pub(crate) fn quick(problem: &Problem, cores: usize) -> u64 {
    let groups = 0..problem.groups.len();
    let dearest = groups.map(|group| alone(problem, group).2).max().unwrap_or(0);
    dearest.max(weights(problem, cores).0).max(sharing_ns(problem, cores))
}

/// The kind of core that suits a group best, and its time there with the core's base.
fn alone(problem: &Problem, group: usize) -> (usize, usize, u64) {
    let kinds = problem.kinds.iter().enumerate();
    let times = kinds.map(|(kind, of)| (problem.cost(group, kind).saturating_add(of.base_ns), kind));
    let (ns, kind) = times.min().unwrap_or((0, 0));
    (group, kind, ns)
}

/// For any weights w(kind) >= 0 with Σ w(kind) * cores(kind) = 1, Σ over groups of the least w(kind) * cost(kind) is a bound:
/// in a placement of period T each kind does at most cores(kind) * T of work, so Σ w * work <= T. The weights are improved
/// towards kinds that would be overloaded; whatever they end as, the bound holds. Gives the best bound and its weights, 0
/// for kinds that are not among the first `cores` cores.
pub(crate) fn weights(problem: &Problem, cores: usize) -> (u64, Vec<f64>) {
    let mut count = vec![0_usize; problem.kinds.len()];
    for &kind in &problem.kind_of[..cores] {
        count[kind] += 1;
    }
    let mut weights: Vec<f64> = count.iter().map(|&n| if n == 0 { 0.0 } else { 1.0 / cores as f64 }).collect();
    let present: Vec<usize> = (0..count.len()).filter(|&kind| count[kind] > 0).collect();
    if let [kind] = present[..] {
        let sum = (0..problem.groups.len()).map(|group| problem.cost(group, kind)).fold(0, u64::saturating_add);
        let bound = if sum == NEVER { NEVER } else { sum.div_ceil(count[kind] as u64) };
        return (bound, weights);
    }
    let rounds = (2_000_000 / (problem.groups.len() * present.len()).max(1)).clamp(1, 60);
    let mut best = (0.0_f64, weights.clone());
    let mut step = 0.5;
    for _ in 0..rounds {
        let mut load = vec![0.0; count.len()];
        let mut sum = 0.0;
        for group in 0..problem.groups.len() {
            let weighed = |kind: usize| match problem.cost(group, kind) {
                NEVER => f64::INFINITY,
                cost => weights[kind] * cost as f64,
            };
            let cheapest = present.iter().copied().min_by(|&a, &b| weighed(a).total_cmp(&weighed(b))).unwrap_or(0);
            if weighed(cheapest) == f64::INFINITY {
                return (NEVER, weights);
            }
            sum += weighed(cheapest);
            load[cheapest] += problem.cost(group, cheapest) as f64 / count[cheapest] as f64;
        }
        if sum > best.0 {
            best = (sum, weights.clone());
        }
        let highest = load.iter().copied().fold(1.0, f64::max);
        for &kind in &present {
            weights[kind] *= f64::exp(step * (load[kind] / highest - 0.5));
        }
        let whole: f64 = present.iter().map(|&kind| weights[kind] * count[kind] as f64).sum();
        weights.iter_mut().for_each(|weight| *weight /= whole);
        step *= 0.95;
    }
    // Sums of floats may have been rounded up.
    ((best.0 * (1.0 - 1e-9)).floor() as u64, best.1)
}

/// Some core has at least k + 1 of k * cores + 1 groups. The cheapest k + 1 of the dearest k * cores + 1 are the least
/// that can be.
fn sharing_ns(problem: &Problem, cores: usize) -> u64 {
    let mut least: Vec<u64> = (0..problem.groups.len()).map(|group| problem.least(group)).collect();
    least.sort_unstable_by_key(|&cost| std::cmp::Reverse(cost));
    let base = problem.kind_of[..cores].iter().map(|&kind| problem.kinds[kind].base_ns).min().unwrap_or(0);
    let shared = (1..).map_while(|k| least.get(..=k * cores).map(|dearest| dearest[dearest.len() - k - 1..].iter()));
    let sums = shared.map(|costs| costs.fold(base, |sum, &cost| sum.saturating_add(cost)));
    sums.max().unwrap_or(0)
}

/// Traffic between groups that can be on one machine only, and not on the same.
fn forced(problem: &Problem, platform: &Platform) -> Option<LinkPart> {
    let only = |group: usize| {
        let mut kinds = (0..problem.kinds.len()).filter(|&kind| problem.cost(group, kind) != NEVER);
        let first = kinds.next()?;
        kinds.all(|kind| problem.kinds[kind].node == problem.kinds[first].node).then_some(first)
    };
    let mut bytes = vec![0_u64; problem.channels.len()];
    let core = |kind: usize| problem.kind_of.iter().position(|&of| of == kind).unwrap_or(0);
    for flow in &problem.flows {
        let (Some(from), Some(to)) = (only(flow.from), only(flow.to)) else { continue };
        if problem.kinds[from].node == problem.kinds[to].node {
            continue;
        }
        let names = |kind: usize| platform.nodes()[problem.kinds[kind].node].name.clone();
        match problem.way(flow, core(from), core(to)) {
            Way::Over(channel) => bytes[channel] = bytes[channel].saturating_add(flow.bytes),
            Way::None | Way::Free => {
                return Some(LinkPart { from: names(from), to: names(to), bytes: flow.bytes, ns: NEVER });
            }
        }
    }
    let dearest =
        (0..bytes.len()).filter(|&channel| bytes[channel] > 0).max_by_key(|&c| problem.channel_ns(c, bytes[c]))?;
    let (channel, bytes) = (problem.channels[dearest], bytes[dearest]);
    let name = |node: usize| platform.nodes()[node].name.clone();
    Some(LinkPart { from: name(channel.from), to: name(channel.to), bytes, ns: problem.channel_ns(dearest, bytes) })
}
