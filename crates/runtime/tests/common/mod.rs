//! Components for tests, and random waveforms of them.
#![allow(dead_code, reason = "not every test file uses all of them")]

pub mod steps;

use std::time::Duration;

use proptest::prelude::{Strategy, any, prop};
use takt_base::Stop;
use takt_graph::{
    Accepts, ComponentSpec, Domain, Graph, Item, Kind, Latency, Length, ParamSpec, Params, Plan, Shape, Value, Waveform,
};
use takt_runtime::{
    Component, ComponentReport, Io, MakeError, Message, Registration, Registry, Report, Session, SessionOptions,
    component,
};

fn int(params: &Params, name: &str) -> u64 {
    params.int(name).expect("checked").unsigned_abs()
}

fn number(name: &str, min: i64, max: i64) -> ParamSpec {
    ParamSpec::new(name, Domain::Int { min, max }, "A number.").default(1_i64)
}

fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (x >> 32)
}

/// Gives bytes that follow from slot and seed; `varying`: also their number.
#[component]
fn source(
    slot: u64,
    #[port(length = if varying { Length::UpTo(items) } else { Length::Fixed(items) })] mut output: Out<u8>,
    #[param(range = 0..=1 << 20, default = 16)] items: u32,
    #[param(default = 1)] seed: u64,
    #[param(default = false)] varying: bool,
) {
    for (n, byte) in output.iter_mut().enumerate() {
        *byte = scramble(seed ^ (slot << 20) ^ n as u64) as u8;
    }
    if varying {
        output.truncate((scramble(seed ^ slot) % (u64::from(items) + 1)) as usize);
    }
}

/// Folds all inputs, whatever their lengths, with what it remembers.
struct Mix {
    state: u8,
}

impl Component for Mix {
    fn tick(&mut self, io: &mut Io<'_>) {
        let mut state = self.state;
        for input in io.inputs.iter() {
            let packet = input.read::<u8>();
            state = packet.with_history().iter().fold(state, |s, &byte| s.wrapping_mul(31).wrapping_add(byte));
            state ^= packet.first_item() as u8;
        }
        if let Some(output) = io.outputs.first_mut() {
            for byte in output.write::<u8>().iter_mut() {
                state = state.wrapping_mul(17).wrapping_add(3);
                *byte = state;
            }
        }
        self.state = state;
    }
}

struct Add(u8);

/// Adds a number to each item, in place.
#[component]
impl Add {
    fn new(#[param(default = 1, variable)] term: u8) -> Add {
        Add(term)
    }
    fn tick(&mut self, mut bytes: InOut<u8>) {
        bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(self.0));
    }
    fn set_term(&mut self, term: u8) {
        self.0 = term;
    }
    fn term(&self) -> u8 {
        self.0
    }
    fn message(&mut self, message: &Message) {
        self.0 = message.words[0] as u8;
    }
}

/// Gives each item twice.
#[component]
fn twice(input: In<u8>, #[port(ratio = 2 / 1)] mut output: Out<u8>) {
    output.iter_mut().enumerate().for_each(|(n, byte)| *byte = input[n / 2]);
}

#[derive(Default)]
struct Watch {
    packets: i64,
    empty: i64,
    missing: i64,
    last: i64,
}

/// Counts what comes, and what is missing.
#[component]
impl Watch {
    fn new() -> Watch {
        Watch::default()
    }
    fn tick(&mut self, input: In<u8>) {
        self.packets += 1;
        self.empty += i64::from(input.is_empty());
        self.missing += i64::from(input.missing());
        self.last = input.last().map_or(self.last, |&byte| i64::from(byte));
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        let Watch { packets, empty, missing, last } = *self;
        vec![("packets", packets.into()), ("empty", empty.into()), ("missing", missing.into()), ("last", last.into())]
    }
}

#[derive(Default)]
struct Verify {
    seed: u64,
    right: i64,
    wrong: i64,
    missing: i64,
}

/// Compares with what a `source` of this seed makes, when there is a packet.
#[component]
impl Verify {
    fn new(#[param(default = 1)] seed: u64) -> Verify {
        Verify { seed, ..Verify::default() }
    }
    fn tick(&mut self, slot: u64, input: In<u8>) {
        let seed = self.seed ^ (slot << 20);
        let right = input.iter().enumerate().all(|(n, &byte)| byte == scramble(seed ^ n as u64) as u8);
        match input.missing() {
            true => self.missing += 1,
            false if right && !input.is_empty() => self.right += 1,
            false => self.wrong += 1,
        }
    }
    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("right", self.right.into()), ("wrong", self.wrong.into()), ("missing", self.missing.into())]
    }
}

/// Passes on, and keeps its worker busy for random times, seldom.
struct Hiccups {
    seed: u64,
    one_in: u64,
    most_us: u64,
}

