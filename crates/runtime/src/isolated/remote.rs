//! [`Remote`]: an isolated component as its worker sees it.
//!
//! In a slot it takes the answer to the last request, if that is there, and writes the next; neither waits, allocates or
//! calls the kernel. Everything that comes from the other process is compared with what was asked before it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rtrb::{Consumer, Producer};
use takt_graph::{Graph, PortId, Value};
use takt_link::exchange::{Asking, get, get_bytes, put, put_bytes};

use super::instruction::Instruction;
use super::keeper::Keeper;
use super::layout::{
    CONTROL_COUNT, CONTROLS, Config, DONE, END, FIRST, GIVEN, GRANTED, HEAD, HISTORY, ITEMS, LOST, Layout, MISSING, NS,
    SLOT, STATUS, TELL_RESULTS, TEXT, TEXT_BYTES, TEXT_WORDS, TICK, WHAT,
};
use super::map::Shared;
use crate::clock::Patience;
use crate::component::{Component, Io, MakeError, Message, Scalar};
use crate::library::Word;
use crate::names;
use crate::port::{Granted, InPort, OutPort};
use crate::registry::Registry;
use crate::stats::Event;

/// A process that is ready, and the memory shared with it.
pub(crate) struct Link {
    pub(crate) exchange: Asking<Shared>,
    pub(crate) alive: Arc<AtomicBool>,
}

/// An isolated component.
pub(crate) struct Remote {
    link: Link,
    /// Processes that were started after the first.
    fresh: Consumer<Link>,
    /// Those that are gone: memory is given back outside real time.
    spent: Producer<Link>,
    layout: Layout,
    pending: Option<Pending>,
    /// The last request as the worker saw it; kept where there is a log.
    pub(crate) asked: Event,
    granted: Box<[Granted]>,
    /// What waits for the next request.
    told: Vec<Instruction>,
    /// Variables as they were set or read last.
    values: Box<[Option<Scalar>]>,
    /// Those that were set: a new process is told them.
    set: Box<[bool]>,
    degraded: bool,
    waits: bool,
    slot_ns: u64,
    /// How long results are waited for, outside real time: as long as a process may be silent.
    hang: Duration,
    restarts: u64,
    _keeper: Keeper,
}

/// The request under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    slot: u64,
    /// `None`: it could not be made.
    request: Option<u64>,
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done; its process took so long.
    Done { ns: u64 },
    /// What the slot was to bring from outside was lost there.
    Lost { ns: u64 },
    /// The component panicked there.
    Fault { ns: u64 },
    /// It did not come.
    None,
}

/// What opening needs to know.
#[derive(Clone, Copy)]
pub(crate) struct Opening<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) index: usize,
    pub(crate) registry: &'a Registry,
    pub(crate) options: &'a crate::Options,
}

impl Remote {
    /// Starts the process, and waits until its component is made.
    pub(crate) fn open(opening: Opening<'_>) -> Result<Remote, MakeError> {
        let config = config(opening);
        let written = serde_json::to_vec(&config).unwrap_or_default();
        let layout = Layout::of(&config, written.len());
        let name = &opening.graph.components()[opening.index].name;
        let isolation = &opening.options.isolation;
        let (keeper, started) = Keeper::start(name, written, &layout, isolation)?;
        let granted = vec![Granted::default(); layout.outputs.len()].into_boxed_slice();
        Ok(Remote {
            link: started.link,
            fresh: started.fresh,
            spent: started.spent,
            granted,
            pending: None,
            asked: Event::default(),
            told: Vec::with_capacity(2 * CONTROLS),
            values: vec![None; config.params_count].into_boxed_slice(),
            set: vec![false; config.params_count].into_boxed_slice(),
            degraded: false,
            waits: matches!(opening.options.clock, crate::SlotClock::Free),
            slot_ns: config.slot_ns,
            hang: isolation.hang,
            restarts: 0,
            layout,
            _keeper: keeper,
        })
    }

    /// Answers are waited for, however long they take: there is no clock.
    pub(crate) fn wait_always(&mut self) {
        self.waits = true;
    }

    /// The logical slot whose answer is to be taken.
    #[inline]
    pub(crate) fn pending(&self) -> Option<u64> {
        self.pending.map(|pending| pending.slot)
    }

    /// How often its process was started again.
    pub(crate) fn restarts(&self) -> u64 {
        self.restarts
    }

