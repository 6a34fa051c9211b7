//! Branch and bound: the shortest period, proven, if the steps allowed are enough.

use super::greedy::candidates;
use super::problem::{NEVER, Problem};
use super::state::State;

/// What a search came to.
pub(crate) struct Found {
    /// Shorter than what it was to beat, if there was one.
    pub placed: Option<Vec<usize>>,
    /// Whether nothing shorter exists.
    pub proven: bool,
}

struct Search<'p> {
    state: State<'p>,
    cores: usize,
    order: Vec<usize>,
    /// Least work of the groups from each place of the order on.
    rest: Vec<u64>,
    best_ns: u64,
    best: Option<Vec<usize>>,
    bound_ns: u64,
    steps: u64,
    /// Cores of a kind with the same load are alike: nothing but load matters.
    alike: bool,
}

/// Looks for a period below `best_ns`; stops at `bound_ns`, or after `steps`.
pub(crate) fn search(problem: &Problem, cores: usize, best_ns: u64, bound_ns: u64, steps: u64) -> Found {
    if problem.groups.len() > GROUPS {
        return Found { placed: None, proven: best_ns <= bound_ns };
    }
    let mut order: Vec<usize> = (0..problem.groups.len()).collect();
    order.sort_by_key(|&group| std::cmp::Reverse(problem.least(group)));
    let mut rest = vec![0_u64; order.len() + 1];
    for (at, &group) in order.iter().enumerate().rev() {
        rest[at] = rest[at + 1].saturating_add(problem.least(group));
    }
    let alike = problem.channels.is_empty() && !problem.hops.any_cycle();
    let state = State::empty(problem);
    let mut search = Search { state, cores, order, rest, best_ns, best: None, bound_ns, steps, alike };
    search.branch(0);
    Found { proven: search.steps > 0 || search.best_ns <= bound_ns, placed: search.best }
}

/// More can't be gone through, and the recursion is as deep as there are groups.
const GROUPS: usize = 64;

impl Search<'_> {
    fn branch(&mut self, at: usize) {
        if self.steps == 0 || self.best_ns <= self.bound_ns {
            return;
        }
        self.steps -= 1;
        let Some(&group) = self.order.get(at) else {
            self.best_ns = self.state.period_ns();
            self.best = Some(self.state.placed.clone());
            return;
        };
        let problem = self.state.problem;
        let mut cores = candidates(&self.state, self.cores);
        let load = |state: &State<'_>, core: usize| {
            problem.cost(group, problem.kind_of[core]).saturating_add(state.load_ns(core))
        };
        cores.sort_by_key(|&core| (load(&self.state, core), core));
        let mut before = None;
        for core in cores {
            let kind = problem.kind_of[core];
            let here = (load(&self.state, core), kind);
            if problem.cost(group, kind) == NEVER || (self.alike && before == Some(here)) {
                continue;
            }
            before = Some(here);
            self.state.put(group, core);
            if self.hopeful(at + 1) && self.state.legal() {
                self.branch(at + 1);
            }
            self.state.take(group);
        }
    }

    /// Whether what is placed, and the rest spread evenly into the room below the best, may still be shorter.
    fn hopeful(&self, at: usize) -> bool {
        if self.state.period_ns() >= self.best_ns {
            return false;
        }
        // A group no shorter than the room of a core can't go there: its room is lost.
        let smallest = self.order[at..].last().map_or(0, |&group| self.state.problem.least(group));
        let room = (0..self.cores).map(|core| (self.best_ns - 1).saturating_sub(self.state.load_ns(core)));
        let room: u64 = room.filter(|&room| room >= smallest).fold(0, u64::saturating_add);
        self.rest[at] <= room
    }
}
