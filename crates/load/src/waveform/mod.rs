//! Does this host hold a waveform's slot, and what does the runtime take for it?
//!
//! A waveform (one that comes with the program, a file, a generated chain) runs on as many cores as requested. The
//! runtime's own figures count. They are slots missed with who is to blame, execution times and release lateness with
//! their raw histograms, and the time that is neither waiting nor execution. The warm-up is a run of its own before the
//! one that is measured. Floors are measured in the same process just before: times of one machine mean little without
//! them.

mod floors;
pub mod library;
mod memory;
mod open;
mod options;
mod outcome;
pub(crate) mod workload;

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_graph::{GraphError, PlanError};
use takt_runtime::{NameTaken, OpenError, Report, StartError};

pub(crate) use floors::median;
pub use floors::{Floors, floors};
pub use memory::Memory;
pub use open::needs_its_machine;
pub(crate) use open::{Opened, PRIORITY, cores};
pub use options::{Clock, Latency, Packet, Policy, Slots, WaveformOptions};
pub use outcome::{Blamed, ComponentOutcome, MemoryUse, Slowest, Spread, WaveformOutcome, WorkerOutcome};

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WaveformError {
    #[error(transparent)]
    Registry(#[from] NameTaken),
    #[error("the waveform is not valid")]
    Graph(#[from] GraphError),
    #[error("the plan is not valid")]
    Plan(#[from] PlanError),
    #[error("takt can't open the waveform")]
    Open(#[from] OpenError),
    #[error("takt can't start the workers")]
    Start(#[from] StartError),
    #[error("{wanted} workers need one core each, but this process may use {cores}")]
    Cores { wanted: usize, cores: usize },
    #[error("takt can't read the CPUs of this process")]
    Topology(#[from] takt_host::ReadError),
    #[error("slots of {slot_us} µs are too short even for {items} items")]
    NothingHolds { items: u32, slot_us: f64 },
}

impl WaveformError {
    /// The fix, if there is one.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            WaveformError::Graph(error) => Some(error.fix()),
            WaveformError::Plan(error) => Some(error.fix()),
            WaveformError::Open(error) => Some(error.fix()),
            WaveformError::Start(error) => Some(error.fix()),
            WaveformError::Cores { cores, .. } => {
                Some(format!("set workers = {cores} or fewer, or use a machine with more cores"))
            }
            WaveformError::NothingHolds { .. } => {
                Some("give a longer slot, or end other programs on this machine".into())
            }
            _ => None,
        }
    }
}

/// Runs a waveform as `options` say. `stop` ends it early, and what was measured until then is the outcome.
pub fn run(options: &WaveformOptions, stop: &Stop) -> Result<WaveformOutcome, WaveformError> {
    let before = Memory::now();
    let opened = Opened::new(options)?;
    measure(options, &opened, before, stop)
}

/// Warms up and measures what was opened.
pub(crate) fn measure(
    options: &WaveformOptions,
    opened: &Opened,
    before: Memory,
    stop: &Stop,
) -> Result<WaveformOutcome, WaveformError> {
    let floors = floors();
    if !options.warm_up.is_zero() && !stop.requested() {
        opened.execute(options.slots_by_time(options.warm_up, opened.slot_ns()), options.warm_up, stop)?;
    }
    let slots = options.slots_of(options.duration, opened.slot_ns());
    let mut ran = opened.execute(slots, options.duration, stop)?;
    // A free run with a number of slots is timed from outside, where all that can go wrong makes it longer: of five turns
    // the fastest is taken.
    let turns = if matches!((options.clock, options.slots), (Clock::Free, Slots::Count(_))) { 5 } else { 1 };
    for _ in 1..turns {
        let again = opened.execute(slots, options.duration, stop)?;
        ran = if again.elapsed < ran.elapsed { again } else { ran };
    }
    Ok(WaveformOutcome::of(options, opened, &ran, floors, [before, Memory::now()], !stop.requested()))
}

pub(crate) struct Executed {
    pub(crate) report: Report,
    /// From the start of the workers to their end.
    pub(crate) elapsed: Duration,
    /// Memory while it ran, where it was looked at.
    pub(crate) memory: Option<Memory>,
    pub(crate) fifo: bool,
}

/// Joins a run that may be ended by `stop`, or by time where it has no number of slots; watches the memory meanwhile.
fn join(
    running: takt_runtime::Running,
    begun: Instant,
    own: &Stop,
    stop: &Stop,
    limit: Option<Duration>,
    watch_memory: bool,
) -> (Report, Duration, Option<Memory>) {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let watching = scope.spawn(|| {
            let mut memory = None;
            // Nothing but the flag is read through it: no order is needed.
            while !done.load(Ordering::Relaxed) {
                if stop.requested() || limit.is_some_and(|limit| begun.elapsed() >= limit) {
                    own.request();
                    break;
                }
                thread::sleep(LOOK);
                // Not at the end: the report is made then, with copies of its own.
                if watch_memory && begun.elapsed() < WATCHED {
                    memory = Some(Memory::now());
                }
            }
            memory
        });
        let report = running.join();
        let elapsed = begun.elapsed();
        done.store(true, Ordering::Relaxed);
        let memory = watching.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (report, elapsed, memory)
    })
}

const WATCHED: Duration = Duration::from_millis(50);
const LOOK: Duration = Duration::from_millis(2);
