//! How late is a thread that should wake up once a period?
//!
//! ```text
//! due      │tick 0   │tick 1   │tick 2   │tick 3   │tick 4        intended: start + k intervals, whatever happened
//! awake    ·│        ·  ·  ·  ·  ·  ·  · ·│         ·│
//!           late by a                     tick 1 late by d, and 2 and 3, which nobody was awake for, by d-1 and d-2
//! ```
//!
//! Lateness is taken from the intended instants. A thread that slept over ticks has that many late ticks, told apart as
//! `unsampled`: a program that skips them looks the better the longer it slept (coordinated omission).
//!
//! What the hypervisor took is counted apart, from the kernel's account of stolen time: no setting of this machine mends
//! it.

mod account;
mod load;
mod options;
mod outcome;
mod text;
#[cfg(test)]
mod text_tests;
mod thread;
pub(crate) mod workload;

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_host::accounting::Snapshot;
use takt_host::affinity::AffinityError;
use takt_host::idle::LatencyError;
use takt_host::memory;
use takt_host::policy::PolicyError;
use takt_host::timer::TimerError;

pub use crate::rate::Progress;
use load::Load;
use options::MOST_LOAD;
pub use options::Options;
pub use outcome::{Outcome, Thread};
use thread::{Beating, Measured, ThreadReport};

/// Why there was nothing to measure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeupError {
    /// No tick falls into the time.
    #[error("the duration is shorter than an interval")]
    NoTime,
    /// More ticks than anybody waits for.
    #[error("{ticks} ticks are more than 1000000000")]
    TooLong {
        /// Ticks asked for.
        ticks: u64,
    },
    /// Too short an interval.
    #[error("an interval of {got:?} is shorter than 10 µs")]
    Interval {
        /// The interval.
        got: Duration,
    },
    /// No such clock.
    #[error("a clock tick of {got} Hz is not within 1 to 1000000 Hz")]
    TickHz {
        /// Ticks a second asked for.
        got: u32,
    },
    /// More busy loops than anybody learns from, and enough of them to take the machine from its owner.
    #[error("{got} busy loops are more than {MOST_LOAD}")]
    Load {
        /// Loops asked for.
        got: u32,
    },
    /// A timer slack of nothing, which the kernel takes for the usual one.
    #[error("a timer slack of 0 is, to the kernel, the usual one")]
    NoSlack,
    /// A CPU that a thread can't have.
    #[error("placing a thread")]
    Affinity(#[from] AffinityError),
    /// A policy that a thread can't have.
    #[error("policy of a thread")]
    Policy(#[from] PolicyError),
    /// A way to wait that there is not.
    #[error("timer of a thread")]
    Timer(#[from] TimerError),
    /// CPUs that can't be kept awake.
    #[error("keeping idle CPUs awake")]
    Idle(#[from] LatencyError),
    /// The host's own counters.
    #[error("CPU counters of this host")]
    Counters(#[from] takt_host::ReadError),
    /// A thread could not be started.
    #[error("starting a thread")]
    Thread(#[source] io::Error),
}

impl WakeupError {
    /// What to do about it; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            WakeupError::NoTime | WakeupError::TooLong { .. } => Some("--duration 10s --interval 1ms".to_owned()),
            WakeupError::Interval { .. } => Some("--interval 1ms".to_owned()),
            WakeupError::TickHz { .. } => Some("--tick-hz 128, 512 or 1024".to_owned()),
            WakeupError::Load { .. } => Some("--load 4 for each CPU is what the studies have".to_owned()),
            WakeupError::NoSlack => Some("--slack 1ns, which is the least, or no --slack".to_owned()),
            WakeupError::Affinity(_) => Some("--cores with CPUs of this host".to_owned()),
            WakeupError::Policy(error) => error.fix(),
            WakeupError::Idle(error) => error.fix().map(|fix| format!("{fix}\n--idle sleep")),
            WakeupError::Timer(TimerError::TicksWithoutSleep { .. }) => {
                Some("--timer nanosleep, or no --tick-hz".to_owned())
            }
            _ => None,
        }
    }
}

/// How long the threads have until their first tick.
const START_AHEAD: Duration = Duration::from_millis(20);
/// How often the waiting thread looks around.
const LOOK: Duration = Duration::from_millis(100);

/// Lets threads beat and says how late they were. `stop` ends it early, and what was counted until then is the outcome.
///
/// # Errors
/// The beat makes no sense, or a thread can't have what it needs; nothing was measured then.
pub fn run(options: &Options, progress: &mut dyn FnMut(Progress), stop: &Stop) -> Result<Outcome, WakeupError> {
    options.check()?;
    let _awake = options.idle.hold()?;
    // Where it is refused, the outcome says so.
    let locked = memory::lock_all();
    let measured = measure(options, progress, stop);
    if locked.is_ok() {
        let _ = memory::unlock_all();
    }
    let measured = measured?;
    Ok(outcome::of(options, measured, locked.err(), !stop.requested()))
}

/// What was seen, before it is put into words.
struct Seen {
    threads: Vec<Measured>,
    usage: takt_host::accounting::Usage,
}

fn measure(options: &Options, progress: &mut dyn FnMut(Progress), stop: &Stop) -> Result<Seen, WakeupError> {
    let (sender, reports) = mpsc::channel();
    let places = options.places();
    let mut beating = Vec::with_capacity(places.len());
    for (index, cpu) in places.into_iter().enumerate() {
        beating.push(Beating::start(index, cpu, options, &sender, stop)?);
    }
    drop(sender);
    for _ in &beating {
        if let Ok(ThreadReport::Failed(error)) = reports.recv() {
            return Err(error);
        }
    }
    // Dropped last: it runs until the threads have ended.
    let load = Load::start(options.load, &options.cores)?;
    let before = Snapshot::take()?;
    let start = WallClock.now() + START_AHEAD;
    beating.iter().for_each(|thread| thread.go(start));
    let threads = collect(&reports, beating.len(), Clockwork { start, options }, progress)?;
    // While the threads still are, so that their own time is seen.
    let usage = Snapshot::take()?.since(&before);
    drop(beating);
    drop(load);
    Ok(Seen { threads, usage })
}

/// When what was begun began, and what it is.
#[derive(Clone, Copy)]
struct Clockwork<'a> {
    start: MonoNs,
    options: &'a Options,
}

/// Waits until all have told what they saw.
fn collect(
    reports: &Receiver<ThreadReport>,
    count: usize,
    at: Clockwork<'_>,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Measured>, WakeupError> {
    let planned = at.options.warm_up + at.options.duration;
    let mut measured = Vec::with_capacity(count);
    while measured.len() < count {
        match reports.recv_timeout(LOOK) {
            Ok(ThreadReport::Measured(one)) => measured.push(*one),
            Ok(ThreadReport::Failed(error)) => return Err(error),
            Ok(ThreadReport::Ready) => {}
            Err(RecvTimeoutError::Timeout) => {
                let elapsed = (WallClock.now() - at.start).min(planned);
                progress(Progress { elapsed, planned, warm_up: elapsed < at.options.warm_up });
            }
            // A thread panicked; joining it passes that on.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    measured.sort_by_key(|one| one.index);
    Ok(measured)
}
