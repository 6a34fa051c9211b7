//! Opening a waveform and running it on threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use takt_base::Stop;
use takt_graph::{Graph, Plan};
use takt_host::affinity::{self, AffinityError};
use takt_host::memory::{self, MemoryError};
use takt_host::policy::{self, Policy, PolicyError};

use crate::clock::{Edges, SlotClock};
use crate::control::{Ending, Inbox, mailbox};
use crate::isolated::Isolation;
use crate::live::Live;
use crate::registry::Registry;
use crate::report::{Granted, Known, Report};
use crate::running::Running;
use crate::soft;
use crate::stats::WorkerStats;
use crate::table::{Making, OpenError, Spare, Table, make, make_components};
use crate::timer::Timer;
use crate::worker::Worker;

/// How a waveform is run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Logical slots each component executes; `None`: until stopped.
    pub slots: Option<u64>,
    /// What sets the beat.
    pub clock: SlotClock,
    /// A processor for each worker; empty: wherever the kernel likes.
    pub cores: Vec<usize>,
    /// Real-time priority (`SCHED_FIFO`), 1 to 99; `None`: as the process has it.
    pub fifo_priority: Option<u8>,
    /// Whether the run goes on without the priority where it is refused; the report says what became of it.
    pub priority: Wish,
    /// Whether all memory of the process is locked before the workers start, and stays so afterwards.
    pub lock_memory: Wish,
    /// Slots that a worker executes of one component before the next one's turn, under a free clock; no more than its links
    /// hold. What is computed does not depend on it. 1: slot by slot, as on the beat, so that execution times are those of
    /// the beat. More: what a component needs stays in the processor's caches.
    pub burst: u64,
    /// How long before an edge a worker stops sleeping and watches the clock.
    pub spin: Duration,
    /// Whether what the sinks receive is folded into `output_hash`.
    pub hash: bool,
    /// How components that the waveform isolates are treated.
    pub isolation: Isolation,
    /// Memory of all links at most.
    pub memory_max_bytes: u64,
    /// Whether every execution is told to [`Running::log`].
    pub log: Option<LogOptions>,
}

/// How executions are told as they come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogOptions {
    /// Executions of each worker that may wait to be read.
    pub waiting: usize,
    /// What happens to the next one: it is dropped and counted, or the worker waits for the reader.
    pub policy: soft::Policy,
}

impl Default for Options {
    /// Free, unpinned, until stopped, with hash, 4 GiB.
    fn default() -> Options {
        Options {
            slots: None,
            clock: SlotClock::Free,
            cores: Vec::new(),
            fifo_priority: None,
            priority: Wish::Require,
            lock_memory: Wish::No,
            burst: 1,
            spin: Duration::from_micros(100),
            hash: true,
            isolation: Isolation::default(),
            memory_max_bytes: 4 << 30,
            log: None,
        }
    }
}

/// How much something is wanted that the host may refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wish {
    /// It is not asked for.
    #[default]
    No,
    /// It is asked for; refused, the run goes on, and the report says why it was refused.
    Try,
    /// Without it nothing runs.
    Require,
}

/// A waveform ready to run: components made, memory taken.
pub struct Session {
    graph: Graph,
    plan: Plan,
    options: Options,
    tables: Vec<Table>,
}

/// Why workers did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// More workers would watch the clock than there are cores.
    #[error("{workers} workers on {cores} cores: each watches the clock or a link, and needs a core of its own")]
    Cores {
        /// Workers of the plan.
        workers: usize,
        /// Cores this process may use, or was told to.
        cores: usize,
    },
    /// A worker was not bound to its core; the cause says why.
    #[error("worker {worker} on core {core}")]
    Pin {
        /// The worker.
        worker: usize,
        /// The core.
        core: usize,
        /// Why.
        #[source]
        source: AffinityError,
    },
    /// A worker did not get its priority; the cause says why.
    #[error("priority of worker {worker}")]
    Priority {
        /// The worker.
        worker: usize,
        /// Why.
        #[source]
        source: PolicyError,
    },
    /// Memory was not locked; the cause says which limit or capability is in the way.
    #[error("memory of this process")]
    Memory {
        /// Why.
        #[source]
        source: MemoryError,
    },
    /// A thread was not made.
    #[error("thread of worker {worker}")]
    Thread {
        /// The worker.
        worker: usize,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

impl StartError {
    /// What would be right.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            StartError::Cores { cores, .. } => format!("a plan with {cores} workers, or more cores"),
            StartError::Pin { .. } => format!("cores this process may use: {:?}", affinity::own_cpus()),
            StartError::Priority { source, .. } => source.fix().unwrap_or_else(|| "run without a priority".to_owned()),
            StartError::Memory { source } => {
                source.fix().unwrap_or_else(|| "more memory, or do not lock it".to_owned())
            }
            StartError::Thread { .. } => "fewer workers, or a higher limit of threads (ulimit -u)".to_owned(),
        }
    }
}