impl Component for Hiccups {
    fn tick(&mut self, io: &mut Io<'_>) {
        let dice = scramble(self.seed ^ io.slot);
        if dice.is_multiple_of(self.one_in) {
            io.occupy(Duration::from_micros(scramble(dice) % (self.most_us + 1)));
        }
    }
}

/// Passes on, and keeps its worker busy, or panics, in one slot.
struct Stall {
    slot: u64,
    time: Duration,
    panics: bool,
    degraded: bool,
}

impl Component for Stall {
    fn tick(&mut self, io: &mut Io<'_>) {
        if io.slot == self.slot {
            assert!(!self.panics, "on purpose");
            if !self.degraded {
                io.occupy(self.time);
            }
        }
    }

    fn degrade(&mut self) {
        self.degraded = true;
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("degraded", self.degraded.into())]
    }
}

fn made(component: impl Component + 'static) -> Result<Box<dyn Component>, MakeError> {
    Ok(Box::new(component))
}

fn mix_shape(params: &Params) -> Shape {
    (0..int(params, "inputs") as u32)
        .fold(Shape::new(), |shape, n| shape.input_of(&format!("in{n}"), Item::Byte, Accepts::Any, n * 5))
}

fn passes_on(_: &Params) -> Result<Shape, takt_graph::ParamError> {
    Ok(Shape::new().in_out("in", "out", Item::Byte))
}

/// Those above, and those whose ports their parameters number, or that keep their worker busy.
pub fn registry() -> Registry {
    let mut registry = Registry::of_program().expect("one name each");
    let mut add = |kind, shape, make| registry.add(Registration { kind, shape, make }).expect("one name each");
    add(
        || Kind::new("mix", "Folds.").param(number("items", 0, 1 << 20).default(16_i64)).param(number("inputs", 1, 8)),
        |params| Ok(mix_shape(params).output("out", Item::Byte, Length::Fixed(int(params, "items") as u32))),
        |_| made(Mix { state: 7 }),
    );
    add(
        || Kind::new("sink", "Takes.").param(number("inputs", 1, 8)),
        |params| Ok(mix_shape(params)),
        |_| made(Mix { state: 7 }),
    );
    add(
        || {
            let kind = Kind::new("hiccups", "Passes on.").param(number("seed", 1, i64::MAX));
            kind.param(number("one_in", 1, i64::MAX)).param(number("most_us", 1, i64::MAX))
        },
        passes_on,
        |params| {
            let [seed, one_in, most_us] = ["seed", "one_in", "most_us"].map(|name| int(params, name));
            made(Hiccups { seed, one_in, most_us })
        },
    );
    add(
        || {
            let slot = number("slot", 0, i64::MAX).default(i64::MAX);
            let us = number("us", 0, i64::MAX).unit("us").default(0_i64);
            let panics = ParamSpec::new("panics", Domain::Bool, "Whether it panics instead.").default(false);
            Kind::new("stall", "Passes on.").param(slot).param(us).param(panics)
        },
        passes_on,
        |params| {
            let time = Duration::from_micros(int(params, "us"));
            let panics = params.bool("panics") == Some(true);
            made(Stall { slot: int(params, "slot"), time, panics, degraded: false })
        },
    );
    registry
}

pub fn spec(name: &str, kind: &str) -> ComponentSpec {
    ComponentSpec::new(name, kind)
}

pub fn waveform() -> Waveform {
    Waveform::new("test", Duration::from_millis(1))
}

/// Adds these components, each linked to the next.
pub fn chain<const N: usize>(made: Waveform, specs: [ComponentSpec; N]) -> Waveform {
    let names = specs.each_ref().map(|spec| spec.name.clone());
    specs.into_iter().fold(made, Waveform::with).chain(names.each_ref().map(String::as_str))
}

pub fn check(waveform: &Waveform) -> Graph {
    Graph::check(waveform, &registry()).unwrap_or_else(|error| panic!("{error}; {}", error.fix()))
}

pub fn open(graph: &Graph, plan: &Plan, slots: u64) -> Session {
    open_in_bursts(graph, plan, Some(slots), 1)
}

pub fn open_in_bursts(graph: &Graph, plan: &Plan, slots: Option<u64>, burst: u64) -> Session {
    let options = SessionOptions { slots, burst, ..SessionOptions::default() };
    Session::open(graph, plan, &registry(), options).expect("opens")
}

pub fn run(graph: &Graph, plan: &Plan, slots: u64) -> Report {
    open(graph, plan, slots).run(&Stop::new()).expect("starts")
}

/// Opens and runs a waveform of these types, on a virtual clock.
pub fn simulate(registry: &Registry, waveform: &Waveform, worker_of: &[usize], slots: u64) -> Report {
    let graph = Graph::check(waveform, registry).unwrap_or_else(|error| panic!("{error}"));
    let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
    Session::open(&graph, &assign(&graph, worker_of, Latency::Compact), registry, options).expect("opens").simulate()
}

