//! [`Running`]: what can be read and changed of a waveform while it runs.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use rtrb::Consumer;
use takt_base::{Clock, Stop, WallClock};
use takt_graph::limits::COMPONENTS;
use takt_graph::{Catalogue, Component, Graph, ParamError, ParamSpec, Plan, PortId, Value};
use takt_host::affinity;

use crate::component::{Instruction, Message, Registry, Scalar};
use crate::options::SessionOptions;
use crate::report::{Granted, Outcome, Report, report};
use crate::slot::{Edges, SlotClock, Timer, WallEdges};
use crate::stats::{Live, Snapshot, StatsReader, TraceEvent, Watching};
use crate::table::{Body, OpenError, Pending, Table, make, make_components};
use crate::worker::{Command, Ending, Outbox, Worker, changes};

use super::taps::Taps;
use super::view::{Layout, Parts, RunView};

/// A running waveform.
pub struct Running {
    pub(crate) threads: Vec<JoinHandle<Worker>>,
    pub(crate) outboxes: Vec<Outbox>,
    pub(crate) graph: Graph,
    pub(crate) plan: Plan,
    /// Ids of the graph's components in the tables.
    pub(crate) ids: Vec<usize>,
    /// All components there ever were, by id.
    pub(crate) known: Vec<Component>,
    /// Components that other waveforms left behind.
    pub(crate) left_behind: Vec<Outcome>,
    /// The slot of the last change.
    pub(crate) changed_at: u64,
    pub(crate) options: SessionOptions,
    pub(crate) timer: Timer,
    pub(crate) gates: Vec<Sender<Option<Arc<dyn Edges>>>>,
    pub(crate) logs: Vec<Consumer<TraceEvent>>,
    /// The other ends of what the workers show, until a view takes them.
    pub(crate) watching: Vec<Watching>,
    /// Parts of the plan that a view shows.
    pub(crate) layout: Option<Arc<Mutex<Layout>>>,
    /// Taps of outputs, which the view looks at.
    pub(crate) taps: Taps,
    pub(crate) ending: Ending,
    pub(crate) broken: Stop,
    pub(crate) granted: Granted,
    /// By id.
    pub(crate) live: Vec<Arc<Live>>,
}

/// Every execution, as workers log them; see [`SessionOptions::log`]. It has to be read: under [`Policy::Hold`] a
/// worker waits for its reader.
///
/// [`Policy::Hold`]: crate::soft::Policy::Hold
#[derive(Debug)]
pub struct Log {
    workers: Vec<Consumer<TraceEvent>>,
}

impl Log {
    /// Hands over what has come since the last call: the worker, and the execution.
    pub fn read(&mut self, mut each: impl FnMut(usize, TraceEvent)) {
        for (worker, waiting) in self.workers.iter_mut().enumerate() {
            while let Ok(event) = waiting.pop() {
                each(worker, event);
            }
        }
    }
}

/// Why a running waveform refuses a command.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum ControlError {
    #[error("no component is called `{component}`")]
    Component { component: String },
    /// It has no such variable.
    #[error("`{component}` has no variable `{variable}`")]
    Variable { component: String, variable: String },
    /// The value does not suit.
    #[error("takt can't set a variable of `{component}`")]
    Value { component: String, source: ParamError },
    #[error("worker {worker} has no room for another command")]
    Full { worker: usize },
    #[error("the plan has {workers} workers, but {started} were started")]
    Workers {
        workers: usize,
        /// Threads there are.
        started: usize,
    },
    #[error("the waveform has slots of {slot_ns} ns, but the running one has slots of {runs_ns} ns")]
    Slot {
        /// Slot of the new one.
        slot_ns: u64,
        /// Slot of the one that runs.
        runs_ns: u64,
    },
    #[error("a worker has executed its last slot")]
    Ended,
    #[error("changes would bring {known} components to the run; at most {COMPONENTS_EVER} are allowed")]
    Components {
        /// With those that were left behind, whose counts are kept.
        known: usize,
    },
    /// The new plan was not opened.
    #[error("takt can't open the new plan")]
    Open { source: OpenError },
}