impl Session {
    /// Makes all components and all memory they need.
    ///
    /// # Errors
    /// A component refuses its parameters or what leads to it; the links take too much memory.
    pub fn open(graph: &Graph, plan: &Plan, registry: &Registry, options: Options) -> Result<Session, OpenError> {
        let making = making(&options);
        let components = make_components(graph, registry, &options, &|_| true)?;
        let ids: Vec<usize> = (0..components.len()).collect();
        let tables = make(graph, plan, components, &ids, &making, &|_| 0)?;
        Ok(Session { graph: graph.clone(), plan: plan.clone(), options, tables })
    }

    /// Runs to the end, or until asked to stop.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn run(self, stop: &Stop) -> Result<Report, StartError> {
        Ok(self.start(stop)?.join())
    }

    /// Starts the workers.
    ///
    /// # Errors
    /// There are fewer cores than workers that watch a clock; a worker is not let on its core, or not given its priority.
    /// Nothing runs then.
    pub fn start(self, stop: &Stop) -> Result<Running, StartError> {
        let mut running = self.start_paused(stop)?;
        running.go();
        Ok(running)
    }

    /// Starts the workers, which wait for [`Running::go`]: what is told them before is there at their first edge.
    ///
    /// # Errors
    /// As [`Session::start`].
    pub fn start_paused(self, stop: &Stop) -> Result<Running, StartError> {
        self.enough_cores()?;
        let mut granted = self.lock_memory()?;
        let timer = Timer::of_processor();
        let (ready, readiness) = channel();
        let live = live_of(&self.tables);
        let mut running = Running {
            granted: Granted::default(),
            live,
            threads: Vec::new(),
            outboxes: Vec::new(),
            ids: (0..self.graph.components().len()).collect(),
            known: self.graph.components().iter().map(Known::of).collect(),
            left_behind: Vec::new(),
            graph: self.graph,
            plan: self.plan,
            options: self.options,
            timer: timer.clone(),
            gates: Vec::new(),
            logs: Vec::new(),
            ending: Ending::default(),
            broken: Stop::new(),
        };
        for (index, table) in self.tables.into_iter().enumerate() {
            let (outbox, inbox) = mailbox();
            let (gate, opened) = channel();
            let spins = running.spins();
            let mut worker = prepared(table, timer.clone(), inbox, stop.clone(), running.ending.clone(), spins);
            if let Some(LogOptions { waiting, policy }) = running.options.log {
                let (outgoing, reader) = soft::outgoing(waiting, policy);
                worker.stats.log = Some(outgoing);
                running.logs.push(reader);
            }
            let broken = running.broken.clone();
            let start = Start { index, options: running.options.clone(), ready: ready.clone(), opened, broken };
            let named = std::thread::Builder::new().name(format!("takt-worker-{index}"));
            let thread = named.spawn(move || start.run(worker));
            running.threads.push(thread.map_err(|source| StartError::Thread { worker: index, source })?);
            running.outboxes.push(outbox);
            running.gates.push(gate);
        }
        // A worker whose gate is dropped unopened ends at once.
        for _ in &running.gates {
            match readiness.recv() {
                Ok(Err(refused)) => return Err(refused),
                Ok(Ok(Some(refused))) => granted.priority_refused = Some(refused),
                Ok(Ok(None)) | Err(_) => {}
            }
        }
        if granted.priority_refused.is_none() && running.options.priority != Wish::No {
            granted.fifo_priority = running.options.fifo_priority;
        }
        running.granted = granted;
        Ok(running)
    }

    fn lock_memory(&self) -> Result<Granted, StartError> {
        let mut granted = Granted::default();
        if self.options.lock_memory != Wish::No {
            match memory::lock_all() {
                Ok(()) => granted.memory_locked = true,
                Err(source) if self.options.lock_memory == Wish::Require => return Err(StartError::Memory { source }),
                Err(refused) => granted.memory_refused = Some(refused.to_string()),
            }
        }
        Ok(granted)
    }

    fn enough_cores(&self) -> Result<(), StartError> {
        let cores = if self.options.cores.is_empty() { affinity::own_cpus().len() } else { self.options.cores.len() };
        let workers = self.tables.len();
        // Free workers let others run; those on a clock may not.
        let watching = !matches!(self.options.clock, SlotClock::Free) || !self.options.cores.is_empty();
        if watching && workers > cores { Err(StartError::Cores { workers, cores }) } else { Ok(()) }
    }

    pub(crate) fn into_parts(self) -> (Graph, Plan, Options, Vec<Table>) {
        (self.graph, self.plan, self.options, self.tables)
    }
}

