//! [`Remote`]: an isolated component as its worker sees it.
//!
//! In a slot it takes the answer to the last request, if that is there, and writes the next; neither waits, allocates or
//! calls the kernel. Everything that comes from the other process is compared with the request before it is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use takt_graph::{Graph, Value};
use takt_link::exchange::{Asking, get, get_bytes, put, put_bytes};

use super::keeper::ChildProcess;
use super::layout::{
    CONTROL_COUNT, CONTROLS, Config, DONE, END, FIRST, GIVE_RESULTS, GIVEN, GRANTED, HEAD, HISTORY, ITEMS, LOST,
    LOST_IF_EMPTY, Layout, MISSING, NS, SLOT, STATUS, TEXT, TEXT_BYTES, TEXT_WORDS, TICK, WHAT,
};
use super::map::Shared;
use crate::component::{Component, Instruction, Io, MakeError, Message, Registry, Scalar, Word, names};
use crate::options::{SessionOptions, Wish};
use crate::port::{Granted, InPort, OutPort, declared, longest};
use crate::slot::{Patience, SlotClock};
use crate::stats::Event;

/// A process that is ready, and the memory shared with it.
pub(crate) struct Link {
    pub(crate) exchange: Asking<Shared>,
    pub(crate) alive: Arc<AtomicBool>,
}

pub(crate) struct Remote {
    link: Link,
    layout: Layout,
    pending: Option<Pending>,
    /// The last request as the worker saw it; kept where there is a log.
    pub(crate) requested: Event,
    granted: Box<[Granted]>,
    waiting: Vec<Instruction>,
    /// Variables as they were set or read last.
    values: Box<[Option<Scalar>]>,
    /// Those that were set: a new process gets them.
    set: Box<[bool]>,
    degraded: bool,
    /// There is no clock: answers are waited for, however long they take.
    pub(crate) waits: bool,
    slot_ns: u64,
    /// How long results are waited for, outside real time: as long as a process may be silent.
    hang: Duration,
    /// How often its process was started again.
    pub(crate) restarts: u64,
    keeper: ChildProcess,
}

/// The request under way.
#[derive(Clone, Copy, Debug)]
struct Pending {
    slot: u64,
    /// `None`: it could not be made.
    request: Option<u64>,
}

/// Answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Done; its process took so long.
    Done {
        ns: u64,
    },
    /// The data that the slot was to bring from outside were lost there.
    Lost {
        ns: u64,
    },
    Fault {
        ns: u64,
    },
    /// It did not come.
    None,
}

impl Remote {
    /// Starts the process, and waits until its component is made.
    pub(crate) fn open(
        graph: &Graph,
        index: usize,
        registry: &Registry,
        options: &SessionOptions,
    ) -> Result<Remote, MakeError> {
        let config = config(graph, index, registry, options);
        let written = serde_json::to_vec(&config).unwrap_or_default();
        let layout = Layout::of(&config, written.len());
        let name = &graph.components()[index].name;
        let isolation = &options.isolation;
        let (keeper, link) = ChildProcess::start(name, written, &layout, isolation)?;
        let granted = vec![Granted::default(); layout.outputs.len()].into_boxed_slice();
        Ok(Remote {
            link,
            granted,
            pending: None,
            requested: Event::default(),
            waiting: Vec::with_capacity(2 * CONTROLS),
            values: vec![None; config.params_count].into_boxed_slice(),
            set: vec![false; config.params_count].into_boxed_slice(),
            degraded: false,
            waits: matches!(options.clock, SlotClock::Free),
            slot_ns: config.slot_ns,
            hang: isolation.hang,
            restarts: 0,
            layout,
            keeper,
        })
    }

    /// The logical slot whose answer is to be taken.
    #[inline]
    pub(crate) fn pending(&self) -> Option<u64> {
        self.pending.map(|pending| pending.slot)
    }

    /// Whether the answer is there, or will never be.
    #[inline]
    pub(crate) fn settled(&self) -> bool {
        let Some(request) = self.pending.and_then(|pending| pending.request) else { return true };
        // Acquire: what the process answered before it ended is there once it is known to have ended.
        self.link.exchange.answer(request).is_some() || !self.link.alive.load(Ordering::Acquire)
    }

