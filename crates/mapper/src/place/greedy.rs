//! Placements in microseconds: the chain cut into intervals, and the dearest first.

use super::problem::{NEVER, Problem};
use super::state::State;
use crate::chain::{Chain, Class, Schedule, Task, herad, otac};

/// Groups in topological order as one chain, cut into as many intervals as there are cores: [`otac`] for one kind of core,
/// [`herad`] for two, nothing for more. Neighbours stay together, so little crosses and latency is short. `None` if the
/// cut is no legal placement.
pub(crate) fn cut<'p>(problem: &'p Problem, cores: usize) -> Option<State<'p>> {
    let mut kinds = Vec::new();
    for &kind in &problem.kind_of[..cores] {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let time = |group: usize, kind: usize| match problem.cost(group, kind) {
        // So dear that it is avoided, and finite.
        NEVER => 1e30,
        cost => cost as f64,
    };
    let count = |kind: usize| problem.kind_of[..cores].iter().filter(|&&of| of == kind).count();
    let (first, second) = match kinds[..] {
        [one] => (one, one),
        [one, two] => (one, two),
        _ => return None,
    };
    let task = |group: usize| Task::new(time(group, first), time(group, second), false);
    let chain = Chain::new((0..problem.groups.len()).map(task).collect());
    let schedule = if first == second {
        otac(&chain, Class::Big, cores)
    } else if problem.groups.len() <= HERAD_GROUPS {
        herad(&chain, count(first), count(second))
    } else {
        None
    };
    let placed = stages_on_cores(problem, &schedule?, (first, second), cores);
    let state = State::of(problem, &placed);
    (state.period_ns() != NEVER && state.legal()).then_some(state)
}

/// Its time grows with their square.
const HERAD_GROUPS: usize = 256;

fn stages_on_cores(problem: &Problem, schedule: &Schedule, kinds: (usize, usize), cores: usize) -> Vec<usize> {
    let of = |kind: usize| (0..cores).filter(move |&core| problem.kind_of[core] == kind);
    let (mut big, mut little) = (of(kinds.0), of(kinds.1));
    let mut placed = vec![0; problem.groups.len()];
    for stage in schedule.stages() {
        let core = match stage.class {
            Class::Big => big.next(),
            Class::Little => little.next(),
        };
        placed[stage.tasks.clone()].fill(core.unwrap_or(0));
    }
    placed
}

/// The dearest group first, each where it leaves the shortest period. With cycles that may be parted, a group can find no
/// legal core left; so the same is done with strongly connected parts kept whole, and the better of the two is given.
/// `None` if pins and links leave no core to some part.
pub(crate) fn largest_first<'p>(problem: &'p Problem, cores: usize) -> Option<State<'p>> {
    if problem.parts.len() == problem.groups.len() {
        return in_order(problem, cores, problem.parts.clone());
    }
    let single = (0..problem.groups.len()).map(|group| vec![group]).collect();
    let found = [in_order(problem, cores, single), in_order(problem, cores, problem.parts.clone())];
    found.into_iter().flatten().min_by_key(State::period_ns)
}

/// Places parts, the dearest first.
fn in_order<'p>(problem: &'p Problem, cores: usize, mut parts: Vec<Vec<usize>>) -> Option<State<'p>> {
    let least = |part: &Vec<usize>| part.iter().map(|&group| problem.least(group)).fold(0, u64::saturating_add);
    // Stable: equal ones in topological order.
    parts.sort_by_cached_key(|part| std::cmp::Reverse(least(part)));
    let mut state = State::empty(problem);
    for part in parts {
        let mut best = None;
        for core in candidates(&state, cores) {
            part.iter().for_each(|&group| state.put(group, core));
            // The core's own load first: with one far ahead, all others leave the same period.
            let key = (state.period_ns(), state.load_ns(core), state.crossing);
            if key.0 != NEVER && best.is_none_or(|(least, _)| key < least) && state.legal() {
                best = Some((key, core));
            }
            part.iter().for_each(|&group| state.take(group));
        }
        let (_, core) = best?;
        part.iter().for_each(|&group| state.put(group, core));
    }
    Some(state)
}

/// Cores worth trying: of those of a kind on which nothing is yet, the first stands for all.
pub(crate) fn candidates(state: &State<'_>, cores: usize) -> Vec<usize> {
    let mut tried = vec![false; state.problem.kinds.len()];
    let fresh = |core: &usize| {
        let kind = state.problem.kind_of[*core];
        !state.empty_core(*core) || !std::mem::replace(&mut tried[kind], true)
    };
    (0..cores).filter(fresh).collect()
}
