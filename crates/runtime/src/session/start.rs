//! [`Session`]: a waveform that is open, and its start on threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use takt_base::Stop;
use takt_graph::{Graph, Plan};
use takt_host::affinity::{self, AffinityError};
use takt_host::cpu_list;
use takt_host::memory::{self, MemoryError};
use takt_host::policy::{self, Policy, PolicyError};

use super::running::Running;
use super::taps::Taps;
use crate::component::Registry;
use crate::options::{LogOptions, SessionOptions, Wish};
use crate::report::{Granted, Report};
use crate::slot::{Edges, Sleeper, SlotClock, Timer};
use crate::soft;
use crate::stats::{WorkerStats, watched};
use crate::table::{OpenError, Table, make, make_components};
use crate::worker::{Ending, Inbox, Worker, mailbox};

/// A waveform ready to run: components made, memory taken.
pub struct Session {
    pub(super) graph: Graph,
    pub(super) plan: Plan,
    pub(super) options: SessionOptions,
    pub(super) tables: Vec<Table>,
}

/// Why workers did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum StartError {
    #[error("{workers} workers have only {cores} cores, but each needs its own because it watches the clock or a link")]
    Cores {
        /// Workers of the plan.
        workers: usize,
        /// Cores this process may use, or those of the options.
        cores: usize,
    },
    /// A worker was not bound to its core; the cause says why.
    #[error("takt can't put worker {worker} on core {core}")]
    Pin { worker: usize, core: usize, source: AffinityError },
    /// A worker did not get its priority; the cause says why.
    #[error("takt can't set the priority of worker {worker}")]
    Priority { worker: usize, source: PolicyError },
    /// Memory was not locked; the cause says which limit or capability is in the way.
    #[error("takt can't lock the memory of this process")]
    Memory { source: MemoryError },
    /// A thread was not made.
    #[error("takt can't start the thread of worker {worker}")]
    Thread { worker: usize, source: std::io::Error },
}

impl StartError {
    /// The fix.
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            StartError::Cores { cores, .. } => format!("use a plan with {cores} workers, or more cores"),
            StartError::Pin { .. } => {
                format!("use cores that this process may run on: {}", cpu_list::format(&affinity::own_cpus()))
            }
            StartError::Priority { source, .. } => source.fix().unwrap_or_else(|| "run without a priority".to_owned()),
            StartError::Memory { source } => {
                source.fix().unwrap_or_else(|| "free memory, or do not lock it".to_owned())
            }
            StartError::Thread { .. } => "use fewer workers, or raise the limit of threads (ulimit -u)".to_owned(),
        }
    }
}

impl Session {
    /// Makes all components and all memory they need.
    ///
    /// # Errors
    /// A component refuses its parameters or what leads to it; the links take too much memory.
    pub fn open(
        graph: &Graph,
        plan: &Plan,
        registry: &Registry,
        options: SessionOptions,
    ) -> Result<Session, OpenError> {
        let components = make_components(graph, registry, &options, &|_| true)?;
        let ids: Vec<usize> = (0..components.len()).collect();
        let tables = make(graph, plan, components, &ids, &options, &|_| 0)?;
        Ok(Session { graph: graph.clone(), plan: plan.clone(), options, tables })
    }

    /// Starts the workers as [`Session::start`], and waits for the end, or until asked to stop.
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

    /// Starts the workers, which wait for [`Running::go`]: commands sent before are there at their first edge.
    /// As [`Session::start`] otherwise.
    pub fn start_paused(mut self, stop: &Stop) -> Result<Running, StartError> {
        self.enough_cores()?;
        let mut granted = self.lock_memory()?;
        let (ready, readiness) = channel();
        let ids: Vec<usize> = (0..self.graph.components().len()).collect();
        let taps = Taps::default();
        if self.options.watched {
            taps.attach(&mut self.tables, &self.graph, &ids, 0);
        }
        // Ids are dense in the tables of a session.
        let mut entries: Vec<_> = self.tables.iter().flat_map(|table| &table.entries).collect();
        entries.sort_by_key(|entry| entry.id);
        let mut running = Running {
            granted: Granted::default(),
            live: entries.iter().map(|entry| Arc::clone(&entry.stats.live)).collect(),
            threads: Vec::new(),
            outboxes: Vec::new(),
            ids,
            known: self.graph.components().to_vec(),
            left_behind: Vec::new(),
            changed_at: 0,
            graph: self.graph,
            plan: self.plan,
            options: self.options,
            timer: Timer::of_processor(),
            gates: Vec::new(),
            logs: Vec::new(),
            watching: Vec::new(),
            layout: None,
            taps,
            ending: Ending::default(),
            broken: Stop::new(),
        };
        for (index, table) in self.tables.into_iter().enumerate() {
            let (outbox, inbox) = mailbox();
            let (gate, opened) = channel();
            let ending = running.ending.clone();
            let mut worker = prepared(table, running.timer.clone(), inbox, stop.clone(), ending, running.spins());
            worker.broken = running.broken.clone();
            if let Some(LogOptions { waiting, policy }) = running.options.log {
                let (outgoing, reader) = soft::outgoing(waiting, policy);
                worker.stats.log = Some(outgoing);
                running.logs.push(reader);
            }
            if running.options.watched {
                let (watched, watching) = watched();
                worker.stats.watched = Some(watched);
                running.watching.push(watching);
            }
            let broken = running.broken.clone();
            let start = Start { index, options: running.options.clone(), ready: ready.clone(), opened, broken };
            let named = std::thread::Builder::new().name(running.thread_name(index));
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
}

pub(crate) fn prepared(table: Table, timer: Timer, inbox: Inbox, stop: Stop, ending: Ending, spins: u32) -> Worker {
    Worker {
        table,
        stats: WorkerStats::new(),
        timer,
        now: 0,
        inbox,
        stop,
        broken: Stop::new(),
        ending,
        edges: None,
        spins,
        slot_ticks: u64::MAX,
    }
}

/// Work of a worker's thread before its first slot.
struct Start {
    index: usize,
    options: SessionOptions,
    /// Tells of a setting that was refused and not required.
    ready: Sender<Result<Option<String>, StartError>>,
    opened: Receiver<Option<Arc<dyn Edges>>>,
    broken: Stop,
}

impl Start {
    fn run(self, mut worker: Worker) -> Worker {
        let prepared = self.pin().and_then(|()| self.raise());
        let good = prepared.is_ok();
        let _ = self.ready.send(prepared);
        // A worker that ends early, by a panic of ours, must not leave the others waiting.
        let guard = StopOnPanic(worker.stop.clone(), self.broken.clone());
        if let (true, Ok(edges)) = (good, self.opened.recv()) {
            match edges {
                Some(edges) => worker.run_timed(0, &edges, Sleeper::new(self.options.spin)),
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