/// [`registry`] with one type more.
pub fn registry_with(registration: Registration) -> Registry {
    let mut registry = registry();
    registry.add(registration).expect("a name of its own");
    registry
}

/// Two workers, or one where there is one processor, under a clock that keeps no time: with a stall in slot `stall`, four
/// slots that are missed, two changes of plan and a setting. Plans say the worker of a, p, q, w0, w1, z and y, where `w0` and
/// `w1` are witnesses. `ready` is called when the workers are about to begin.
pub fn eventful(all: &Registry, slots: u64, stall: i64, plans: [[usize; 7]; 2], ready: impl FnOnce()) -> Report {
    let specs = [
        spec("a", "source").param("items", 1000),
        spec("p", "stall").param("slot", stall).param("us", 900),
        spec("q", "add"),
        spec("w0", "witness"),
        spec("w1", "witness"),
        spec("z", "sink"),
    ];
    let blank = Waveform::new("eventful", Duration::from_micros(250));
    let graph = Graph::check(&chain(blank, specs).with(spec("y", "sink")).link("a", "y"), all);
    let graph = graph.unwrap_or_else(|error| panic!("{error}"));
    let workers = takt_host::affinity::own_cpus().len().min(2);
    let [first, second] = plans.map(|of| assign(&graph, &of.map(|worker| worker.min(workers - 1)), Latency::Compact));
    // In slot 5000 nothing has time, and behind it three are missed.
    let clock = steps::Steps::of(workers).short(5000).late_behind(5000, 3).clock();
    let options = SessionOptions { slots: Some(slots), clock, ..SessionOptions::default() };
    let session = Session::open(&graph, &first, all, options).expect("opened");
    let mut running = session.start_paused(&Stop::new()).expect("started");
    running.change_plan(&second, 3000).expect("room");
    running.change_plan(&first, 6000).expect("room");
    running.set(all, "q", "term", &7.into(), 2000).expect("room");
    ready();
    running.go();
    let report = running.join();
    assert_eq!(report.slots, slots);
    for component in &report.components {
        assert_eq!((component.missed, component.executions), (4, slots - 4), "{}", component.name);
    }
    report
}

pub fn assign(graph: &Graph, worker_of: &[usize], latency: Latency) -> Plan {
    Plan::assign(graph, worker_of, latency).expect("legal")
}

pub fn of<'a>(report: &'a Report, name: &str) -> &'a ComponentReport {
    report.components.iter().find(|c| c.name == name).expect("there")
}

pub fn result<'a>(report: &'a Report, component: &str, name: &str) -> &'a Value {
    &of(report, component).results[name]
}

/// A random waveform: for each component its type and where its inputs come from (any component, also itself and later
/// ones), with delays.
pub type Recipe = Vec<(u8, Vec<(usize, u32)>)>;

/// Recipes of fewer than `most` components.
pub fn recipes(most: usize) -> impl Strategy<Value = Recipe> {
    prop::collection::vec((any::<u8>(), prop::collection::vec((any::<usize>(), 0..3_u32), 1..4)), 1..most)
}

/// A waveform of a recipe: a source first, and a sink behind each output without a consumer.
pub fn cook(recipe: &Recipe) -> Waveform {
    let count = recipe.len() + 2;
    let mut made =
        waveform().with(spec("c0", "source")).with(spec("c1", "source").param("varying", true).param("items", 40));
    let mut consumed = vec![false; count];
    for (n, (kind, inputs)) in recipe.iter().enumerate() {
        let at = n + 2;
        let name = format!("c{at}");
        let kind = ["mix", "mix", "add", "add", "twice", "stall"][usize::from(*kind) % 6];
        let inputs = if kind == "mix" { &inputs[..] } else { &inputs[..1] };
        made = made.with(match kind {
            "mix" => spec(&name, kind).param("inputs", inputs.len() as u32).param("items", 8 + 3 * n as u32),
            _ => spec(&name, kind),
        });
        for (port, &(from, delay)) in inputs.iter().enumerate() {
            let mut from = from % count;
            // Only mixers may close cycles: their length does not depend on what they read.
            let kind_of = |c: usize| if c < 2 { 0 } else { recipe[c - 2].0 % 6 };
            if from >= at && !(kind == "mix" && kind_of(from) < 2) {
                from %= at;
            }
            // Forwards without delay is always legal; backwards needs one.
            let delay = if from >= at { delay.max(1) } else { delay };
            consumed[from] = true;
            let input = if kind == "mix" { format!("{name}.in{port}") } else { format!("{name}.in") };
            made = made.delayed(&format!("c{from}.out"), &input, delay);
        }
    }
    for at in (0..count).filter(|&at| !consumed[at] || at == count - 1) {
        let name = format!("s{at}");
        made = made.with(spec(&name, "sink")).link(&format!("c{at}.out"), &format!("{name}.in0"));
    }
    made
}
