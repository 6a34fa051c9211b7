//! A whole link on the runtime: it attaches and carries its load, and computes the same on any number of workers.

use std::time::Duration;

use takt_base::Stop;
use takt_graph::{Domain, Graph, Item, Kind, Latency, ParamSpec, Plan, Shape, Value, Waveform};
use takt_mapper::{ClassSpec, Cost, Costs, Effort, Objective, Platform, map};
use takt_runtime::{Component, Culprit, Io, Registration, Registry, Report, Session, SessionOptions};

const LINK: &str = include_str!("../../../waveforms/lte-link.toml");

fn registry() -> Registry {
    takt_lte_waveform::link();
    Registry::of_program().expect("one name each")
}

fn graph(registry: &Registry, text: &str) -> Graph {
    Graph::check(&Waveform::parse("lte-link.toml", text).expect("read"), registry).expect("checked")
}

/// Stages that run together. A link without delay in a cycle stays on one worker, unless the cycle has slots to spare.
const STAGES: [&[&str]; 4] = [
    &["air-down", "ue-receive"],
    &["air-up", "enb-receive", "prach"],
    &["enb-stack", "enb-send", "load-down", "sink-up"],
    &["ue-stack", "ue-send", "load-up", "sink-down"],
];

/// Stage n by worker n modulo `workers`.
fn session(text: &str, workers: usize, slots: u64) -> Session {
    let registry = registry();
    let graph = graph(&registry, text);
    let stage = |name: &str| STAGES.iter().position(|stage| stage.contains(&name)).unwrap_or(0);
    let placement: Vec<usize> = graph.components().iter().map(|one| stage(&one.name) % workers).collect();
    let plan = Plan::assign(&graph, &placement, Latency::Compact).expect("placed");
    let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
    Session::open(&graph, &plan, &registry, options).expect("opened")
}

fn run(text: &str, workers: usize, slots: u64) -> Report {
    let report = session(text, workers, slots).run(&Stop::new()).expect("started");
    assert_eq!((report.misses, report.slots), (0, slots));
    report
}

fn count(report: &Report, component: &str, name: &str) -> i64 {
    let found = report.components.iter().find(|found| found.name == component).expect("there");
    match found.results.get(name) {
        Some(Value::Int(count)) => *count,
        other => panic!("{component} {name} is {other:?}: {:?}", found.results),
    }
}

#[test]
fn the_link_comes_up_and_carries_its_load_both_ways() {
    let report = run(LINK, 1, 900);
    assert!(count(&report, "ue-stack", "attached_slot") < 250);
    assert_eq!(count(&report, "enb-stack", "attached"), 1);
    for (load, sink) in [("load-down", "sink-down"), ("load-up", "sink-up")] {
        let [sent, received] = [count(&report, load, "packets"), count(&report, sink, "packets")];
        assert!(sent > 100 && sent - received < 20, "{sink}: {received} of {sent}");
        assert_eq!(["missing", "repeated", "reordered", "wrong"].map(|name| count(&report, sink, name)), [0; 4]);
    }
    let misplaced =
        [("enb-send", "misplaced"), ("ue-send", "late"), ("ue-send", "early"), ("enb-receive", "unplanned")];
    let misplaced = misplaced.map(|(component, name)| count(&report, component, name));
    assert_eq!(misplaced[..3], [0; 3]);
    // The first subframes, for which nothing could be planned.
    assert!(misplaced[3] <= 12, "{misplaced:?}");
}

/// Noise that makes errors, and fading: a bit decided otherwise would show.
fn rough() -> String {
    LINK.replace("type = \"lte-air\"", "type = \"lte-air\"\nsnr_db = 14.0\nfading = \"EPA 5\"\nfrequency_hz = 300.0")
}

#[test]
fn any_number_of_workers_computes_the_same() {
    let rough = rough();
    let one = run(&rough, 1, 700);
    assert!(
        count(&one, "sink-down", "packets") > 20,
        "{:?}",
        one.components.iter().map(|one| &one.results).collect::<Vec<_>>()
    );
    let hash = one.output_hash.expect("requested");
    for workers in 2..=4 {
        let other = run(&rough, workers, 700);
        assert_eq!(other.output_hash.as_ref(), Some(&hash), "{workers} workers");
    }
    let seed = rough.replace("seed = 2", "seed = 3");
    assert_ne!(run(&seed, 1, 700).output_hash, Some(hash), "other noise, other packets");
}

/// The mapper's plan, which keeps together what no legal plan can part.
fn mapped(graph: &Graph, cores: u32) -> Plan {
    let cpus: Vec<u32> = (0..cores).collect();
    let platform = Platform::host("core", ClassSpec::default(), &cpus).expect("a platform");
    let cost = |name: &str| if name.ends_with("receive") { 150_000 } else { 30_000 };
    let costs = graph.components().iter().fold(Costs::of("core", None), |costs, component| {
        costs.with(&component.name, Cost::exactly(cost(&component.name)))
    });
    let objective = Objective { latency: Latency::Compact, effort: Effort::Search, ..Objective::default() };
    map(graph, &costs, &platform, &objective).expect("it fits").plan
}

#[test]
fn the_mapper_places_the_link_on_one_two_and_four_cores() {
    let registry = registry();
    let graph = graph(&registry, LINK);
    let hashes = [1, 2, 4].map(|cores| {
        let options = SessionOptions { slots: Some(500), ..SessionOptions::default() };
        let session = Session::open(&graph, &mapped(&graph, cores), &registry, options).expect("opened");
        let report = session.run(&Stop::new()).expect("started");
        (report.misses, report.output_hash.expect("requested"))
    });
    assert_eq!([&hashes[1], &hashes[2]], [&hashes[0]; 2]);
}

/// Passes bytes on, and keeps its worker busy in a few slots.
struct Busy;

impl Component for Busy {
    fn tick(&mut self, io: &mut Io<'_>) {
        if (600..603).contains(&io.slot) {
            io.occupy(Duration::from_micros(2500));
        }
    }
}

takt_runtime::inventory::submit! {
    Registration {
        kind: || Kind::new("busy", "Is late in a few slots.").param(
            ParamSpec::new("unused", Domain::Bool, "Nothing.").default(false),
        ),
        shape: |_| Ok(Shape::new().in_out("in", "out", Item::Byte)),
        make: |_| Ok(Box::new(Busy)),
    }
}

#[test]
fn misses_name_their_culprit_and_the_link_stays_up() {
    let late = LINK.replace(
        "from = \"ue-receive\"\nto = \"ue-stack.heard\"",
        "from = \"ue-receive\"\nto = \"busy\"\n\n[[link]]\nfrom = \"busy\"\nto = \"ue-stack.heard\"",
    );
    let late = format!("{late}\n[component.busy]\ntype = \"busy\"\n");
    let report = session(&late, 1, 1500).simulate();
    assert!(report.misses > 0);
    for miss in &report.miss_list {
        let Culprit::Component { component, .. } = &miss.culprit else { panic!("{:?}", miss.culprit) };
        assert_eq!(component, "busy");
    }
    assert_eq!(count(&report, "ue-stack", "links_lost"), 0);
    for sink in ["sink-down", "sink-up"] {
        assert_eq!(["repeated", "wrong"].map(|name| count(&report, sink, name)), [0; 2], "{sink}");
        // A sink that missed a slot has no packet of it.
        assert!(count(&report, sink, "packets") > 200 && count(&report, sink, "missing") < 10, "{sink}");
    }
}
