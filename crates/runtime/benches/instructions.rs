//! Calls to count instructions of: `instructions KERNEL CALLS` runs a thousand slots of sixteen components that do nothing, so
//! many times over; without arguments each is run once.
//!
//! `tests/instructions/run` runs this under cachegrind, with few calls and with many: the difference is the call path's.

use std::hint::black_box;
use std::time::Duration;

use takt_base::Stop;
use takt_graph::{ComponentSpec, Graph, Item, Kind, Latency, Length, Plan, Shape, Waveform};
use takt_runtime::{Component, Io, Options, Registration, Registry, Session};

struct Source;
impl Component for Source {
    fn tick(&mut self, io: &mut Io<'_>) {
        io.outputs[0].write::<f32>()[0] = 1.0;
    }
}

struct Null;
impl Component for Null {
    fn tick(&mut self, io: &mut Io<'_>) {
        let x = io.inputs[0].read::<f32>().first().copied().unwrap_or(0.0);
        io.outputs[0].write::<f32>().fill(x);
    }
}

struct Sink;
impl Component for Sink {
    fn tick(&mut self, io: &mut Io<'_>) {
        black_box(io.inputs[0].read::<f32>().len());
    }
}

fn registry() -> Registry {
    let mut registry = Registry::empty();
    let mut add = |kind, shape, make| registry.add(Registration { kind, shape, make }).expect("one name each");
    add(
        || Kind::new("source", ""),
        |_| Ok(Shape::new().output("out", Item::F32, Length::Fixed(1))),
        |_| Ok(Box::new(Source)),
    );
    add(
        || Kind::new("null", ""),
        |_| Ok(Shape::new().input("in", Item::F32).output("out", Item::F32, Length::Fixed(1))),
        |_| Ok(Box::new(Null)),
    );
    add(|| Kind::new("sink", ""), |_| Ok(Shape::new().input("in", Item::F32)), |_| Ok(Box::new(Sink)));
    registry
}

fn chain(nulls: u32) -> Waveform {
    let ends = [ComponentSpec::new("a", "source"), ComponentSpec::new("z", "sink")];
    let mut waveform = ends.into_iter().fold(Waveform::new("calls", Duration::from_millis(1)), Waveform::with);
    let mut before = "a".to_owned();
    for n in 0..nulls {
        let name = format!("n{n}");
        waveform = waveform.with(ComponentSpec::new(&name, "null")).link(&before, &name);
        before = name;
    }
    waveform.link(&before, "z")
}

/// Slots one after the other on one worker.
fn run(slots: u64, burst: u64) {
    let registry = registry();
    let graph = Graph::check(&chain(16), &registry).unwrap_or_else(|error| panic!("{error}"));
    let plan = Plan::assign(&graph, &vec![0; graph.components().len()], Latency::Compact).expect("one worker");
    let options = Options { slots: Some(slots), burst, hash: false, ..Options::default() };
    let report = Session::open(&graph, &plan, &registry, options).expect("opens").run(&Stop::new()).expect("starts");
    assert_eq!((report.slots, report.misses), (slots, 0));
}

/// Name, and slots in a burst.
const KERNELS: [(&str, u64); 2] = [("call", 1), ("call-in-bursts", 16)];

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let (kernel, calls) = (arguments.next(), arguments.next().and_then(|text| text.parse::<u64>().ok()));
    for (_, burst) in KERNELS.iter().filter(|(name, _)| kernel.as_deref().is_none_or(|kernel| kernel == *name)) {
        run(calls.unwrap_or(1) * 1000, *burst);
    }
}
