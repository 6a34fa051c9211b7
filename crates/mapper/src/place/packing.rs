//! Exact, where cores are all alike and nothing but their load counts: then it is bin packing, and filling one core after
//! another is far quicker than placing one component after another.
//!
//! For a period T below the best known: the dearest group not placed opens a core; the core is filled up with some of the
//! cheaper ones; then the next core is opened. Two things rule most out. All cores together may leave
//! cores * T - sum unused, and what each core leaves is taken off that. And a filling that leaves out a group which would
//! still fit is no better than the one with it: wherever that group would go, it can come back without harm.

use super::problem::Problem;

/// Result of a search.
pub(crate) struct ExactOutcome {
    /// Shorter than what it was to beat, if there was one.
    pub placed: Option<Vec<usize>>,
    /// Whether nothing shorter exists.
    pub proven: bool,
}

struct Packing {
    /// Costs, dearest first.
    costs: Vec<u64>,
    /// Core of each, `FREE` if none yet.
    core: Vec<usize>,
    cores: usize,
    /// Time that a core may hold: one less than the best period, without the base.
    room: u64,
    steps: u64,
}

const FREE: usize = usize::MAX;

/// Looks for a period below `best_ns`; stops at `bound_ns`, or after `steps`. All of one kind, no channels, no open cycles.
pub(crate) fn search(problem: &Problem, cores: usize, mut best_ns: u64, bound_ns: u64, steps: u64) -> ExactOutcome {
    let kind = problem.kind_of[0];
    let mut order: Vec<usize> = (0..problem.groups.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(problem.cost(group, kind)));
    let costs: Vec<u64> = order.iter().map(|&group| problem.cost(group, kind)).collect();
    let base_ns = problem.kinds[kind].base_ns;
    // A group that can be on no core costs more than all cores have.
    let sum = costs.iter().copied().fold(0, u64::saturating_add);
    let mut packing = Packing { core: vec![FREE; costs.len()], costs, cores, room: 0, steps };
    let mut placed = None;
    while best_ns > bound_ns {
        let Some(room) = best_ns.checked_sub(base_ns + 1) else { break };
        packing.room = room;
        packing.core.fill(FREE);
        let Some(slack) = room.saturating_mul(cores as u64).checked_sub(sum) else { break };
        if !packing.open(0, slack) {
            return ExactOutcome { placed, proven: packing.steps > 0 };
        }
        let mut loads = vec![0; cores];
        for (&core, &cost) in packing.core.iter().zip(&packing.costs) {
            loads[core] += cost;
        }
        best_ns = base_ns + loads.into_iter().max().unwrap_or(0);
        let mut by_group = vec![0; order.len()];
        for (&group, &core) in order.iter().zip(&packing.core) {
            by_group[group] = core;
        }
        placed = Some(by_group);
    }
    ExactOutcome { placed, proven: true }
}

impl Packing {
    /// Fills the core `at` and those after it; `slack`: what they may leave unused.
    fn open(&mut self, at: usize, slack: u64) -> bool {
        let Some(first) = self.core.iter().position(|&core| core == FREE) else { return true };
        if at == self.cores || self.costs[first] > self.room {
            return false;
        }
        self.core[first] = at;
        let found = self.fill(at, first + 1, self.room - self.costs[first], slack, u64::MAX);
        if !found {
            self.core[first] = FREE;
        }
        found
    }

    /// Takes or leaves each group from `from` on. `left`: room of this core; `out`: the cheapest left out of it so far.
    fn fill(&mut self, at: usize, from: usize, left: u64, slack: u64, out: u64) -> bool {
        if self.steps == 0 {
            return false;
        }
        self.steps -= 1;
        // The next that is free and fits; those that do not fit are left out for no reason of choice.
        let next = (from..self.costs.len()).find(|&next| self.core[next] == FREE && self.costs[next] <= left);
        let Some(next) = next else {
            return out > left && left <= slack && self.open(at + 1, slack - left);
        };
        self.core[next] = at;
        if self.fill(at, next + 1, left - self.costs[next], slack, out) {
            return true;
        }
        self.core[next] = FREE;
        // One as dear has had its turn: leaving this one and taking that is the same.
        let cost = self.costs[next];
        let other = (next + 1..self.costs.len()).find(|&other| self.costs[other] < cost).unwrap_or(self.costs.len());
        self.fill(at, other, left, slack, out.min(cost))
    }
}
