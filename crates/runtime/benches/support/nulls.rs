//! Components that do nothing, and chains of them: what the benchmarks of the call path call.

use std::hint::black_box;
use std::time::Duration;

use takt_graph::{ComponentSpec, Item, Kind, Length, Shape, Waveform};
use takt_runtime::{Component, Io, Registration, Registry};

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

/// `source`, `null` and `sink`.
pub fn registry() -> Registry {
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

pub fn blank() -> Waveform {
    Waveform::new("bench", Duration::from_millis(1))
}

pub fn chain(nulls: usize) -> Waveform {
    let mut waveform = blank().with(ComponentSpec::new("a", "source")).with(ComponentSpec::new("z", "sink"));
    let mut before = "a".to_owned();
    for n in 0..nulls {
        let name = format!("n{n}");
        waveform = waveform.with(ComponentSpec::new(&name, "null")).link(&before, &name);
        before = name;
    }
    waveform.link(&before, "z")
}
