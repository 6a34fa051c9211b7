//! A chain of components that do nothing, so many slots on one worker: for counting instructions.
//!
//! `calls COMPONENTS SLOTS BURST`. What a call takes is the difference of two runs, over components and slots.

use std::error::Error;
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

fn chain(nulls: u64) -> Waveform {
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

fn main() -> Result<(), Box<dyn Error>> {
    let numbers = std::env::args().skip(1).map(|text| text.parse()).collect::<Result<Vec<u64>, _>>()?;
    let [nulls, slots, burst] = numbers[..] else { return Err("calls COMPONENTS SLOTS BURST".into()) };
    let registry = registry();
    let graph = Graph::check(&chain(nulls), &registry)?;
    let plan = Plan::assign(&graph, &vec![0; graph.components().len()], Latency::Compact)?;
    let options = Options { slots: Some(slots), burst, hash: false, ..Options::default() };
    let report = Session::open(&graph, &plan, &registry, options)?.run(&Stop::new())?;
    assert_eq!((report.slots, report.misses), (slots, 0));
    Ok(())
}
