//! The stage that a greedy cut takes next, for a period it must not exceed.

use super::{Chain, Class, Stage};

/// Cores that `sum` needs to stay within the period; at least one.
pub(super) fn needed(sum: f64, period: f64) -> usize {
    let cores = (sum / period).ceil().max(1.0);
    // `sum / cores` may meet a period that was computed as just that, while the quotient above lies a rounding beyond.
    let fewer = cores - 1.0;
    let cores = if fewer >= 1.0 && sum / fewer <= period { fewer } else { cores };
    // Saturates: more cores than anybody has.
    cores as usize
}

/// The stage that begins at `start`: as long as one core can take; if all of that is replicable, to the end of the
/// replicable run on as many cores as it takes, less what the stage after can take along on the core it needs anyway.
/// `fit`: a run too long for the cores left is cut to what they can take.
pub(super) fn next(chain: &Chain, class: Class, period: f64, start: usize, cores: usize, fit: bool) -> Option<Stage> {
    let all = chain.tasks.len();
    let mut end = start + 1;
    while end < all && chain.load(class, start..end + 1, 1) <= period {
        end += 1;
    }
    let mut count = needed(chain.sum(class, start..end), period);
    let run = chain.run[start];
    if chain.replicable(start..end) && run > end {
        end = run;
        count = needed(chain.sum(class, start..run), period);
        if fit && count > cores {
            while end > start && chain.load(class, start..end, cores) > period {
                end -= 1;
            }
            count = needed(chain.sum(class, start..end), period);
        } else if run < all {
            (end, count) = handed_on(chain, class, period, start, run, count);
        }
    }
    let stage = Stage { tasks: start..end, cores: count, class, load: chain.load(class, start..end, count) };
    (end > start && count <= cores && stage.load <= period).then_some(stage)
}

/// End of a replicated stage when the task at `run`, which is not replicable, has room for tasks before it.
fn handed_on(chain: &Chain, class: Class, period: f64, start: usize, run: usize, count: usize) -> (usize, usize) {
    let mut end = run;
    while end > start && chain.sum(class, end - 1..run + 1) <= period {
        end -= 1;
    }
    if count < 2 || end == start || chain.load(class, start..end, count - 1) > period {
        return (run, count);
    }
    while end < run && chain.load(class, start..end + 1, count - 1) <= period {
        end += 1;
    }
    (end, count - 1)
}
