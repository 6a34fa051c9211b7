//! HeRAD's problem, solved exactly: two classes of cores, shortest period, then fewest big cores, then fewest little ones.
//!
//! The published dynamic programme finds the shortest period for every number of tasks, big and little cores. This one
//! asks, for a period, with how few big cores the first j tasks can be done beside l little ones, and searches for the
//! period. Same optimum, one dimension less; the cores it prefers are then a consequence, not a rule for ties.

use super::{Chain, Class, Schedule, Stage, bisect, stage, tighten};

/// Cuts a chain for two classes of cores so that no other cut has a shorter period, and among those none has fewer big
/// cores; `None` without tasks or cores. Time grows as tasks² x little cores.
#[must_use]
pub fn herad(chain: &Chain, big: usize, little: usize) -> Option<Schedule> {
    let all = chain.tasks.len();
    if all == 0 || big + little == 0 {
        return None;
    }
    let fastest = |class| match class {
        Class::Big if big == 0 => f64::INFINITY,
        Class::Little if little == 0 => f64::INFINITY,
        class => chain.sum(class, 0..all),
    };
    let above = fastest(Class::Big).min(fastest(Class::Little));
    let below = above / (4.0 * (big + little) as f64);
    let cut = |period: f64| fewest_big(chain, period, big, little);
    let found = bisect(below.min(above), above, above * 1e-4, cut).or_else(|| cut(above))?;
    Some(tighten(found, cut))
}

/// How the first tasks are done best: cores in use, and the stage that came last.
#[derive(Clone, Copy)]
struct Cell {
    big: usize,
    little: usize,
    from: usize,
    cores: usize,
    class: Class,
}

/// The cut with the fewest big cores, then the fewest little ones, whose stages stay within the period.
fn fewest_big(chain: &Chain, period: f64, big: usize, little: usize) -> Option<Schedule> {
    let (all, width) = (chain.tasks.len(), little + 1);
    let none = Cell { big: usize::MAX, little: 0, from: 0, cores: 0, class: Class::Big };
    let mut best = vec![none; (all + 1) * width];
    best[..width].fill(Cell { big: 0, ..none });
    for end in 1..=all {
        for start in (0..end).rev() {
            let mut fits = false;
            for class in [Class::Big, Class::Little] {
                let (tasks, have) = (start..end, if class == Class::Big { big } else { little });
                let cores = stage::needed(chain.sum(class, tasks.clone()), period);
                if cores > have
                    || (cores > 1 && !chain.replicable(tasks.clone()))
                    || chain.load(class, tasks, cores) > period
                {
                    continue;
                }
                fits = true;
                let (more_big, more_little) = if class == Class::Big { (cores, 0) } else { (0, cores) };
                for l in more_little..width {
                    let before = best[start * width + l - more_little];
                    if before.big == usize::MAX || before.big + more_big > big {
                        continue;
                    }
                    let cell = Cell {
                        big: before.big + more_big,
                        little: before.little + more_little,
                        from: start,
                        cores,
                        class,
                    };
                    let old = &mut best[end * width + l];
                    if (cell.big, cell.little) < (old.big, old.little) {
                        *old = cell;
                    }
                }
            }
            // A longer interval needs no fewer cores.
            if !fits {
                break;
            }
        }
    }
    trace(chain, &best, width)
}

fn trace(chain: &Chain, best: &[Cell], width: usize) -> Option<Schedule> {
    let (mut end, mut l) = (chain.tasks.len(), width - 1);
    let mut stages = Vec::new();
    while end > 0 {
        let cell = best[end * width + l];
        if cell.big == usize::MAX {
            return None;
        }
        let tasks = cell.from..end;
        let load = chain.load(cell.class, tasks.clone(), cell.cores);
        stages.push(Stage { tasks, cores: cell.cores, class: cell.class, load });
        l -= if cell.class == Class::Little { cell.cores } else { 0 };
        end = cell.from;
    }
    stages.reverse();
    Some(Schedule { stages })
}
