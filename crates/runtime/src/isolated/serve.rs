//! The process of an isolated component: finds out what it is to be, and answers until it is to end.

use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use takt_graph::{Catalogue, InputShape, Item, OutputShape};
use takt_link::exchange::{Answering, get, get_bytes, put, put_bytes};

use super::layout::{
    CONFIG, CONFIG_BYTES, CONTROL_COUNT, CONTROLS, Config, DONE, END, FIRST, GIVE_RESULTS, GIVEN, GRANTED, HEAD,
    HISTORY, ITEMS, LOST, LOST_IF_EMPTY, Layout, MAGIC, MISSING, NS, PANICKED, READY, REFUSED, SLOT, STATE, STATUS,
    TEXT, TEXT_BYTES, TEXT_WORDS, TICK, WHAT,
};
use super::map::Map;
use crate::component::{Component, Instruction, Io, MakeError, Message, Outbox, Prepared, Registry, Word};
use crate::port::{Grant, Granted, Header, InPort, OutPort, Room, in_place};
use crate::slot::Timer;

/// First argument of a program that is to be the process of an isolated component.
pub(super) const ARGUMENT: &str = "--takt-isolated-component";
/// Set in the environment of such a process.
pub(super) const ISOLATED: &str = "TAKT_ISOLATED_COMPONENT";

/// Serves an isolated component, and does not return, if this program was started for that. Every program that runs waveforms
/// with isolated components calls it first thing in `main`; `takt` does.
pub fn serve_if_asked() {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|argument| argument != ARGUMENT) {
        return;
    }
    let parent = arguments.nth(1).and_then(|parent| parent.to_str()?.parse().ok()).and_then(Pid::from_raw);
    // This process does not outlive the program, however that ends.
    let followed = set_parent_process_death_signal(Some(Signal::KILL)).is_ok() && getppid() == parent;
    let code = match (followed, Map::of(std::io::stdin())) {
        (true, Ok(map)) => serve(&map),
        _ => 2,
    };
    std::process::exit(code);
}

fn serve(map: &Map) -> i32 {
    let bytes = usize::try_from(get(map, CONFIG_BYTES)).unwrap_or(0).min(map.len() * 8);
    let mut written = vec![0; bytes];
    get_bytes(map, CONFIG, &mut written);
    let Ok(config) = serde_json::from_slice::<Config>(&written) else { return 2 };
    let layout = Layout::of(&config, bytes);
    if get(map, 0) != MAGIC || layout.words() > map.len() {
        return 2;
    }
    if config.lock_memory {
        // If it is required the program has it, with the same rights.
        let _ = takt_host::memory::lock_all();
    }
    takt_host::slack::set_timer_slack_ns(NonZeroU64::MIN);
    let panicked = || MakeError {
        what: "it panicked when it was made".to_owned(),
        fix: "see the message of the panic".to_owned(),
    };
    let made = || catch_unwind(|| HostedComponent::make(&config)).unwrap_or_else(|_| Err(panicked()));
    match pin(&config.cores).and_then(|()| made()) {
        Ok(hosted) => {
            state(map, READY);
            hosted.answer_all(Answering::new(&**map, layout.cells_at, layout.cell_words), &layout, config.spins)
        }
        Err(why) => {
            write_text(map, &why);
            state(map, REFUSED);
            1
        }
    }
}

fn pin(cores: &[usize]) -> Result<(), MakeError> {
    if cores.is_empty() {
        return Ok(());
    }
    takt_host::affinity::pin_self(cores).map_err(|error| MakeError {
        what: format!("its process can't run on CPUs {cores:?}: {error}"),
        fix: format!("use CPUs that it may run on: {:?}", takt_host::affinity::own_cpus()),
    })
}

fn state(map: &Map, state: u64) {
    // Release: what was said before is there for who sees this.
    map[STATE].store(state, Ordering::Release);
}

fn write_text(map: &[AtomicU64], value: &impl serde::Serialize) {
    let text = serde_json::to_vec(value).unwrap_or_default();
    // Half a text is none.
    let text = if text.len() <= TEXT_WORDS * 8 { text } else { Vec::new() };
    put_bytes(map, TEXT, &text);
    put(map, TEXT_BYTES, text.len() as u64);
}

