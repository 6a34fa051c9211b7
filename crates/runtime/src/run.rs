//! Opening a waveform and running it on threads.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{Clock, Stop, WallClock};
use takt_graph::{Graph, Plan, PortId};
use takt_host::affinity::{self, AffinityError};
use takt_host::policy::{self, Policy, PolicyError};

use crate::change::{self, Change};
use crate::clock::{Edges, SlotClock, WallEdges};
use crate::component::{Message, Scalar};
use crate::control::{Command, Ending, Inbox, Outbox, Pending, What, mailbox};
use crate::registry::Registry;
use crate::report::{Known, Report, report};
use crate::stats::WorkerStats;
use crate::table::{Making, OpenError, Table, make, make_components};
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
    /// How long before an edge a worker stops sleeping and watches the clock.
    pub spin: Duration,
    /// Whether what the sinks receive is folded into `output_hash`.
    pub hash: bool,
    /// Memory of all links at most.
    pub memory_max_bytes: u64,
}

impl Default for Options {
    /// Free, unpinned, until stopped, with hash, 4 GiB.
    fn default() -> Options {
        Options {
            slots: None,
            clock: SlotClock::Free,
            cores: Vec::new(),
            fifo_priority: None,
            spin: Duration::from_micros(100),
            hash: true,
            memory_max_bytes: 4 << 30,
        }
    }
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
        let components = make_components(graph, registry)?;
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
        let timer = Timer::Counter(quanta::Clock::new());
        let (ready, readiness) = channel();
        let mut running = Running {
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
            ending: Ending::default(),
            broken: Stop::new(),
        };
        for (index, table) in self.tables.into_iter().enumerate() {
            let (outbox, inbox) = mailbox();
            let (gate, opened) = channel();
            let spins = running.spins();
            let worker = prepared(table, timer.clone(), inbox, stop.clone(), running.ending.clone(), spins);
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
            if let Ok(Err(refused)) = readiness.recv() {
                return Err(refused);
            }
        }
        Ok(running)
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

fn making(options: &Options) -> Making {
    Making {
        hash_sinks: options.hash,
        memory_max_bytes: options.memory_max_bytes,
        slots: options.slots.unwrap_or(u64::MAX),
    }
}

pub(crate) fn prepared(table: Table, timer: Timer, inbox: Inbox, stop: Stop, ending: Ending, spins: u32) -> Worker {
    Worker { table, stats: WorkerStats::new(), timer, inbox, stop, ending, spins }
}

/// What a worker's thread does before its first slot.
struct Start {
    index: usize,
    options: Options,
    ready: Sender<Result<(), StartError>>,
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
                None => worker.run_free(0),
            };
        }
        drop(guard);
        worker
    }

    fn pin(&self) -> Result<(), StartError> {
        let Some(&core) = self.options.cores.get(self.index) else { return Ok(()) };
        affinity::pin_self(&[core]).map_err(|source| StartError::Pin { worker: self.index, core, source })
    }

    fn raise(&self) -> Result<(), StartError> {
        let Some(priority) = self.options.fifo_priority else { return Ok(()) };
        let refused = |source| StartError::Priority { worker: self.index, source };
        policy::set_policy(0, Policy::Fifo { priority }).map_err(refused)
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

/// A running waveform.
pub struct Running {
    threads: Vec<JoinHandle<Worker>>,
    outboxes: Vec<Outbox>,
    graph: Graph,
    plan: Plan,
    /// What the graph's components are called in the tables.
    ids: Vec<usize>,
    /// All components there ever were, by id.
    known: Vec<Known>,
    /// Changes to other waveforms that are done, with what they left behind.
    left_behind: Vec<Box<Change>>,
    options: Options,
    timer: Timer,
    gates: Vec<Sender<Option<Arc<dyn Edges>>>>,
    ending: Ending,
    broken: Stop,
}

/// Why a running waveform can't be told something.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no such component.
    #[error("no component is called `{component}`")]
    Component {
        /// The name.
        component: String,
    },
    /// It has no such variable.
    #[error("`{component}` has no variable `{variable}`")]
    Variable {
        /// The component.
        component: String,
        /// The name.
        variable: String,
    },
    /// The value does not suit.
    #[error("variable of `{component}`")]
    Value {
        /// The component.
        component: String,
        /// Why.
        #[source]
        source: takt_graph::ParamError,
    },
    /// The worker has a thousand commands waiting.
    #[error("worker {worker} has no room for another command")]
    Full {
        /// The worker.
        worker: usize,
    },
    /// The new plan has more workers than were started.
    #[error("the plan has {workers} workers, and {started} were started")]
    Workers {
        /// Of the plan.
        workers: usize,
        /// Threads there are.
        started: usize,
    },
    /// The new waveform has another beat.
    #[error("a slot of the waveform is {slot_ns} ns, and one of those running is {runs_ns} ns")]
    Slot {
        /// Of the new one.
        slot_ns: u64,
        /// Of the one that runs.
        runs_ns: u64,
    },
    /// The run has come to its end.
    #[error("a worker has executed its last slot")]
    Ended,
    /// The new plan was not opened.
    #[error("the new plan")]
    Open {
        /// Why.
        #[source]
        source: OpenError,
    },
}

