//! Branch and bound: the shortest period, proven, if the steps allowed are enough.

use super::packing::ExactOutcome;
use super::problem::{NEVER, Problem};
use super::state::State;
use super::{bounds, packing};

struct Search<'p> {
    state: State<'p>,
    cores: usize,
    /// Dearest first.
    order: Vec<usize>,
    /// Weights of each kind, as in [`bounds::weights`]; and the least weighed cost of the groups from each place of the
    /// order on.
    weights: Vec<f64>,
    rest: Vec<f64>,
    best_ns: u64,
    best: Option<Vec<usize>>,
    bound_ns: u64,
    steps: u64,
    /// Nothing but load matters, so cores of a kind with the same load are alike.
    alike: bool,
    /// One a place of the order, so that going down allocates nothing.
    choices: Vec<Vec<(u64, usize, usize)>>,
}

/// Looks for a period below `best_ns`; stops at `bound_ns`, or after `steps`.
pub(crate) fn search(problem: &Problem, cores: usize, best_ns: u64, bound_ns: u64, steps: u64) -> ExactOutcome {
    if problem.groups.len() > GROUPS {
        return ExactOutcome { placed: None, proven: best_ns <= bound_ns };
    }
    let alike = alike(problem);
    if quick(problem) {
        return packing::search(problem, cores, best_ns, bound_ns, steps);
    }
    let mut order: Vec<usize> = (0..problem.groups.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(problem.least(group)));
    let (_, weights) = bounds::weights(problem, cores);
    let weighed = |group: usize| {
        let here = problem.kind_of[..cores].iter().filter(|&&kind| problem.cost(group, kind) != NEVER);
        here.map(|&kind| weights[kind] * problem.cost(group, kind) as f64).fold(f64::INFINITY, f64::min)
    };
    let mut rest = vec![0.0; order.len() + 1];
    for (at, &group) in order.iter().enumerate().rev() {
        rest[at] = rest[at + 1] + weighed(group);
    }
    let choices = vec![Vec::new(); order.len()];
    let state = State::empty(problem);
    let mut search =
        Search { state, cores, order, weights, rest, best_ns, best: None, bound_ns, steps, alike, choices };
    search.branch(0, 0, 0.0);
    ExactOutcome { proven: search.steps > 0 || search.best_ns <= bound_ns, placed: search.best }
}

/// Whether [`packing`] can do it.
pub(crate) fn quick(problem: &Problem) -> bool {
    alike(problem) && problem.kinds.len() == 1 && problem.groups.len() <= GROUPS
}

/// Whether nothing but load matters. Machines that no link joins have no channel, and yet not every placement on them is one.
fn alike(problem: &Problem) -> bool {
    problem.channels.is_empty() && problem.all_free() && !problem.hops.any_cycle()
}

/// More can't be gone through, and the recursion is as deep as there are groups.
const GROUPS: usize = 64;

impl Search<'_> {
    /// `period_ns`: of what is placed. `done`: its weighed cost.
    fn branch(&mut self, at: usize, period_ns: u64, done: f64) {
        if self.steps == 0 || self.best_ns <= self.bound_ns {
            return;
        }
        self.steps -= 1;
        let Some(&group) = self.order.get(at) else {
            self.best_ns = period_ns;
            self.best = Some(self.state.placed.clone());
            return;
        };
        let problem = self.state.problem;
        let mut choices = std::mem::take(&mut self.choices[at]);
        self.choose(group, &mut choices);
        for &(_, kind, core) in &choices {
            self.state.put(group, core);
            let load_ns = self.state.load_ns(core);
            let period_ns = if self.alike { period_ns.max(load_ns) } else { self.state.period_ns() };
            let done = done + self.weights[kind] * problem.cost(group, kind) as f64;
            // All cores as full as the best allows hold, weighed, no more than that; a little more for rounding.
            let hopeful = period_ns < self.best_ns && done + self.rest[at + 1] < self.best_ns as f64 * (1.0 + 1e-9);
            if hopeful && self.state.legal() {
                self.branch(at + 1, period_ns, done);
            }
            self.state.take(group);
        }
        self.choices[at] = choices;
    }

    /// Cores worth trying, the least loaded first: (load then, kind, core).
    fn choose(&self, group: usize, choices: &mut Vec<(u64, usize, usize)>) {
        let problem = self.state.problem;
        choices.clear();
        for core in 0..self.cores {
            let kind = problem.kind_of[core];
            let cost = problem.cost(group, kind);
            let load = cost.saturating_add(self.state.load_ns(core));
            // An idle core stands for all of its kind; so does any with the same load, where nothing but load matters.
            let same = |&(other_load, other_kind, other): &(u64, usize, usize)| {
                let idle = self.state.empty_core(core) && self.state.empty_core(other);
                other_kind == kind && (idle || (self.alike && other_load == load))
            };
            if cost != NEVER && load < self.best_ns && !choices.iter().any(same) {
                choices.push((load, kind, core));
            }
        }
        choices.sort_unstable();
    }
}
