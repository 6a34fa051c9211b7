//! All algorithms in turn, the best placement of all of them.

use serde::Serialize;

use super::problem::{NEVER, Problem};
use super::state::State;
use super::{bounds, exact, greedy, search, trellis};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "algorithm")]
pub enum Algorithm {
    OneCore,
    /// The topological order cut into intervals: OTAC on one kind of core, HeRAD on two.
    Cut,
    /// The dearest component first, each where it leaves the shortest period.
    LargestFirst,
    /// ALOE's t_w-mapping.
    Trellis {
        /// Components looked ahead, the one to be placed included.
        window: usize,
    },
    /// Moves and swaps, starting from each of the others.
    LocalSearch,
    /// Every placement, as far as it was not ruled out.
    BranchAndBound,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Effort {
    /// Microseconds, for a running waveform: [`Algorithm::Cut`] and [`Algorithm::LargestFirst`]; no next moves are looked for.
    Greedy,
    /// Then the trellis and local search.
    Search,
    /// Then branch and bound, up to so many steps.
    Exact {
        /// Partial placements looked at, at most.
        steps: u64,
    },
}

impl Default for Effort {
    /// Branch and bound for 20 000 steps: some milliseconds.
    fn default() -> Effort {
        Effort::Exact { steps: 20_000 }
    }
}

/// The best placement and what is known about it.
#[derive(Clone)]
pub(crate) struct Solution {
    pub placed: Vec<usize>,
    pub algorithm: Algorithm,
    pub period_ns: u64,
    /// At equal period: fewer slots from source to sink.
    pub latency_slots: u32,
    /// At equal latency: fewer bytes between cores.
    pub crossing: u64,
    /// Whether branch and bound has ruled everything shorter out.
    pub proven: bool,
}

impl Solution {
    /// Order by which one is better than another.
    fn key(&self) -> (u64, u32, u64) {
        (self.period_ns, self.latency_slots, self.crossing)
    }
}

/// Up to so many cores, placements on fewer are looked for too, so that more cores are never worse. Beyond, doubling.
const EVERY: usize = 16;

/// `None` if not even one core, nor anything found, can have all components.
pub(crate) fn solve(problem: &Problem, effort: Effort) -> Option<Solution> {
    let found = solve_with(problem, effort);
    let broken_off = matches!(effort, Effort::Exact { .. }) && found.as_ref().is_some_and(|found| !found.proven);
    if !broken_off {
        return found;
    }
    // A proof that was broken off may end at another placement than the search alone, from which the last step leads less
    // far. More effort is never worse.
    let searched = solve_with(problem, Effort::Search);
    [found, searched].into_iter().flatten().min_by_key(Solution::key)
}

fn solve_with(problem: &Problem, effort: Effort) -> Option<Solution> {
    let all = problem.kind_of.len();
    let mut best = one_core(problem, all);
    if effort == Effort::Greedy {
        for found in [
            (greedy::cut(problem, all), Algorithm::Cut),
            (greedy::largest_first(problem, all), Algorithm::LargestFirst),
        ] {
            better(&mut best, found);
        }
        return best;
    }
    let doubling = std::iter::successors(Some(EVERY), |cores| cores.checked_mul(2)).take_while(|&cores| cores < all);
    let sizes: Vec<usize> = if all <= EVERY { (1..=all).collect() } else { doubling.chain([all]).collect() };
    for cores in sizes {
        on(problem, cores, effort, &mut best);
    }
    if let Some(found) = &best {
        let mut state = State::of(problem, &found.placed);
        search::settle(&mut state, all);
        let (algorithm, proven) = (found.algorithm, found.proven);
        better(&mut best, (Some(state), algorithm));
        best = best.map(|best| Solution { proven, ..best });
    }
    best
}

/// The best of what was known and what the first `cores` cores allow.
fn on<'p>(problem: &'p Problem, cores: usize, effort: Effort, best: &mut Option<Solution>) {
    let bound_ns = bounds::quick(problem, cores);
    let reached = |best: &Option<Solution>| best.as_ref().is_some_and(|best| best.period_ns <= bound_ns);
    let window = trellis::window(problem, cores);
    let starts: [(&dyn Fn() -> Option<State<'p>>, Algorithm); 4] = [
        (&|| greedy::cut(problem, cores), Algorithm::Cut),
        (&|| greedy::largest_first(problem, cores), Algorithm::LargestFirst),
        (&|| if window > 0 { trellis::trellis(problem, cores, window) } else { None }, Algorithm::Trellis { window }),
        (&|| Some(State::of(problem, &one_core(problem, cores)?.placed)), Algorithm::OneCore),
    ];
    // A quick proof comes before the search that it makes needless.
    let quick = exact::quick(problem);
    if quick && matches!(effort, Effort::Exact { .. }) {
        for (start, algorithm) in &starts[..2] {
            better(best, (start(), *algorithm));
        }
        if prove(problem, cores, effort, bound_ns, best) {
            return;
        }
    }
    // Each start is improved by itself, not the best so far: so what more effort found on fewer cores never leads astray.
    for (start, algorithm) in starts {
        if let Some(mut state) = start().filter(|_| !reached(best)) {
            better(best, (Some(state.clone()), algorithm));
            search::improve(&mut state, cores);
            better(best, (Some(state), Algorithm::LocalSearch));
        }
    }
    if !quick {
        prove(problem, cores, effort, bound_ns, best);
    }
}

/// Branch and bound, where the effort has it. Whether the best is proven then.
fn prove(problem: &Problem, cores: usize, effort: Effort, bound_ns: u64, best: &mut Option<Solution>) -> bool {
    let Effort::Exact { steps } = effort else { return false };
    let below = best.as_ref().map_or(NEVER, |best| best.period_ns);
    let found = exact::search(problem, cores, below, bound_ns, steps);
    let proven = found.proven;
    better(best, (found.placed.map(|placed| State::of(problem, &placed)), Algorithm::BranchAndBound));
    if let Some(best) = best {
        best.proven = proven;
    }
    proven
}

fn better(best: &mut Option<Solution>, (found, algorithm): (Option<State<'_>>, Algorithm)) {
    let Some(state) = found else { return };
    let period_ns = state.period_ns();
    if period_ns == NEVER || best.as_ref().is_some_and(|best| period_ns > best.period_ns) {
        return;
    }
    let Some(latency_slots) = state.latency_slots() else { return };
    let new =
        Solution { algorithm, period_ns, latency_slots, crossing: state.crossing, proven: false, placed: state.placed };
    if best.as_ref().is_none_or(|best| new.key() < best.key()) {
        *best = Some(new);
    }
}

/// All on the core that is done first. Always legal, where pins allow it.
fn one_core(problem: &Problem, cores: usize) -> Option<Solution> {
    let mut best = None;
    let mut tried = vec![false; problem.kinds.len()];
    for core in 0..cores {
        if !std::mem::replace(&mut tried[problem.kind_of[core]], true) {
            let state = State::of(problem, &vec![core; problem.groups.len()]);
            better(&mut best, (Some(state), Algorithm::OneCore));
        }
    }
    best
}
