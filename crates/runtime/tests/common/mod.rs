//! Components for tests, and random waveforms of them.
#![allow(dead_code, reason = "not every test file uses all of them")]

pub mod steps;

use std::time::Duration;

use takt_base::Stop;
use takt_graph::{
    Accepts, ComponentSpec, Domain, Graph, Item, Kind, Latency, Length, ParamSpec, Params, Plan, Shape, Value, Waveform,
};
use takt_runtime::{Component, Io, MakeError, Message, Options, Registration, Registry, Report, Scalar, Session};

fn int(params: &Params, name: &str) -> u32 {
    params.int(name).and_then(|n| u32::try_from(n).ok()).expect("checked")
}

fn items() -> ParamSpec {
    ParamSpec::new("items", Domain::Int { min: 0, max: 1 << 20 }, "Items a slot.").default(16_i64)
}

/// Bytes that follow from slot and seed; `varying`: also their number.
struct Source {
    seed: u64,
    varying: bool,
}

fn scramble(x: u64) -> u64 {
    let x = (x ^ (x >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (x >> 32)
}

impl Component for Source {
    fn tick(&mut self, io: &mut Io<'_>) {
        let mut out = io.outputs[0].write::<u8>();
        for (n, byte) in out.iter_mut().enumerate() {
            *byte = scramble(self.seed ^ (io.slot << 20) ^ n as u64) as u8;
        }
        if self.varying {
            let most = out.len() as u64;
            out.truncate((scramble(self.seed ^ io.slot) % (most + 1)) as usize);
        }
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

/// Adds a number to each item, in place.
struct Add(u8);

impl Component for Add {
    fn tick(&mut self, io: &mut Io<'_>) {
        for byte in io.outputs[0].write::<u8>().iter_mut() {
            *byte = byte.wrapping_add(self.0);
        }
    }

    fn set(&mut self, param: usize, value: Scalar) {
        assert_eq!(param, 0);
        self.0 = value.as_i64() as u8;
    }

    fn get(&self, _: usize) -> Option<Scalar> {
        Some(Scalar::Int(self.0.into()))
    }

    fn message(&mut self, message: &Message) {
        self.0 = message.words[0] as u8;
    }
}

/// Gives each item twice, or every second.
struct Rate {
    twice: bool,
}

impl Component for Rate {
    fn tick(&mut self, io: &mut Io<'_>) {
        let packet = io.inputs[0].read::<u8>();
        let mut out = io.outputs[0].write::<u8>();
        for (n, byte) in out.iter_mut().enumerate() {
            *byte = if self.twice { packet[n / 2] } else { packet[n * 2] };
        }
    }
}

/// Checks that packets come in order, and what is missing.
#[derive(Default)]
struct Watch {
    packets: i64,
    empty: i64,
    missing: i64,
    last: i64,
}

impl Component for Watch {
    fn tick(&mut self, io: &mut Io<'_>) {
        let packet = io.inputs[0].read::<u8>();
        self.packets += 1;
        self.empty += i64::from(packet.is_empty());
        self.missing += i64::from(packet.missing());
        self.last = packet.last().map_or(self.last, |&byte| i64::from(byte));
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let Watch { packets, empty, missing, last } = *self;
        vec![("packets", packets.into()), ("empty", empty.into()), ("missing", missing.into()), ("last", last.into())]
    }
}

/// Compares with what a `source` of this seed makes, when there is a packet.
#[derive(Default)]
struct Verify {
    seed: u64,
    right: i64,
    wrong: i64,
    missing: i64,
}

impl Component for Verify {
    fn tick(&mut self, io: &mut Io<'_>) {
        let packet = io.inputs[0].read::<u8>();
        let seed = self.seed ^ (io.slot << 20);
        let right = packet.iter().enumerate().all(|(n, &byte)| byte == scramble(seed ^ n as u64) as u8);
        match packet.missing() {
            true => self.missing += 1,
            false if right && !packet.is_empty() => self.right += 1,
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
            assert!(!self.panics, "told to");
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
    let mut shape = Shape::new();
    for n in 0..int(params, "inputs") {
        shape = shape.input_of(&format!("in{n}"), Item::Byte, Accepts::Any, n * 5);
    }
    shape
}

pub fn registry() -> Registry {
    let mut registry = Registry::empty();
    let mut add = |kind, shape, make| registry.add(Registration { kind, shape, make }).expect("one name each");
    add(
        || {
            let seed = ParamSpec::new("seed", Domain::Int { min: 0, max: i64::MAX }, "Seed.").default(1_i64);
            let varying = ParamSpec::new("varying", Domain::Bool, "Whether lengths vary.").default(false);
            Kind::new("source", "Bytes.").param(items()).param(seed).param(varying)
        },
        |params| {
            let items = int(params, "items");
            let varying = params.bool("varying") == Some(true);
            Ok(Shape::new().output("out", Item::Byte, if varying { Length::UpTo(items) } else { Length::Fixed(items) }))
        },
        |params| {
            let seed = params.int("seed").expect("checked").unsigned_abs();
            made(Source { seed, varying: params.bool("varying") == Some(true) })
        },
    );
    add(
        || {
            let inputs = ParamSpec::new("inputs", Domain::Int { min: 1, max: 8 }, "Inputs.").default(1_i64);
            Kind::new("mix", "Folds.").param(items()).param(inputs)
        },
        |params| Ok(mix_shape(params).output("out", Item::Byte, Length::Fixed(int(params, "items")))),
        |_| made(Mix { state: 7 }),
    );
    add(
        || {
            let inputs = ParamSpec::new("inputs", Domain::Int { min: 1, max: 8 }, "Inputs.").default(1_i64);
            Kind::new("sink", "Takes.").param(inputs)
        },
        |params| Ok(mix_shape(params)),
        |_| made(Mix { state: 7 }),
    );
    add(
        || {
            let term = ParamSpec::new("term", Domain::Int { min: 0, max: 255 }, "Added.").default(1_i64).variable();
            Kind::new("add", "Adds, in place.").param(term)
        },
        |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        |params| made(Add(int(params, "term") as u8)),
    );
    add(
        || Kind::new("twice", "Doubles the rate."),
        |_| {
            Ok(Shape::new().input("in0", Item::Byte).output("out", Item::Byte, Length::Ratio { num: 2, den: 1, of: 0 }))
        },
        |_| made(Rate { twice: true }),
    );
    add(
        || Kind::new("half", "Halves the rate."),
        |_| {
            let even = Accepts::MultipleOf(2);
            let shape = Shape::new().input_of("in0", Item::Byte, even, 0);
            Ok(shape.output("out", Item::Byte, Length::Ratio { num: 1, den: 2, of: 0 }))
        },
        |_| made(Rate { twice: false }),
    );
    add(
        || {
            let seed = ParamSpec::new("seed", Domain::Int { min: 0, max: i64::MAX }, "Seed.").default(1_i64);
            Kind::new("verify", "Compares.").param(seed)
        },
        |_| Ok(Shape::new().input("in0", Item::Byte)),
        |params| made(Verify { seed: params.int("seed").expect("checked").unsigned_abs(), ..Verify::default() }),
    );
    add(
        || {
            let number = |name| ParamSpec::new(name, Domain::Int { min: 1, max: i64::MAX }, "A number.").default(1_i64);
            Kind::new("hiccups", "Passes on.").param(number("seed")).param(number("one_in")).param(number("most_us"))
        },
        |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        |params| {
            let number = |name| params.int(name).expect("checked").unsigned_abs();
            made(Hiccups { seed: number("seed"), one_in: number("one_in"), most_us: number("most_us") })
        },
    );
    add(|| Kind::new("watch", "Counts."), |_| Ok(Shape::new().input("in0", Item::Byte)), |_| made(Watch::default()));
    add(
        || {
            let slot = ParamSpec::new("slot", Domain::Int { min: 0, max: i64::MAX }, "When.").default(i64::MAX);
            let us = ParamSpec::new("us", Domain::Int { min: 0, max: i64::MAX }, "How long.").unit("us").default(0_i64);
            let panics = ParamSpec::new("panics", Domain::Bool, "Whether it panics instead.").default(false);
            Kind::new("stall", "Passes on.").param(slot).param(us).param(panics)
        },
        |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        |params| {
            let (slot, us) = (params.int("slot").expect("checked"), params.int("us").expect("checked"));
            let time = Duration::from_micros(us.unsigned_abs());
            let panics = params.bool("panics") == Some(true);
            made(Stall { slot: slot.unsigned_abs(), time, panics, degraded: false })
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

pub fn check(waveform: &Waveform) -> Graph {
    Graph::check(waveform, &registry()).unwrap_or_else(|error| panic!("{error}; {}", error.fix()))
}

pub fn open(graph: &Graph, plan: &Plan, slots: u64) -> Session {
    open_in_bursts(graph, plan, Some(slots), 1)
}

pub fn open_in_bursts(graph: &Graph, plan: &Plan, slots: Option<u64>, burst: u64) -> Session {
    let options = Options { slots, burst, ..Options::default() };
    Session::open(graph, plan, &registry(), options).expect("opens")
}

pub fn run(graph: &Graph, plan: &Plan, slots: u64) -> Report {
    open(graph, plan, slots).run(&Stop::new()).expect("starts")
}

pub fn assign(graph: &Graph, worker_of: &[usize], latency: Latency) -> Plan {
    Plan::assign(graph, worker_of, latency).expect("legal")
}

/// What a random waveform is made of: for each component its type and where its inputs come from (any component, also
/// itself and later ones), with delays.
pub type Recipe = Vec<(u8, Vec<(usize, u32)>)>;

/// A waveform of a recipe: a source first, and a sink behind each output that nobody hears.
pub fn cook(recipe: &Recipe) -> Waveform {
    let count = recipe.len() + 2;
    let mut made =
        waveform().with(spec("c0", "source")).with(spec("c1", "source").param("varying", true).param("items", 40));
    let mut heard = vec![false; count];
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
            // Only mixers may close cycles: their length does not depend on what they hear.
            let kind_of = |c: usize| if c < 2 { 0 } else { recipe[c - 2].0 % 6 };
            if from >= at && !(kind == "mix" && kind_of(from) < 2) {
                from %= at;
            }
            // Forwards without delay is always legal; backwards needs one.
            let delay = if from >= at { delay.max(1) } else { delay };
            heard[from] = true;
            made = made.delayed(&format!("c{from}.out"), &format!("{name}.in{port}"), delay);
        }
    }
    for at in heard.iter().enumerate().filter_map(|(at, heard)| (!heard || at == count - 1).then_some(at)) {
        let name = format!("s{at}");
        made = made.with(spec(&name, "sink")).link(&format!("c{at}.out"), &format!("{name}.in0"));
    }
    made
}
