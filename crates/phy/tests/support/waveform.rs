//! A waveform file on the runtime, and what its components counted.

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Value, Waveform};
use takt_runtime::{Options, Registry, Report, Session};

pub fn registry() -> Registry {
    takt_phy::link();
    Registry::of_program().expect("one name each")
}

/// Runs the text of a waveform file, component `n` by worker `worker_of(n)`.
pub fn run(file: &str, worker_of: impl Fn(usize) -> usize, latency: Latency, slots: u64) -> Report {
    let registry = registry();
    let graph = Graph::check(&Waveform::parse("waveform.toml", file).expect("read"), &registry).expect("checked");
    let workers: Vec<usize> = (0..graph.components().len()).map(worker_of).collect();
    let plan = Plan::assign(&graph, &workers, latency).expect("placed");
    let options = Options { slots: Some(slots), ..Options::default() };
    Session::open(&graph, &plan, &registry, options).expect("opened").run(&Stop::new()).expect("started")
}

/// What a component counted under a name.
pub fn result(report: &Report, component: &str, name: &str) -> i64 {
    let found = report.components.iter().find(|found| found.name == component).expect("there");
    let Value::Int(count) = found.results[name] else { panic!("{component} {name} is no count") };
    count
}