    /// Whether the answer is there, or will never be.
    #[inline]
    pub(crate) fn settled(&self) -> bool {
        let Some(request) = self.pending.and_then(|pending| pending.request) else { return true };
        // Acquire: what the process answered before it ended is there once it is known to have ended.
        self.link.exchange.answer(request).is_some() || !self.link.alive.load(Ordering::Acquire)
    }

    /// Makes the request for `slot`; its answer is to be taken before the next.
    pub(crate) fn post(&mut self, slot: u64, inputs: &[InPort], outputs: &mut [OutPort]) {
        for (port, granted) in outputs.iter_mut().zip(&mut self.granted) {
            *granted = port.grant(slot, inputs);
        }
        self.renew();
        let alive = self.link.alive.load(Ordering::Acquire);
        let request = self.link.exchange.free().filter(|_| alive).map(|cell| {
            write(cell, &self.layout, slot, inputs, &self.granted);
            let count = self.told.len().min(CONTROLS);
            put(cell, CONTROL_COUNT, count as u64);
            self.told.drain(..count).enumerate().for_each(|(n, told)| told.write(cell, n));
            self.link.exchange.post()
        });
        self.pending = Some(Pending { slot, request });
    }

    /// Takes the answer and hands over what the component made. An answer that is not there now is given up, unless there
    /// is no clock.
    pub(crate) fn collect(&mut self, outputs: &mut [OutPort], patient: bool) -> Answer {
        let Some(pending) = self.pending.take() else { return Answer::None };
        if let Some(request) = pending.request.filter(|_| self.waits || patient) {
            self.wait(request);
        }
        let cell = pending.request.and_then(|request| self.link.exchange.answer(request));
        let answer = cell.map_or(Answer::None, |cell| match (get(cell, STATUS), get(cell, NS)) {
            (DONE, ns) => Answer::Done { ns },
            (LOST, ns) => Answer::Lost { ns },
            (_, ns) => Answer::Fault { ns },
        });
        for ((port, granted), span) in outputs.iter_mut().zip(&self.granted).zip(&self.layout.outputs) {
            port.resume(pending.slot, *granted);
            if let (Some(cell), Answer::Done { .. }) = (cell, answer) {
                // Compared with what was granted before it is handed over.
                port.truncate(get(cell, span.at + GIVEN) as usize);
                get_bytes(cell, span.at + HEAD, port.bytes_mut());
            }
            port.finish(!matches!(answer, Answer::Done { .. }));
        }
        if let Some(cell) = cell {
            for (n, value) in self.values.iter_mut().enumerate() {
                let at = self.layout.values + 2 * n;
                // What was set meanwhile is newer.
                if !self.told.iter().any(|told| matches!(told, Instruction::Set { param, .. } if *param == n)) {
                    *value = Word { kind: get(cell, at), bits: get(cell, at + 1) }.scalar();
                }
            }
        }
        answer
    }

    /// Without a clock until the answer is settled: the keeper ends a process that hangs. Under one, where a change lets
    /// components catch up, a slot at most.
    fn wait(&self, request: u64) {
        let until = (!self.waits).then(|| Instant::now() + Duration::from_nanos(self.slot_ns));
        let mut patience = Patience::new(if self.waits { 10_000 } else { u32::MAX });
        while self.link.exchange.answer(request).is_none() && self.link.alive.load(Ordering::Acquire) {
            if until.is_some_and(|until| Instant::now() >= until) {
                return;
            }
            patience.pause();
        }
    }

    /// Goes over to a process that was started again.
    #[inline]
    fn renew(&mut self) {
        while let Ok(link) = self.fresh.pop() {
            let old = std::mem::replace(&mut self.link, link);
            // As many places as there are starts.
            let _ = self.spent.push(old);
            self.restarts += 1;
            let set = self.values.iter().zip(&self.set).enumerate().filter(|(_, (_, set))| **set);
            let set = set.filter_map(|(param, (value, _))| Some(Instruction::Set { param, value: (*value)? }));
            let degrade = self.degraded.then_some(Instruction::Degrade);
            // What waits comes behind what was; the room that is left is enough, or the rest is not told.
            let room = self.told.capacity() - self.told.len();
            for (at, told) in set.chain(degrade).take(room).enumerate() {
                self.told.insert(at, told);
            }
        }
    }

    fn tell(&mut self, told: Instruction) {
        // Only to a process that does not answer can so much be said in vain.
        if self.told.len() < self.told.capacity() {
            self.told.push(told);
        }
    }
}

