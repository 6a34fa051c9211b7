//! OTAC: optimal for one class of cores.

use super::{Chain, Class, Schedule, bisect, stage, tighten};

/// Cuts a chain for `cores` cores of one class so that no other cut has a shorter period; `None` without tasks or cores.
///
/// A binary search for the period with a greedy cut inside, then steps below until none is left. The published program
/// stops its search at `1 / cores`; this one goes on, so its period is equal or by less than that shorter.
#[must_use]
pub fn otac(chain: &Chain, class: Class, cores: usize) -> Option<Schedule> {
    let all = chain.tasks.len();
    if all == 0 || cores == 0 {
        return None;
    }
    let longest = chain.longest(|task| if class == Class::Big { task.big } else { task.little });
    let below = (chain.sum(class, 0..all) / cores as f64).max(chain.longest_stateful(class));
    let cut = |period: f64| greedy(chain, class, period, cores);
    // Met exactly more often than not.
    if let Some(met) = cut(below) {
        return Some(met);
    }
    let above = below + longest;
    let found = bisect(below, above, above * 1e-3, cut).or_else(|| cut(above * (1.0 + 1e-12)))?;
    Some(tighten(found, cut))
}

fn greedy(chain: &Chain, class: Class, period: f64, mut cores: usize) -> Option<Schedule> {
    let mut stages = Vec::with_capacity(cores.min(chain.tasks.len()));
    let mut start = 0;
    while start < chain.tasks.len() {
        let stage = stage::next(chain, class, period, start, cores, false)?;
        cores -= stage.cores;
        start = stage.tasks.end;
        stages.push(stage);
    }
    Some(Schedule { stages })
}
