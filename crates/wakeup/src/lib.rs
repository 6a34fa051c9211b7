//! How late is a thread that should wake up once a period?
//!
//! ```text
//! due      │tick 0   │tick 1   │tick 2   │tick 3   │tick 4        intended: start + k intervals, whatever happened
//! awake    ·│        ·  ·  ·  ·  ·  ·  · ·│         ·│
//!           late by a                     tick 1 late by d, and 2 and 3, which the thread slept over, by d-1 and d-2
//! ```
//!
//! Lateness is taken from the intended instants. A thread that slept over ticks has that many late ticks, counted apart as
//! `unsampled`: a program that skips them looks the better the longer it slept (coordinated omission).
//!
//! The time that the hypervisor took is counted apart, from the kernel's account of stolen time: no setting of this
//! machine changes it.
//!
//! [`run`] measures; [`WakeupOutcome`] is the `--json` document, which `docs/reference/wakeup.md` describes.

#![forbid(unsafe_code)]

mod account;
mod load;
mod options;
mod outcome;
pub mod screen;
mod thread;

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Progress, Stop, WallClock};
use takt_host::accounting::{Snapshot, Usage};
use takt_host::affinity::AffinityError;
use takt_host::idle::LatencyError;
use takt_host::memory;
use takt_host::policy::PolicyError;
use takt_host::timer::TimerError;

use load::Load;
use options::MOST_LOAD;
pub use options::WakeupOptions;
pub use outcome::{Thread, WakeupOutcome};
use thread::{Beating, Measured, ThreadReport};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeupError {
    #[error("the duration is shorter than an interval")]
    NoTime,
    #[error("a run of {ticks} ticks is too long; at most 1000000000 are allowed")]
    TooLong { ticks: u64 },
    #[error("an interval of {got:?} is shorter than 10 µs")]
    Interval { got: Duration },
    #[error("a clock tick of {got} Hz is not within 1 to 1000000 Hz")]
    TickHz { got: u32 },
    /// So many busy loops tell nothing more, and can take the machine from its owner.
    #[error("takt can't run {got} busy loops; at most {MOST_LOAD} are allowed")]
    Load { got: u32 },
    /// A timer slack of nothing, which the kernel takes for the usual one.
    #[error("the kernel takes a timer slack of 0 for its default")]
    NoSlack,
    #[error("takt can't place a thread")]
    Affinity(#[from] AffinityError),
    #[error("takt can't set the policy of a thread")]
    Policy(#[from] PolicyError),
    #[error("takt can't set the timer of a thread")]
    Timer(#[from] TimerError),
    #[error("takt can't keep idle CPUs awake")]
    Idle(#[from] LatencyError),
    #[error("takt can't read the CPU counters of this host")]
    Counters(#[from] takt_host::ReadError),
    #[error("takt can't start a thread")]
    Thread(#[source] io::Error),
}

impl WakeupError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            WakeupError::NoTime | WakeupError::TooLong { .. } => Some("give --duration 10s --interval 1ms".to_owned()),
            WakeupError::Interval { .. } => Some("give --interval 1ms".to_owned()),
            WakeupError::TickHz { .. } => Some("give --tick-hz 128, 512 or 1024".to_owned()),
            WakeupError::Load { .. } => Some("give --load 4 for each core, as the studies do".to_owned()),
            WakeupError::NoSlack => Some("give --slack 1ns, which is the least, or omit --slack".to_owned()),
            WakeupError::Affinity(_) => Some("give --cores with cores of this host".to_owned()),
            WakeupError::Policy(error) => error.fix(),
            WakeupError::Thread(_) => Some("end other threads on this host, or raise the limit: ulimit -u".to_owned()),
            WakeupError::Idle(error) => error.fix().map(|fix| format!("{fix}\ngive --idle sleep")),
            WakeupError::Timer(TimerError::TicksWithoutSleep { .. }) => {
                Some("give --timer nanosleep, or omit --tick-hz".to_owned())
            }
            _ => None,
        }
    }
}

/// How long the threads have until their first tick.
const START_AHEAD: Duration = Duration::from_millis(20);
const LOOK: Duration = Duration::from_millis(100);

/// Lets threads beat and says how late they were. `stop` ends it early, and what was counted until then is the outcome.
///
/// # Errors
/// The beat makes no sense, or a thread can't have what it needs; nothing was measured then.
pub fn run(
    options: &WakeupOptions,
    progress: &mut dyn FnMut(Progress),
    stop: &Stop,
) -> Result<WakeupOutcome, WakeupError> {
    options.check()?;
    let _awake = options.idle.request()?;
    // If it is refused, the outcome says so.
    let locked = memory::lock_all();
    let measured = measure(options, progress, stop);
    if locked.is_ok() {
        let _ = memory::unlock_all();
    }
    let (measured, usage) = measured?;
    Ok(outcome::of(options, &measured, &usage, locked.err(), !stop.requested()))
}

/// Lets the threads beat: what each measured, and what the host counted meanwhile.
fn measure(
    options: &WakeupOptions,
    progress: &mut dyn FnMut(Progress),
    stop: &Stop,
) -> Result<(Vec<Measured>, Usage), WakeupError> {
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
    let measured = collect(&reports, beating.len(), start, options, progress)?;
    // While the threads still live, so that their own CPU time is counted.
    let usage = Snapshot::take()?.since(&before);
    drop(beating);
    drop(load);
    Ok((measured, usage))
}

/// Waits until every thread has reported what it measured.
fn collect(
    reports: &Receiver<ThreadReport>,
    count: usize,
    start: MonoNs,
    options: &WakeupOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<Measured>, WakeupError> {
    let planned = options.warm_up + options.duration;
    let mut measured = Vec::with_capacity(count);
    while measured.len() < count {
        match reports.recv_timeout(LOOK) {
            Ok(ThreadReport::Measured(one)) => measured.push(*one),
            Ok(ThreadReport::Failed(error)) => return Err(error),
            Ok(ThreadReport::Ready) => {}
            Err(RecvTimeoutError::Timeout) => {
                let elapsed = (WallClock.now() - start).min(planned);
                progress(Progress { elapsed, planned, warm_up: elapsed < options.warm_up });
            }
            // A thread panicked; joining it passes that on.
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    measured.sort_by_key(|one| one.index);
    Ok(measured)
}
