//! ALOE's t_w-mapping: a dynamic programme over the trellis of components and processors.
//!
//! Stages of the trellis are groups in topological order, states are cores; a step from core p to core q says that the next
//! group runs on q. One path survives per state. At each stage all continuations of `window` groups are tried from every
//! survivor, and of those that begin on core q the best decides which survivor q extends. So a window of 1 is Viterbi's
//! step, a window as long as the chain is exhaustive, and the time grows as cores^(window + 1) a stage. Idea: Marojevic,
//! Revés and Gelonch, "A computing resource management framework for software-defined radios", IEEE Transactions on
//! Computers 57(10), 2008. Their cost function adds up the relative loads of processors and links; here a path is judged
//! by its period first and by the sum of squares of loads and link times second, both of the whole path, as
//! [`super::state::Score`] has them.

use super::greedy::candidates;
use super::problem::{NEVER, Problem};
use super::state::{Score, State};

/// Continuations tried at most over the whole trellis; decides how long the window may be.
const BUDGET: f64 = 6_000.0;

/// The longest window, up to 3, that the budget allows; 0 if not even 1 does.
pub(crate) fn window(problem: &Problem, cores: usize) -> usize {
    let steps = |window: i32| problem.groups.len() as f64 * (cores as f64).powi(window + 1);
    (1..=3).rev().find(|&window| steps(window) <= BUDGET).unwrap_or(0) as usize
}

/// `None` if no survivor is left: all paths met a wrong core, a missing link or an illegal cycle.
pub(crate) fn trellis<'p>(problem: &'p Problem, cores: usize, window: usize) -> Option<State<'p>> {
    let mut survivors = vec![State::empty(problem)];
    for group in 0..problem.groups.len() {
        let end = (group + window).min(problem.groups.len());
        let mut best: Vec<Option<(Score, usize)>> = vec![None; cores];
        for (index, survivor) in survivors.iter_mut().enumerate() {
            for core in candidates(survivor, cores) {
                survivor.put(group, core);
                if survivor.legal() {
                    let score = ahead(survivor, group + 1, end, cores);
                    if score.period_ns != NEVER && best[core].is_none_or(|(least, _)| score < least) {
                        best[core] = Some((score, index));
                    }
                }
                survivor.take(group);
            }
        }
        let extended = best.iter().enumerate().filter_map(|(core, kept)| {
            let mut state = survivors[kept.as_ref()?.1].clone();
            state.put(group, core);
            Some(state)
        });
        survivors = extended.collect();
    }
    survivors.into_iter().min_by_key(|state| (state.score(), state.crossing))
}

/// The best score within the window.
fn ahead(state: &mut State<'_>, group: usize, end: usize, cores: usize) -> Score {
    if group >= end {
        return state.score();
    }
    let mut best = Score { period_ns: NEVER, balance: u128::MAX };
    for core in candidates(state, cores) {
        state.put(group, core);
        best = best.min(ahead(state, group + 1, end, cores));
        state.take(group);
    }
    best
}