/// Components that a run has, those that changes left behind included: the counts of each take 30 KiB and are kept.
const COMPONENTS_EVER: usize = 2 * COMPONENTS;

impl Running {
    /// Lets paused workers begin. Does nothing for running ones.
    pub fn go(&mut self) {
        let edges = self.edges();
        for gate in self.gates.drain(..) {
            // A worker that is gone has ended by a stop.
            let _ = gate.send(edges.clone());
        }
    }

    /// The name of a worker's thread: that of the component that it alone runs, or a number.
    pub(crate) fn thread_name(&self, worker: usize) -> String {
        match self.plan.workers().get(worker).map_or(&[][..], Vec::as_slice) {
            &[only] => self.graph.components()[only].name.clone(),
            _ => format!("takt-worker-{worker}"),
        }
    }

    pub(crate) fn spins(&self) -> u32 {
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
    /// There is no such component or variable, the value is out of range, or the worker has too many commands waiting.
    pub fn set(
        &mut self,
        registry: &Registry,
        component: &str,
        variable: &str,
        value: &Value,
        before: u64,
    ) -> Result<(), ControlError> {
        let (index, param, spec) = self.variable(registry, component, variable)?;
        let refused = |source| ControlError::Value { component: component.to_owned(), source };
        let admitted = spec.admit(value).map_err(refused)?;
        let value = Scalar::of(&admitted).ok_or_else(|| no_variable(component, variable))?;
        let pending = Pending { before, what: Instruction::Set { param, value } };
        self.command(index, Command::Hand { component: self.ids[index], pending })
    }

    /// Asks for a variable; the answer comes from [`Running::readings`]. It fails as [`Running::set`].
    pub fn ask(&mut self, registry: &Registry, component: &str, variable: &str) -> Result<(), ControlError> {
        let (component, param, _) = self.variable(registry, component, variable)?;
        self.command(component, Command::Get { component: self.ids[component], param })
    }

    /// Answers that have come: component, index of the parameter, value.
    pub fn readings(&mut self) -> Vec<(String, usize, Option<Scalar>)> {
        let mut all = Vec::new();
        for outbox in &mut self.outboxes {
            while let Ok((component, param, value)) = outbox.readings.pop() {
                all.push((self.known[component].name.clone(), param, value));
            }
        }
        all
    }

    /// A handle that reads the state of the components at any time, without the slot loop noticing.
    #[must_use]
    pub fn stats(&self) -> StatsReader {
        let of = |(&id, node): (&usize, &Component)| (node.name.clone(), node.kind.clone(), Arc::clone(&self.live[id]));
        StatsReader { components: self.ids.iter().zip(self.graph.components()).map(of).collect() }
    }

    /// A look at all components: how often they ran, how long it took, what they missed.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.stats().snapshot()
    }

    /// A view of all that the workers show, for another thread; once, and where
    /// [`SessionOptions::watched`](crate::SessionOptions::watched) asked for it.
    #[must_use]
    pub fn view(&mut self) -> Option<RunView> {
        let workers = std::mem::take(&mut self.watching);
        if workers.is_empty() {
            return None;
        }
        let layout = Arc::new(Mutex::new(Layout::of(&self.parts())));
        self.layout = Some(Arc::clone(&layout));
        Some(RunView::new(layout, workers, self.timer.clone(), self.taps.clone()))
    }