impl Running {
    /// Lets paused workers begin. Does nothing for running ones.
    pub fn go(&mut self) {
        let edges = self.edges();
        for gate in self.gates.drain(..) {
            // A worker that is gone has ended by a stop.
            let _ = gate.send(edges.clone());
        }
    }

    fn spins(&self) -> u32 {
        if self.plan.workers().len() <= affinity::own_cpus().len() { 10_000 } else { 0 }
    }

    fn edges(&self) -> Option<Arc<dyn Edges>> {
        match &self.options.clock {
            SlotClock::Free => None,
            SlotClock::Edges(edges) => Some(Arc::clone(edges)),
            SlotClock::Wall => {
                // A little ahead: all workers are at their first wait by then.
                let start = WallClock.now() + Duration::from_millis(2);
                Some(Arc::new(WallEdges { start, slot_ns: self.graph.slot_ns() }))
            }
        }
    }

    /// Sets a variable, checked against the component type's declaration, before logical slot `before` of the component
    /// is executed; as soon as can be, if that has passed.
    ///
    /// # Errors
    /// There is no such variable, the value is out of range, or the worker is told too much at once.
    pub fn set(
        &mut self,
        registry: &Registry,
        component: &str,
        variable: &str,
        value: &takt_graph::Value,
        before: u64,
    ) -> Result<(), ControlError> {
        let (component_index, param) = self.variable(registry, component, variable)?;
        let refused = |source| ControlError::Value { component: component.to_owned(), source };
        let kind = takt_graph::Catalogue::kind(registry, &self.graph.components()[component_index].kind);
        let admitted = kind.and_then(|kind| kind.params.get(param)).map(|param| param.admit(value));
        let admitted = admitted.transpose().map_err(refused)?;
        let scalar = admitted.as_ref().and_then(Scalar::of).ok_or_else(|| no_variable(component, variable))?;
        let pending = Pending { before, what: What::Set { param, value: scalar } };
        self.command(component_index, Command::Tell { component: self.ids[component_index], pending })
    }

    /// Asks for a variable; the answer comes from [`Running::readings`].
    ///
    /// # Errors
    /// There is no such variable, or the worker is told too much at once.
    pub fn ask(&mut self, registry: &Registry, component: &str, variable: &str) -> Result<(), ControlError> {
        let (component, param) = self.variable(registry, component, variable)?;
        self.command(component, Command::Get { component: self.ids[component], param })
    }

    /// Answers that have come: component, index of the parameter, value.
    pub fn readings(&mut self) -> Vec<(String, usize, Option<Scalar>)> {
        let mut all = Vec::new();
        for outbox in &mut self.outboxes {
            while let Ok(reading) = outbox.readings.pop() {
                let name = self.known[reading.component].name.clone();
                all.push((name, reading.param, reading.value));
            }
        }
        all
    }

    /// Sends a message to a component, to arrive before its logical slot `before`.
    ///
    /// # Errors
    /// There is no such component, or its worker is told too much at once.
    pub fn tell(&mut self, component: &str, message: Message, before: u64) -> Result<(), ControlError> {
        let component = self.component(component)?;
        self.command(
            component,
            Command::Tell { component: self.ids[component], pending: Pending { before, what: What::Message(message) } },
        )
    }

    /// Goes over to another plan of the same waveform at the edge of physical slot `at`, or as soon as can be. No slot is
    /// lost; components whose depth shrinks catch up in that slot.
    ///
    /// # Errors
    /// The plan has more workers than were started, its links take too much memory, or a worker is told too much at once.
    pub fn change_plan(&mut self, plan: &Plan, at: u64) -> Result<(), ControlError> {
        // The packets in flight must fit: those of the old plan before components catch up, and those of components that
        // are ahead afterwards, one slot more where a worker was within a slot.
        let least = |link: usize| {
            let from = self.graph.links()[link].from.component;
            let ahead = plan.depth(from).saturating_sub(self.plan.depth(from));
            u64::from(self.plan.delay(link).max(plan.delay(link) + ahead)) + 3
        };
        let vacant = self.ids.iter().map(|_| Box::new(change::Vacant) as _).collect();
        let tables = make(&self.graph, plan, vacant, &self.ids, &making(&self.options), &least);
        self.tell_of(tables.map_err(|source| ControlError::Open { source })?, false, at)?;
        self.plan = plan.clone();
        Ok(())
    }

