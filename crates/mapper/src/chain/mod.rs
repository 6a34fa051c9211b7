//! Chains of partially replicable tasks on one or two classes of cores: OTAC, FERTAC and HeRAD.
//!
//! A chain is cut into intervals, the *stages*. A stage runs on cores of one class; if all its tasks are replicable, copies
//! of it may take turns on several cores, and its load is its time divided by them. The *period* is the largest load.
//! Problem and names: "Scheduling strategies for partially-replicable task chains on two types of resources"
//! (arXiv 2502.10000), OTAC: HAL 04228117. The results published with them are the judge, in `tests/together/published.rs`.
//!
//! takt's runtime makes no copies of components, so the mapper uses these with tasks that are not replicable. Then a
//! stage has one core, and OTAC is the classic optimal cut of a chain into intervals.
//!
//! ```
//! use takt_mapper::chain::{Chain, Class, Task, herad, otac};
//!
//! let chain = Chain::new(vec![Task::new(10.0, 30.0, false), Task::new(60.0, 90.0, true), Task::new(20.0, 20.0, false)]);
//! let one_class = otac(&chain, Class::Big, 3).unwrap();
//! assert_eq!((one_class.period(), one_class.stages().len()), (60.0, 3));
//! let two_classes = herad(&chain, 3, 1).unwrap();
//! assert_eq!(two_classes.period(), 30.0); // two big cores take turns, one has the first task, the little one the last
//! ```

mod fertac;
mod herad;
mod otac;
mod stage;

use std::ops::Range;

pub use fertac::fertac;
pub use herad::herad;
pub use otac::otac;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Fast ones, as a rule.
    Big,
    /// Those to be preferred at equal period.
    Little,
}

/// A task of a chain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Task {
    /// Time on a big core, any unit.
    pub big: f64,
    /// Time on a little core, same unit.
    pub little: f64,
    /// Whether copies may take turns.
    pub replicable: bool,
}

impl Task {
    #[must_use]
    pub fn new(big: f64, little: f64, replicable: bool) -> Task {
        Task { big, little, replicable }
    }
}

/// A chain with the sums that make every interval's time one subtraction.
#[derive(Clone, Debug)]
pub struct Chain {
    tasks: Vec<Task>,
    big: Vec<f64>,
    little: Vec<f64>,
    /// For each task, the first from it on that is not replicable.
    run: Vec<usize>,
}

impl Chain {
    /// Chain of these tasks, in order. Times that are no finite, non-negative numbers count as zero.
    #[must_use]
    pub fn new(mut tasks: Vec<Task>) -> Chain {
        let good = |time: f64| if time.is_finite() { time.max(0.0) } else { 0.0 };
        let (mut big, mut little) = (vec![0.0], vec![0.0]);
        for (index, task) in tasks.iter_mut().enumerate() {
            (task.big, task.little) = (good(task.big), good(task.little));
            big.push(big[index] + task.big);
            little.push(little[index] + task.little);
        }
        let mut run = vec![tasks.len(); tasks.len()];
        let mut first = tasks.len();
        for (index, task) in tasks.iter().enumerate().rev() {
            first = if task.replicable { first } else { index };
            run[index] = first;
        }
        Chain { tasks, big, little, run }
    }

    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// Time of an interval on one core.
    #[must_use]
    pub fn sum(&self, class: Class, tasks: Range<usize>) -> f64 {
        let sums = if class == Class::Big { &self.big } else { &self.little };
        sums[tasks.end] - sums[tasks.start]
    }

    /// Whether copies of the whole interval may take turns.
    #[must_use]
    pub fn replicable(&self, tasks: Range<usize>) -> bool {
        tasks.is_empty() || self.run[tasks.start] >= tasks.end
    }

    /// Load of an interval as a stage on so many cores, of which a stage that is not replicable uses one.
    #[must_use]
    pub fn load(&self, class: Class, tasks: Range<usize>, cores: usize) -> f64 {
        let sum = self.sum(class, tasks.clone());
        if self.replicable(tasks) { sum / cores as f64 } else { sum }
    }

    fn longest(&self, time: impl Fn(&Task) -> f64) -> f64 {
        self.tasks.iter().map(time).fold(0.0, f64::max)
    }

    fn longest_stateful(&self, class: Class) -> f64 {
        let time = |task: &Task| if class == Class::Big { task.big } else { task.little };
        self.longest(|task| if task.replicable { 0.0 } else { time(task) })
    }
}

/// An interval of a chain and the cores it runs on.
#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Indices of its tasks.
    pub tasks: Range<usize>,
    pub cores: usize,
    pub class: Class,
    /// Time of its tasks divided by its cores.
    pub load: f64,
}

/// A chain cut into stages.
#[derive(Clone, Debug, PartialEq)]
pub struct Schedule {
    stages: Vec<Stage>,
}

impl Schedule {
    /// In the order of the chain.
    #[must_use]
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// The largest load.
    #[must_use]
    pub fn period(&self) -> f64 {
        self.stages.iter().map(|stage| stage.load).fold(0.0, f64::max)
    }

    #[must_use]
    pub fn cores(&self, class: Class) -> usize {
        self.stages.iter().filter(|stage| stage.class == class).map(|stage| stage.cores).sum()
    }
}

/// Cores left to each class.
#[derive(Clone, Copy, Debug)]
struct Cores {
    big: usize,
    little: usize,
}

/// Narrows a period down between one that can't be and one that can, until what lies between is at most `epsilon`.
fn bisect(
    mut below: f64,
    mut above: f64,
    epsilon: f64,
    mut cut: impl FnMut(f64) -> Option<Schedule>,
) -> Option<Schedule> {
    let mut best = None;
    while above - below >= epsilon {
        let period = f64::midpoint(below, above);
        if period <= below || period >= above {
            break;
        }
        match cut(period) {
            Some(schedule) => {
                above = schedule.period();
                best = Some(schedule);
            }
            None => below = period,
        }
    }
    best
}

/// Goes on below a schedule's period until nothing does better. Ends: periods are times of intervals over core counts.
fn tighten(mut best: Schedule, mut cut: impl FnMut(f64) -> Option<Schedule>) -> Schedule {
    while let Some(better) = cut(best.period() * (1.0 - 1e-12)) {
        if better.period() >= best.period() {
            break;
        }
        best = better;
    }
    best
}