fn write(cell: &[AtomicU64], layout: &Layout, slot: u64, inputs: &[InPort], outputs: &[Granted]) {
    put(cell, SLOT, slot);
    put(cell, WHAT, TICK);
    put(cell, STATUS, 0);
    for (port, span) in inputs.iter().zip(&layout.inputs) {
        let (bytes, header) = (port.bytes_with_history().0, port.header());
        let history = bytes.len().saturating_sub(header.items * span.item_bytes);
        put(cell, span.at + ITEMS, header.items as u64);
        put(cell, span.at + FIRST, header.first_item);
        put(cell, span.at + MISSING, header.missing.into());
        put(cell, span.at + HISTORY, history as u64);
        put_bytes(cell, span.at + HEAD, bytes.get(..bytes.len().min(span.bytes)).unwrap_or_default());
    }
    for (granted, span) in outputs.iter().zip(&layout.outputs) {
        put(cell, span.at + GRANTED, granted.items as u64);
        put(cell, span.at + FIRST, granted.first_item);
    }
}

fn config(opening: Opening<'_>) -> Config {
    let Opening { graph, index, registry, options } = opening;
    let node = &graph.components()[index];
    let longest = |port| {
        let link = graph.link_to(PortId { component: index, port });
        link.and_then(|link| usize::try_from(graph.links()[link].lengths.max).ok()).unwrap_or(0)
    };
    let input_items: Vec<usize> = (0..node.shape.inputs.len()).map(longest).collect();
    let given = |port: usize| {
        let id = PortId { component: index, port };
        crate::table::output_bytes(graph, id) / node.shape.outputs[port].item.bytes()
    };
    let kind = takt_graph::Catalogue::kind(registry, &node.kind);
    Config {
        kind: node.kind.clone(),
        params: node.params.clone(),
        library: registry.library_of(&node.kind).map(Into::into),
        declared: (
            node.shape.inputs.len() - node.message_inputs,
            node.shape.outputs.len() - usize::from(node.message_output),
        ),
        output_items: (0..node.shape.outputs.len()).map(given).collect(),
        input_items,
        shape: node.shape.clone(),
        params_count: kind.map_or(0, |kind| kind.params.len()),
        slot_ns: graph.slot_ns(),
        spins: if takt_host::affinity::own_cpus().len() > 1 { 10_000 } else { 0 },
        cores: options.isolation.cores.clone(),
        lock_memory: options.lock_memory != crate::Wish::No,
    }
}

impl Component for Remote {
    /// Its worker posts and collects instead.
    fn tick(&mut self, _: &mut Io<'_>) {}

    fn set(&mut self, param: usize, value: Scalar) {
        if let (Some(place), Some(set)) = (self.values.get_mut(param), self.set.get_mut(param)) {
            (*place, *set) = (Some(value), true);
        }
        self.tell(Instruction::Set { param, value });
    }

    /// As of the last slot whose answer came.
    fn get(&self, param: usize) -> Option<Scalar> {
        self.values.get(param).copied().flatten()
    }

    fn message(&mut self, message: &Message) {
        self.tell(Instruction::Message(*message));
    }

    fn degrade(&mut self) {
        self.degraded = true;
        self.tell(Instruction::Degrade);
    }

    /// Asks the process, outside real time; nothing of one that is gone.
    fn results(&self) -> Vec<(&'static str, Value)> {
        let Some(cell) = self.link.exchange.free() else { return Vec::new() };
        put(cell, WHAT, TELL_RESULTS);
        put(cell, CONTROL_COUNT, 0);
        let (request, until) = (self.link.exchange.post(), Instant::now() + self.hang);
        while self.link.exchange.answer(request).is_none() {
            if Instant::now() >= until || !self.link.alive.load(Ordering::Acquire) {
                return Vec::new();
            }
            std::thread::sleep(Duration::from_micros(100));
        }
        names::keep(serde_json::from_slice(&text(self.link.exchange.words())).unwrap_or_default())
    }
}

impl Drop for Remote {
    /// Lets the process end by itself; the keeper sees to it that it does.
    fn drop(&mut self) {
        if let Some(cell) = self.link.exchange.free() {
            put(cell, WHAT, END);
            put(cell, CONTROL_COUNT, 0);
            self.link.exchange.post();
        }
    }
}

/// What the other side says, as long as it may be.
pub(super) fn text(words: &[AtomicU64]) -> Vec<u8> {
    let bytes = usize::try_from(get(words, TEXT_BYTES)).unwrap_or(usize::MAX).min(TEXT_WORDS * 8);
    let mut text = vec![0; bytes];
    get_bytes(words, TEXT, &mut text);
    text
}