    fn parts(&self) -> Parts<'_> {
        let Running { graph, plan, ids, known, live, options, .. } = self;
        Parts { graph, plan, cores: &options.cores, ids, known, live }
    }

    /// Has the view show the plan that comes.
    fn lay_out(&self) {
        if let Some(layout) = &self.layout {
            *layout.lock().unwrap_or_else(PoisonError::into_inner) = Layout::of(&self.parts());
        }
        self.taps.keep(&self.ids);
    }

    /// Sends a message to a component, to arrive before its logical slot `before`. It fails as [`Running::set`].
    pub fn send(&mut self, component: &str, message: Message, before: u64) -> Result<(), ControlError> {
        let component = self.component(component)?;
        let pending = Pending { before, what: Instruction::Message(message) };
        self.command(component, Command::Hand { component: self.ids[component], pending })
    }

    /// Goes over to another plan of the same waveform at the edge of physical slot `at`, or as soon as can be, but not before
    /// a change that was asked for earlier. No slot is lost; components whose depth shrinks catch up in that slot.
    ///
    /// # Errors
    /// The plan has more workers than were started, its links take too much memory, or a worker has too many commands waiting.
    pub fn change_plan(&mut self, plan: &Plan, at: u64) -> Result<(), ControlError> {
        // The packets in flight must fit: those of the old plan before components catch up, and those of components that
        // are ahead afterwards, one slot more where a worker was within a slot.
        let least = |link: usize| {
            let from = self.graph.links()[link].from.component;
            let ahead = plan.depth(from).saturating_sub(self.plan.depth(from));
            u64::from(self.plan.delay(link).max(plan.delay(link) + ahead)) + 3
        };
        let vacant = self.ids.iter().map(|_| Body::vacant()).collect();
        let tables = make(&self.graph, plan, vacant, &self.ids, &self.options, &least);
        self.send_change(tables.map_err(|source| ControlError::Open { source })?, false, at)?;
        self.plan = plan.clone();
        self.lay_out();
        Ok(())
    }

    /// Goes over to another waveform at logical slot `at`, or as soon as can be, but not before a change that was asked for
    /// earlier. All components first finish their slots
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
        self.has_room_for(graph)?;
        let open = |source| ControlError::Open { source };
        let mut live = self.live.clone();
        let mut known = self.known.clone();
        let mut ids = Vec::new();
        let new = |index| self.predecessor_of(graph, index).is_none();
        let components = make_components(graph, registry, &self.options, &new).map_err(open)?;
        for (index, node) in graph.components().iter().enumerate() {
            if let Some(old) = self.predecessor_of(graph, index) {
                ids.push(self.ids[old]);
            } else {
                ids.push(known.len());
                known.push(node.clone());
            }
        }
        let least = |link: usize| u64::from(plan.delay(link)).max(graph.links()[link].delay.into()) + 3;
        let mut tables = make(graph, plan, components, &ids, &self.options, &least).map_err(open)?;
        if self.options.watched {
            self.taps.attach(&mut tables, graph, &ids, self.known.len());
        }
        live.resize_with(known.len(), Arc::default);
        for entry in tables.iter().flat_map(|table| &table.entries) {
            // Those that keep their state keep their counters; the new ones stand behind.
            if let Some(place) = live.get_mut(entry.id).filter(|_| entry.id >= self.known.len()) {
                *place = Arc::clone(&entry.stats.live);
            }
        }
        self.send_change(tables, true, at)?;
        self.live = live;
        (self.graph, self.plan, self.ids, self.known) = (graph.clone(), plan.clone(), ids, known);
        self.lay_out();
        Ok(())
    }

    /// Whether a change to this waveform is within what a run may have of components in all.
    ///
    /// # Errors
    /// It is not.
    pub fn has_room_for(&self, graph: &Graph) -> Result<(), ControlError> {
        let new = (0..graph.components().len()).filter(|&index| self.predecessor_of(graph, index).is_none());
        let known = self.known.len() + new.count();
        if known > COMPONENTS_EVER { Err(ControlError::Components { known }) } else { Ok(()) }
    }

    /// The component of the waveform that runs whose state one of another waveform takes over.
    fn predecessor_of(&self, graph: &Graph, index: usize) -> Option<usize> {
        let old = self.graph.find(&graph.components()[index].name);
        old.filter(|&old| is_same(graph, index, &self.graph, old))
    }

    fn send_change(&mut self, mut tables: Vec<Table>, whole: bool, at: u64) -> Result<(), ControlError> {
        let started = self.threads.len();
        if tables.len() > started {
            return Err(ControlError::Workers { workers: tables.len(), started });
        }
        let end = tables.first().map_or(0, |table| table.end);
        tables.resize_with(started, || Table { end, ..Table::default() });
        // On a clock each worker has a core of its own, and makes no system call.
        let spins = if matches!(self.options.clock, SlotClock::Free) { self.spins() } else { u32::MAX };
        // The tables of a change stand on those of the one before: no worker may do it first.
        let at = at.max(self.changed_at);
        let changes = changes(at, tables, whole, &self.timer, &self.broken, spins);
        self.clear_away();
        if let Some(worker) = self.outboxes.iter().position(|outbox| outbox.commands.is_full()) {
            return Err(ControlError::Full { worker });
        }
        if !self.ending.begin() {
            return Err(ControlError::Ended);
        }
        for (outbox, change) in self.outboxes.iter_mut().zip(changes) {
            // There is room: checked above, and only this side fills the queue.
            let _ = outbox.commands.push(Command::Change(Box::new(change)));
        }
        self.ending.sent();
        self.changed_at = at;
        Ok(())
    }

    /// Gives back the memory of changes that are done: the packets of the plan or waveform before, and the components that
    /// the new one has not. Their counts are kept. The next change, or the end, does it as well.
    pub fn clear_away(&mut self) {
        for outbox in &mut self.outboxes {
            while let Ok(change) = outbox.spent.pop() {
                self.left_behind.extend(change.left_behind());
            }
        }
    }

    /// The executions as they come, where [`SessionOptions::log`] asked for them; once.
    #[must_use]
    pub fn log(&mut self) -> Option<Log> {
        let workers = std::mem::take(&mut self.logs);
        (!workers.is_empty()).then_some(Log { workers })
    }

    /// Whether all workers have executed their last slot, so that [`Running::join`] returns at once.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.threads.iter().all(JoinHandle::is_finished)
    }

    /// Waits for the end: all slots executed, or asked to stop.
    ///
    /// # Panics
    /// If a worker did, outside a component: a mistake of ours.
    #[must_use]
    pub fn join(mut self) -> Report {
        self.go();
        // A log that was not taken holds no worker up.
        self.logs.clear();
        let threads = std::mem::take(&mut self.threads);
        let joined = |thread: JoinHandle<Worker>| thread.join().expect("a worker panics only by our mistake");
        let workers: Vec<Worker> = threads.into_iter().map(joined).collect();
        self.clear_away();
        let left_behind = std::mem::take(&mut self.left_behind);
        Report { granted: self.granted, ..report(&self.graph, &self.plan, &workers, &self.known, left_behind) }
    }

    fn command(&mut self, component: usize, command: Command) -> Result<(), ControlError> {
        let worker = self.plan.worker_of(component);
        self.outboxes[worker].commands.push(command).map_err(|_| ControlError::Full { worker })
    }

    fn component(&self, name: &str) -> Result<usize, ControlError> {
        self.graph.find(name).ok_or_else(|| ControlError::Component { component: name.to_owned() })
    }

    /// Index of the component, and index and declaration of its variable.
    fn variable<'a>(
        &self,
        registry: &'a Registry,
        name: &str,
        variable: &str,
    ) -> Result<(usize, usize, &'a ParamSpec), ControlError> {
        let component = self.component(name)?;
        let kind = registry.kind(&self.graph.components()[component].kind);
        let mut params = kind.into_iter().flat_map(|kind| &kind.params).enumerate();
        let found = params.find(|(_, param)| param.variable && param.is_called(variable));
        found.map(|(index, spec)| (component, index, spec)).ok_or_else(|| no_variable(name, variable))
    }
}

/// Whether a component of one graph is that of another: it can keep its state.
fn is_same(graph: &Graph, index: usize, other: &Graph, at: usize) -> bool {
    let (a, b) = (&graph.components()[index], &other.components()[at]);
    let longest = |graph: &Graph, component: usize, port: usize| {
        graph.link_to(PortId { component, port }).map(|link| graph.links()[link].lengths)
    };
    let packets = |port| longest(graph, index, port) == longest(other, at, port);
    // A process of its own has all ports, those for messages as well.
    let ports = |node: &Component| if node.isolated { node.shape.clone() } else { node.declared() };
    let (ours, theirs) = (ports(a), ports(b));
    (&a.kind, &a.params, a.isolated, &ours) == (&b.kind, &b.params, b.isolated, &theirs)
        && (0..ours.inputs.len()).all(packets)
}

fn no_variable(component: &str, variable: &str) -> ControlError {
    ControlError::Variable { component: component.to_owned(), variable: variable.to_owned() }
}
