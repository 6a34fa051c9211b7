//! FERTAC: fast, for two classes of cores.

use super::{Chain, Class, Cores, Schedule, bisect, stage};

/// Cuts a chain for two classes of cores: each stage on little ones if they can take it, else on big ones. Not optimal,
/// but good in microseconds; `None` without tasks, without big cores, or if the greedy cut finds nothing.
///
/// The search ends at a step of `1 / cores` of the unit of time, as published: for whole numbers.
#[must_use]
pub fn fertac(chain: &Chain, big: usize, little: usize) -> Option<Schedule> {
    let (all, cores) = (chain.tasks.len(), big + little);
    if all == 0 || cores == 0 {
        return None;
    }
    let below = (chain.sum(Class::Big, 0..all) / cores as f64).max(chain.longest_stateful(Class::Big));
    let above = below + chain.longest(|task| task.big.max(task.little));
    bisect(below, above, 1.0 / cores as f64, |period| greedy(chain, period, Cores { big, little }))
}

fn greedy(chain: &Chain, period: f64, mut cores: Cores) -> Option<Schedule> {
    let mut stages = Vec::new();
    let mut start = 0;
    while start < chain.tasks.len() {
        let on = |class, count| (count > 0).then(|| stage::next(chain, class, period, start, count, true)).flatten();
        let stage = on(Class::Little, cores.little).or_else(|| on(Class::Big, cores.big))?;
        match stage.class {
            Class::Little => cores.little -= stage.cores,
            Class::Big => cores.big -= stage.cores,
        }
        start = stage.tasks.end;
        stages.push(stage);
    }
    Some(Schedule { stages })
}
