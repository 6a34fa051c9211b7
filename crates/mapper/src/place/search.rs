//! Local search: moves of one group and swaps of two, as long as one makes it better. Ends where none does.

use super::problem::{NEVER, Problem, Way};
use super::state::{Score, State};

/// Moves and swaps made at most; each makes the score less, so this is a limit on time, not on cycles.
const MOST: usize = 1000;

/// Never worse than what it starts from.
pub(crate) fn improve(state: &mut State<'_>, cores: usize) {
    descend(state, cores, |state: &State<'_>| state.score());
}

/// With the period no longer than it is: fewer bytes between cores.
pub(crate) fn settle(state: &mut State<'_>, cores: usize) {
    let limit = state.period_ns();
    descend(state, cores, |state: &State<'_>| {
        let period_ns = state.period_ns();
        Score { period_ns: if period_ns <= limit { 0 } else { NEVER }, balance: u128::from(state.crossing) }
    });
}

fn descend(state: &mut State<'_>, cores: usize, score: impl Fn(&State<'_>) -> Score) {
    let mut now = score(state);
    for _ in 0..MOST {
        let best = moves(state, cores, &score).into_iter().chain(swaps(state, &score)).min();
        match best {
            Some((next, step)) if next < now => {
                step.make(state);
                now = next;
            }
            _ => break,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Step {
    Move(usize, usize),
    Swap(usize, usize),
}

impl Step {
    fn make(self, state: &mut State<'_>) {
        match self {
            Step::Move(group, core) => {
                state.take(group);
                state.put(group, core);
            }
            Step::Swap(a, b) => {
                let (core_a, core_b) = (state.placed[a], state.placed[b]);
                state.take(a);
                state.take(b);
                state.put(a, core_b);
                state.put(b, core_a);
            }
        }
    }

    fn undo(self, state: &mut State<'_>, before: usize) {
        match self {
            Step::Move(group, _) => Step::Move(group, before).make(state),
            swap @ Step::Swap(..) => swap.make(state),
        }
    }

    /// Its score, if that is legal.
    fn weigh(self, state: &mut State<'_>, score: &impl Fn(&State<'_>) -> Score) -> Option<(Score, Step)> {
        let before = match self {
            Step::Move(group, _) | Step::Swap(group, _) => state.placed[group],
        };
        self.make(state);
        let reached = score(state);
        let good = reached.period_ns != NEVER && state.legal();
        self.undo(state, before);
        good.then_some((reached, self))
    }
}

/// Groups that a change of could shorten the period: those on the busiest core or over the busiest channel. All, in small
/// problems: there balance is worth its time.
fn pressing(state: &State<'_>) -> Vec<usize> {
    let problem = state.problem;
    let groups = 0..problem.groups.len();
    if problem.groups.len() <= ALL {
        return groups.collect();
    }
    let period_ns = state.period_ns();
    let busy = |core: usize| state.load_ns(core) == period_ns;
    let over = |group: usize| {
        problem.flows_of[group].iter().any(|&index| {
            let flow = problem.flows[index];
            let (from, to) = (state.placed[flow.from], state.placed[flow.to]);
            from != to
                && matches!(problem.way(&flow, from, to), Way::Over(channel) if problem.channel_ns(channel, state.bytes[channel]) == period_ns)
        })
    };
    groups.filter(|&group| busy(state.placed[group]) || over(group)).collect()
}

const ALL: usize = 32;

fn moves(state: &mut State<'_>, cores: usize, score: &impl Fn(&State<'_>) -> Score) -> Option<(Score, Step)> {
    let steps = pressing(state).into_iter().flat_map(|group| (0..cores).map(move |core| (group, core)));
    let steps: Vec<_> = steps.filter(|&(group, core)| state.placed[group] != core).collect();
    steps.into_iter().filter_map(|(group, core)| Step::Move(group, core).weigh(state, score)).min()
}

fn swaps(state: &mut State<'_>, score: &impl Fn(&State<'_>) -> Score) -> Option<(Score, Step)> {
    let all = state.problem.groups.len();
    let pressing = pressing(state);
    let every = pressing.len() == all;
    let mut best = None;
    for a in pressing {
        for b in if every { a + 1 } else { 0 }..all {
            if state.placed[a] != state.placed[b] {
                let next = Step::Swap(a.min(b), a.max(b)).weigh(state, score);
                best = [best, next].into_iter().flatten().min();
            }
        }
    }
    best
}

/// Every single move that is legal, with what it would lead to.
pub(crate) fn every_move<'p>(problem: &'p Problem, placed: &[usize], mut visit: impl FnMut(usize, usize, &State<'p>)) {
    let mut state = State::of(problem, placed);
    for (group, &here) in placed.iter().enumerate() {
        // Cores of a kind on which nothing runs are alike.
        for core in super::greedy::candidates(&state, problem.kind_of.len()) {
            if core == here {
                continue;
            }
            Step::Move(group, core).make(&mut state);
            if state.period_ns() != NEVER && state.legal() {
                visit(group, core, &state);
            }
            Step::Move(group, here).make(&mut state);
        }
    }
}