/// A component with ports of its own.
struct HostedComponent {
    component: Box<dyn Component>,
    inputs: Vec<InPort>,
    outputs: Vec<OutPort>,
    declared: (usize, usize),
    in_place: Box<[(usize, usize)]>,
    /// Room for history and packet of any input.
    bytes: Vec<u8>,
    messages: Vec<Message>,
    timer: Timer,
    params: usize,
}

impl HostedComponent {
    fn make(config: &Config) -> Result<HostedComponent, MakeError> {
        let broken = |what: String| MakeError {
            what,
            fix: "remove `isolated = true` to see whether it works without".to_owned(),
        };
        let registry = Registry::of_program().map_err(|error| broken(error.to_string()))?;
        if Catalogue::kind(&registry, &config.kind).is_none() {
            return Err(MakeError {
                what: format!("the process of an isolated component does not know component type `{}`", config.kind),
                fix: "register it by #[component] or inventory::submit!".to_owned(),
            });
        }
        let mut component = registry.make(&config.kind, &config.params)?;
        let mut shape = config.shape.clone();
        shape.inputs.truncate(config.declared.0);
        shape.outputs.truncate(config.declared.1);
        let prepared = Prepared {
            shape: &shape,
            input_items: config.input_items.get(..config.declared.0).unwrap_or_default(),
            output_items: config.output_items.get(..config.declared.1).unwrap_or_default(),
            slot_ns: config.slot_ns,
        };
        prepared.prepare(component.as_mut())?;
        let (ins, outs) = (&config.shape.inputs, &config.shape.outputs);
        let room = |item: Item, items: usize, history: usize| Room {
            bytes: items * item.bytes(),
            margin_bytes: history * item.bytes(),
        };
        let input = |(port, &items): (&InputShape, &usize)| {
            let mut made = InPort::without_link(port.item, port.history as usize);
            made.keep_last(room(port.item, items, port.history as usize));
            made
        };
        let output = |(port, &items): (&OutputShape, &usize)| {
            OutPort::new(port.item, Grant::UpTo(items), Vec::new(), room(port.item, items, 0), 0)
        };
        let longest = ins.iter().zip(&config.input_items);
        let longest = longest.map(|(port, items)| (items + port.history as usize) * port.item.bytes()).max();
        Ok(HostedComponent {
            component,
            inputs: ins.iter().zip(&config.input_items).map(input).collect(),
            outputs: outs.iter().zip(&config.output_items).map(output).collect(),
            declared: config.declared,
            in_place: in_place(&config.shape),
            bytes: vec![0; longest.unwrap_or(0)],
            messages: vec![Message::default(); takt_graph::limits::MESSAGES],
            timer: Timer::of_processor(),
            params: config.params_count,
        })
    }

    fn answer_all(mut self, mut exchange: Answering<&[AtomicU64]>, layout: &Layout, spins: u32) -> i32 {
        let mut looks = 0;
        loop {
            let Some(cell) = exchange.request() else {
                looks += 1;
                if looks <= spins {
                    std::hint::spin_loop();
                } else {
                    // A look every 20 us costs little, and little of a slot.
                    std::thread::sleep(Duration::from_micros(20));
                }
                continue;
            };
            looks = 0;
            match get(cell, WHAT) {
                TICK => self.tick(cell, layout),
                GIVE_RESULTS => {
                    let results = catch_unwind(AssertUnwindSafe(|| self.component.results())).unwrap_or_default();
                    let results: std::collections::BTreeMap<_, _> = results.into_iter().collect();
                    write_text(exchange.words(), &results);
                }
                END => return 0,
                _ => return 2,
            }
            exchange.answer();
        }
    }

