//! A waveform file on the runtime, and what its components counted.
#![allow(dead_code, reason = "not every test needs all")]

use takt_base::Stop;
use takt_graph::{Graph, Latency, Params, Plan, Value, Waveform};
use takt_runtime::{Bench, Registry, Report, Session, SessionOptions};

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
    let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry, options).expect("opened").run(&Stop::new()).expect("started")
}

/// Runs the file on one worker, on two, and on `each` at fixed latency: one output hash.
pub fn on_three_plans(file: &str, slots: u64, two: fn(usize) -> usize, each: fn(usize) -> usize) -> [Report; 3] {
    let [one, two] = [|_| 0, two].map(|worker_of| run(file, worker_of, Latency::Compact, slots));
    let each = run(file, each, Latency::Fixed, slots);
    assert_eq!([&two.output_hash, &each.output_hash], [&one.output_hash; 2]);
    [one, two, each]
}

/// Count of a component under a name.
pub fn result(report: &Report, component: &str, name: &str) -> i64 {
    let found = report.components.iter().find(|found| found.name == component).expect("there");
    let Value::Int(count) = found.results[name] else { panic!("{component} {name} is no count") };
    count
}

/// Several of them.
pub fn results<const N: usize>(report: &Report, component: &str, names: [&str; N]) -> [i64; N] {
    names.map(|name| result(report, component, name))
}

/// Not more wrong blocks than a peer's, whose `rate` is over so many `errors`, by 99 % intervals; nor so few that the noise must be
/// too weak; nor a CRC that fails for nothing.
pub fn judge(report: &Report, blocks: u64, peer: (f64, usize), what: &str) {
    let (rate, errors) = peer;
    let wrong = result(report, "crc-check", "block_errors");
    let ours = takt_stats::proportion(blocks as usize, wrong as usize, 0.99).expect("rounds");
    let theirs = takt_stats::proportion((errors as f64 / rate) as usize, errors, 0.99).expect("rounds");
    let what = format!("{what}: {wrong} of {blocks}, peer {rate}");
    assert!(ours.low() <= theirs.high(), "{what}: more than others");
    assert!(ours.high() >= rate / 3.0, "{what}: too few to be true");
    assert!(result(report, "sink", "bit_errors") >= wrong, "{what}: a CRC that fails for nothing");
}

/// A component with these parameters is not made.
pub fn refused(kind: &str, params: &[(&str, i64)]) {
    let all = params.iter().fold(Params::new(), |all, &(name, value)| all.with(name, value));
    assert!(Bench::named(&registry(), kind, &all).is_err(), "{kind} with {params:?}");
}