    /// Goes over to another waveform at logical slot `at`, or as soon as can be. All components first finish their slots
    /// before it. Those that both waveforms have, with the same name, type, parameters and packet lengths, keep their
    /// state; new ones begin with this slot, and links that were not there begin empty. The rest is left behind, and in
    /// the report.
    ///
    /// # Errors
    /// Its slot has another length, a component refuses, or as [`Running::change_plan`].
    pub fn change_waveform(
        &mut self,
        graph: &Graph,
        plan: &Plan,
        registry: &Registry,
        at: u64,
    ) -> Result<(), ControlError> {
        let (slot_ns, runs_ns) = (graph.slot_ns(), self.graph.slot_ns());
        if slot_ns != runs_ns {
            return Err(ControlError::Slot { slot_ns, runs_ns });
        }
        let open = |source| ControlError::Open { source };
        let mut known = self.known.clone();
        let mut ids = Vec::new();
        let mut components = make_components(graph, registry).map_err(open)?;
        for (index, node) in graph.components().iter().enumerate() {
            let same = self.graph.find(&node.name).filter(|&old| is_same(graph, index, &self.graph, old));
            if let Some(old) = same {
                ids.push(self.ids[old]);
                components[index] = Box::new(change::Vacant);
            } else {
                ids.push(known.len());
                known.push(Known::of(node));
            }
        }
        let least = |link: usize| u64::from(plan.delay(link)).max(graph.links()[link].delay.into()) + 3;
        let tables = make(graph, plan, components, &ids, &making(&self.options), &least).map_err(open)?;
        self.tell_of(tables, true, at)?;
        (self.graph, self.plan, self.ids, self.known) = (graph.clone(), plan.clone(), ids, known);
        Ok(())
    }

    fn tell_of(&mut self, mut tables: Vec<Table>, whole: bool, at: u64) -> Result<(), ControlError> {
        let started = self.threads.len();
        if tables.len() > started {
            return Err(ControlError::Workers { workers: tables.len(), started });
        }
        let end = tables.first().map_or(0, |table| table.end);
        tables.resize_with(started, || Table { end, ..Table::default() });
        // On a clock each worker has a core of its own, and makes no system call.
        let spins = if matches!(self.options.clock, SlotClock::Free) { self.spins() } else { u32::MAX };
        let changes = change::prepare(at, tables, whole, &self.timer, &self.broken, spins);
        self.clear_away();
        if let Some(worker) = self.outboxes.iter().position(|outbox| outbox.commands.is_full()) {
            return Err(ControlError::Full { worker });
        }
        if !self.ending.begin() {
            return Err(ControlError::Ended);
        }
        for (outbox, change) in self.outboxes.iter_mut().zip(changes) {
            // There is room: seen above, and only this side fills the queue.
            let _ = outbox.commands.push(Command::Change(Box::new(change)));
        }
        self.ending.told();
        Ok(())
    }

    /// Drops changes that are done, but for what other waveforms left behind.
    fn clear_away(&mut self) {
        for outbox in &mut self.outboxes {
            while let Ok(change) = outbox.spent.pop() {
                if change.left_behind().next().is_some() {
                    self.left_behind.push(change);
                }
            }
        }
    }

    /// Waits for the end: all slots executed, or asked to stop.
    ///
    /// # Panics
    /// If a worker did, outside a component: a mistake of ours.
    #[must_use]
    pub fn join(mut self) -> Report {
        self.go();
        let threads = std::mem::take(&mut self.threads);
        let joined = |thread: JoinHandle<Worker>| thread.join().expect("a worker panics only by our mistake");
        let workers: Vec<Worker> = threads.into_iter().map(joined).collect();
        self.clear_away();
        let left_behind = self.left_behind.iter().rev().flat_map(|change| change.left_behind());
        report(&self.graph, &self.plan, &workers, &self.known, left_behind)
    }

    fn command(&mut self, component: usize, command: Command) -> Result<(), ControlError> {
        let worker = self.plan.worker_of(component);
        self.outboxes[worker].commands.push(command).map_err(|_| ControlError::Full { worker })
    }

    fn component(&self, name: &str) -> Result<usize, ControlError> {
        self.graph.find(name).ok_or_else(|| ControlError::Component { component: name.to_owned() })
    }

    fn variable(&self, registry: &Registry, name: &str, variable: &str) -> Result<(usize, usize), ControlError> {
        let component = self.component(name)?;
        let kind = takt_graph::Catalogue::kind(registry, &self.graph.components()[component].kind);
        let params = kind.map(|kind| kind.params.as_slice()).unwrap_or_default();
        let param = params.iter().position(|param| param.name == variable && param.variable);
        Ok((component, param.ok_or_else(|| no_variable(name, variable))?))
    }
}

/// Whether a component of one graph is that of another: it can keep its state.
fn is_same(graph: &Graph, index: usize, other: &Graph, at: usize) -> bool {
    let (a, b) = (&graph.components()[index], &other.components()[at]);
    let longest = |graph: &Graph, component: usize, port: usize| {
        graph.link_to(PortId { component, port }).map(|link| graph.links()[link].lengths)
    };
    let packets = |port| longest(graph, index, port) == longest(other, at, port);
    (&a.kind, &a.params, &a.shape) == (&b.kind, &b.params, &b.shape) && (0..a.shape.inputs.len()).all(packets)
}

fn no_variable(component: &str, variable: &str) -> ControlError {
    ControlError::Variable { component: component.to_owned(), variable: variable.to_owned() }
}