    /// Makes the request for `slot`; its answer is to be taken before the next.
    pub(crate) fn post(&mut self, slot: u64, inputs: &[InPort], outputs: &mut [OutPort], declared: (usize, usize)) {
        let ins = inputs.get(..declared.0).unwrap_or_default();
        for (n, (port, granted)) in outputs.iter_mut().zip(&mut self.granted).enumerate() {
            *granted = port.grant(slot, inputs, if n < declared.1 { ins } else { &[] });
        }
        self.renew();
        let alive = self.link.alive.load(Ordering::Acquire);
        let request = self.link.exchange.free().filter(|_| alive).map(|cell| {
            write(cell, &self.layout, slot, inputs, &self.granted);
            let count = self.waiting.len().min(CONTROLS);
            put(cell, CONTROL_COUNT, count as u64);
            self.waiting.drain(..count).enumerate().for_each(|(n, instruction)| instruction.write(cell, n));
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
                port.lost = get(cell, span.at + LOST_IF_EMPTY) != 0;
                get_bytes(cell, span.at + HEAD, port.bytes_mut());
            }
            port.finish(!matches!(answer, Answer::Done { .. }));
            port.hand_over();
        }
        if let Some(cell) = cell {
            for (n, value) in self.values.iter_mut().enumerate() {
                let at = self.layout.values + 2 * n;
                // A value set meanwhile is newer.
                if !self.waiting.iter().any(|next| matches!(next, Instruction::Set { param, .. } if *param == n)) {
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
        while let Ok(link) = self.keeper.fresh.pop() {
            let old = std::mem::replace(&mut self.link, link);
            // As many places as there are starts.
            let _ = self.keeper.spent.push(old);
            self.restarts += 1;
            let set = self.values.iter().zip(&self.set).enumerate().filter(|(_, (_, set))| **set);
            let set = set.filter_map(|(param, (value, _))| Some(Instruction::Set { param, value: (*value)? }));
            let degrade = self.degraded.then_some(Instruction::Degrade);
            // The waiting instructions come behind what was; the room that is left is enough, or the rest is left out.
            let room = self.waiting.capacity() - self.waiting.len();
            for (at, instruction) in set.chain(degrade).take(room).enumerate() {
                self.waiting.insert(at, instruction);
            }
        }
    }

    fn instruct(&mut self, instruction: Instruction) {
        // Only a process that does not answer can have so many waiting.
        if self.waiting.len() < self.waiting.capacity() {
            self.waiting.push(instruction);
        }
    }
}

fn write(cell: &[AtomicU64], layout: &Layout, slot: u64, inputs: &[InPort], outputs: &[Granted]) {
    put(cell, SLOT, slot);
    put(cell, WHAT, TICK);
    put(cell, STATUS, 0);
    for (port, span) in inputs.iter().zip(&layout.inputs) {
        let (bytes, header) = (port.bytes_with_history(), port.header);
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
        put(cell, span.at + LOST_IF_EMPTY, granted.lost.into());
    }
}

fn config(graph: &Graph, index: usize, registry: &Registry, options: &SessionOptions) -> Config {
    let node = &graph.components()[index];
    let (input_items, output_items) = longest(graph, index);
    let kind = takt_graph::Catalogue::kind(registry, &node.kind);
    Config {
        kind: node.kind.clone(),
        params: node.params.clone(),
        declared: declared(node),
        input_items,
        output_items,
        shape: node.shape.clone(),
        params_count: kind.map_or(0, |kind| kind.params.len()),
        slot_ns: graph.slot_ns(),
        spins: if takt_host::affinity::own_cpus().len() > 1 { 10_000 } else { 0 },
        cores: options.isolation.cores.clone(),
        lock_memory: options.lock_memory != Wish::No,
    }
}

impl Component for Remote {
    /// Its worker posts and collects instead.
    fn tick(&mut self, _: &mut Io<'_>) {}

    fn set(&mut self, param: usize, value: Scalar) {
        if let (Some(place), Some(set)) = (self.values.get_mut(param), self.set.get_mut(param)) {
            (*place, *set) = (Some(value), true);
        }
        self.instruct(Instruction::Set { param, value });
    }

    /// As of the last slot whose answer came.
    fn get(&self, param: usize) -> Option<Scalar> {
        self.values.get(param).copied().flatten()
    }

    fn message(&mut self, message: &Message) {
        self.instruct(Instruction::Message(*message));
    }

    fn degrade(&mut self) {
        self.degraded = true;
        self.instruct(Instruction::Degrade);
    }

    /// Asks the process, outside real time; nothing of one that is gone.
    fn results(&self) -> Vec<(&'static str, Value)> {
        let Some(cell) = self.link.exchange.free() else { return Vec::new() };
        put(cell, WHAT, GIVE_RESULTS);
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

/// Text of the other side, cut to the longest allowed.
pub(super) fn text(words: &[AtomicU64]) -> Vec<u8> {
    let bytes = usize::try_from(get(words, TEXT_BYTES)).unwrap_or(usize::MAX).min(TEXT_WORDS * 8);
    let mut text = vec![0; bytes];
    get_bytes(words, TEXT, &mut text);
    text
}
