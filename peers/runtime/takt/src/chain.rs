//! The chain as a waveform of takt's own components.

use std::time::Duration;

use takt_base::Stop;
use takt_graph::{ComponentSpec, Graph, Item, Kind, Latency, Plan, Shape, Value, Waveform};
use takt_runtime::{Component, Io, Registration, Registry, Session, SessionOptions};

use crate::Case;

/// Items a second.
pub fn run(case: &Case) -> String {
    let stop = Stop::new();
    let running = session(case, "null-sink", None).start(&stop).expect("started");
    let stats = running.stats();
    let packet = case.packet as u64;
    let answer = case.measure(|| stats.snapshot().components.last().map_or(0, |sink| sink.executions * packet));
    stop.request();
    assert_eq!(running.join().misses, 0, "nothing is missed without a clock");
    answer
}

/// The first item of the last packet.
pub fn check(case: &Case) -> String {
    let report = session(case, "look", Some(100)).run(&Stop::new()).expect("ran");
    let results = &report.components.last().expect("a sink").results;
    let Value::Float(item) = results["item"] else { panic!("a number") };
    format!("{{\"item\": {item}}}")
}

fn session(case: &Case, sink: &str, slots: Option<u64>) -> Session {
    takt_phy::link();
    let mut registry = Registry::of_program().expect("one name each");
    registry.add(look()).expect("one name each");
    let packet = i64::try_from(case.packet).expect("a packet");
    let names: Vec<String> = (0..case.stages).map(|stage| format!("kernel{stage}")).collect();
    let source = ComponentSpec::new("source", "null-source").param("items", packet);
    let mut waveform = Waveform::new("chain", Duration::from_millis(1)).with(source);
    for name in &names {
        waveform = waveform.with(ComponentSpec::new(name, &case.kernel));
    }
    waveform = waveform.with(ComponentSpec::new("sink", sink));
    let chain = ["source"].into_iter().chain(names.iter().map(String::as_str)).chain(["sink"]);
    let graph = Graph::check(&waveform.chain(chain), &registry).unwrap_or_else(|error| panic!("{error}"));
    let kernels = (0..case.stages).map(|stage| case.worker_of(stage));
    let worker_of: Vec<usize> = [0].into_iter().chain(kernels).chain([case.workers() - 1]).collect();
    let plan = Plan::assign(&graph, &worker_of, Latency::Compact).unwrap_or_else(|error| panic!("{error}"));
    let cores = case.cores[..case.workers()].to_vec();
    // FutureSDR's blocks work through their whole buffer as well before the next one's turn.
    let options = SessionOptions { slots, hash: false, cores, burst: 16, ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry, options).unwrap_or_else(|error| panic!("{error}"))
}

/// A sink that keeps the first item it got.
fn look() -> Registration {
    Registration {
        kind: || Kind::new("look", "Keeps an item."),
        shape: |_| Ok(Shape::new().input("in", Item::F32)),
        make: |_| Ok(Box::new(Look(0.0))),
    }
}

struct Look(f32);

impl Component for Look {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.0 = io.inputs[0].read::<f32>().first().copied().unwrap_or(f32::NAN);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("item", Value::Float(self.0.into()))]
    }
}