    fn tick(&mut self, cell: &[AtomicU64], layout: &Layout) {
        let empty = self.read_inputs(cell, layout);
        for (port, span) in self.outputs.iter_mut().zip(&layout.outputs) {
            let (items, first_item) = (get(cell, span.at + GRANTED) as usize, get(cell, span.at + FIRST));
            let lost = get(cell, span.at + LOST_IF_EMPTY) != 0;
            port.resume(get(cell, SLOT), Granted { items, first_item, lost });
        }
        if empty {
            self.outputs.iter_mut().take(self.declared.1).for_each(OutPort::blank);
        }
        for &(input, output) in &self.in_place {
            let bytes = self.inputs[input].bytes();
            let place = self.outputs[output].bytes_mut();
            if bytes.len() == place.len() && !bytes.is_empty() {
                place.copy_from_slice(bytes);
                self.inputs[input].taken();
            } else {
                self.outputs[output].truncate(0);
            }
        }
        let instructions = usize::try_from(get(cell, CONTROL_COUNT)).unwrap_or(0).min(CONTROLS);
        let HostedComponent { component, inputs, outputs, declared, timer, messages, .. } = self;
        let (inputs, inbox) = inputs.split_at_mut(declared.0);
        let (outputs, outbox) = outputs.split_at_mut(declared.1);
        let room = if outbox.is_empty() { &mut [] } else { messages.as_mut_slice() };
        let mut io =
            Io { inputs, outputs, slot: get(cell, SLOT), outbox: Outbox { room, sent: 0 }, timer, lost: false };
        let start = io.timer.read();
        let mut done = true;
        // As in the program itself, an instruction at an edge may fail without costing the slot.
        for instruction in (0..instructions).filter_map(|n| Instruction::read(cell, n)) {
            done &= catch_unwind(AssertUnwindSafe(|| instruction.perform(component.as_mut()))).is_ok();
        }
        done &= catch_unwind(AssertUnwindSafe(|| {
            for message in inbox.iter().flat_map(|port| port.bytes().chunks_exact(size_of::<Message>())) {
                component.message(&bytemuck::pod_read_unaligned(message));
            }
            component.tick(&mut io);
        }))
        .is_ok();
        let (sent, lost) = (io.outbox.sent, io.lost);
        let ns = self.timer.ns(start, self.timer.read());
        if let Some(port) = self.outputs.get_mut(self.declared.1) {
            let bytes: &[u8] = bytemuck::cast_slice(self.messages.get(..sent).unwrap_or_default());
            port.truncate(bytes.len());
            port.bytes_mut().copy_from_slice(bytes);
        }
        let status = match (done, lost) {
            (false, _) => PANICKED,
            (true, true) => LOST,
            (true, false) => DONE,
        };
        self.write(cell, layout, status, ns);
    }

    /// Whether an input that the component declares is empty.
    fn read_inputs(&mut self, cell: &[AtomicU64], layout: &Layout) -> bool {
        let mut empty = false;
        for (n, (port, span)) in self.inputs.iter_mut().zip(&layout.inputs).enumerate() {
            let items = get(cell, span.at + ITEMS) as usize;
            let history = get(cell, span.at + HISTORY) as usize;
            let (first_item, missing) = (get(cell, span.at + FIRST), get(cell, span.at + MISSING) != 0);
            let header = Header::new(get(cell, SLOT), first_item, items, missing);
            let all = self.bytes.get_mut(..history + items * span.item_bytes).unwrap_or_default();
            get_bytes(cell, span.at + HEAD, all);
            let (before, packet) = all.split_at(history.min(all.len()));
            port.place(before, packet, header);
            empty |= n < self.declared.0 && items == 0;
        }
        empty
    }

    fn write(&mut self, cell: &[AtomicU64], layout: &Layout, status: u64, ns: u64) {
        for (port, span) in self.outputs.iter_mut().zip(&layout.outputs) {
            put(cell, span.at + GIVEN, port.items() as u64);
            put(cell, span.at + LOST_IF_EMPTY, port.lost.into());
            put_bytes(cell, span.at + HEAD, port.bytes_mut());
        }
        for param in 0..self.params {
            let word = Word::of(self.component.get(param));
            put(cell, layout.values + 2 * param, word.kind);
            put(cell, layout.values + 2 * param + 1, word.bits);
        }
        put(cell, NS, ns);
        put(cell, STATUS, status);
    }
}