/// What the components of these tables show of themselves, by id; ids are dense in the tables of a session.
fn live_of(tables: &[Table]) -> Vec<Arc<Live>> {
    let mut entries: Vec<_> = tables.iter().flat_map(|table| &table.entries).collect();
    entries.sort_by_key(|entry| entry.id);
    entries.iter().map(|entry| Arc::clone(&entry.stats.live)).collect()
}

pub(crate) fn making(options: &Options) -> Making {
    Making {
        hash_sinks: options.hash,
        memory_max_bytes: options.memory_max_bytes,
        slots: options.slots.unwrap_or(u64::MAX),
        spare: matches!(options.clock, SlotClock::Free).then_some(Spare { burst: options.burst.max(1) }),
    }
}

pub(crate) fn prepared(table: Table, timer: Timer, inbox: Inbox, stop: Stop, ending: Ending, spins: u32) -> Worker {
    Worker { table, stats: WorkerStats::new(), timer, inbox, stop, ending, spins }
}

/// What a worker's thread does before its first slot.
struct Start {
    index: usize,
    options: Options,
    /// What was refused and not required.
    ready: Sender<Result<Option<String>, StartError>>,
    opened: Receiver<Option<Arc<dyn Edges>>>,
    broken: Stop,
}

impl Start {
    fn run(self, mut worker: Worker) -> Worker {
        let prepared = self.pin().and_then(|()| self.raise());
        let good = prepared.is_ok();
        let _ = self.ready.send(prepared);
        // Whoever ends early, by a panic of ours, must not leave the others waiting.
        let guard = StopOnPanic(worker.stop.clone(), self.broken.clone());
        if let (true, Ok(edges)) = (good, self.opened.recv()) {
            match edges {
                Some(edges) => worker.run_timed(0, &edges, self.options.spin),
                None => worker.run_free(0, self.options.burst.max(1)),
            };
        }
        drop(guard);
        worker
    }

    fn pin(&self) -> Result<(), StartError> {
        let Some(&core) = self.options.cores.get(self.index) else { return Ok(()) };
        affinity::pin_self(&[core]).map_err(|source| StartError::Pin { worker: self.index, core, source })
    }

    /// Answers why the priority was refused, where it is not required.
    fn raise(&self) -> Result<Option<String>, StartError> {
        let Some(priority) = self.options.fifo_priority.filter(|_| self.options.priority != Wish::No) else {
            return Ok(None);
        };
        match policy::set_policy(0, Policy::Fifo { priority }) {
            Ok(()) => Ok(None),
            Err(source) if self.options.priority == Wish::Require => {
                Err(StartError::Priority { worker: self.index, source })
            }
            Err(refused) => Ok(Some(refused.to_string())),
        }
    }
}

struct StopOnPanic(Stop, Stop);

impl Drop for StopOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.request();
            self.1.request();
        }
    }
}
