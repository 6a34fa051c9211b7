//! One hash, for every mapping of the waveform, onto any number of cores, in either mode of latency, as often as you like.

use std::collections::BTreeSet;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Waveform};
use takt_mapper::{ClassSpec, Cost, Costs, Effort, Objective, Platform, map};
use takt_runtime::{Registry, Session, SessionOptions};

use crate::waveform::registry;

const SLOTS: u64 = 50;

const BPSK: &str = include_str!("../../../../waveforms/bpsk.toml");
const REFERENCE_CHANNEL: &str = include_str!("../../../../waveforms/utran-ref.toml");

/// With noise that makes errors: a bit decided otherwise would show.
fn graph(registry: &Registry, text: &str, ebn0_db: &str) -> Graph {
    let text = text.replace("ebn0_db = 200.0", &format!("ebn0_db = {ebn0_db}"));
    Graph::check(&Waveform::parse("waveform.toml", &text).expect("read"), registry).expect("checked")
}

fn hash(graph: &Graph, plan: &Plan, registry: &Registry) -> String {
    let options = SessionOptions { slots: Some(SLOTS), ..SessionOptions::default() };
    let report = Session::open(graph, plan, registry, options).expect("opened").run(&Stop::new()).expect("started");
    assert_eq!((report.misses, report.slots), (0, SLOTS));
    report.output_hash.expect("requested")
}

/// Costs that pull the components apart in different ways.
fn costs(graph: &Graph, turn: u64) -> Costs {
    let of = |costs: Costs, (index, component): (usize, &takt_graph::Component)| {
        costs.with(&component.name, Cost::exactly(1000 + 7919 * ((index as u64 + turn) % 5)))
    };
    graph.components().iter().enumerate().fold(Costs::of("core", None), of)
}

/// Runs the graph on one to four cores, in both modes, for each effort and turn: one hash, from at least so many different plans.
fn one_hash(graph: &Graph, registry: &Registry, efforts: &[Effort], turns: &[u64], least: usize) {
    let (mut hashes, mut plans) = (BTreeSet::new(), BTreeSet::new());
    for cores in 1..=4_u32 {
        let cpus: Vec<u32> = (0..cores).collect();
        let platform = Platform::host("core", ClassSpec::default(), &cpus).expect("a platform");
        for latency in [Latency::Fixed, Latency::Compact] {
            for (&effort, &turn) in efforts.iter().flat_map(|effort| turns.iter().map(move |turn| (effort, turn))) {
                let objective = Objective { latency, effort, ..Objective::default() };
                let mapping = map(graph, &costs(graph, turn), &platform, &objective).expect("it fits");
                plans.insert(format!("{:?}", mapping.plan));
                hashes.insert(hash(graph, &mapping.plan, registry));
            }
        }
    }
    assert!(plans.len() >= least, "only {} different plans were tried", plans.len());
    assert_eq!(hashes.len(), 1, "{hashes:?}");
}

#[test]
fn every_plan_of_the_mapper_on_one_to_four_cores_in_both_modes_computes_the_same() {
    let registry = registry();
    let efforts = [Effort::Greedy, Effort::Search, Effort::default()];
    one_hash(&graph(&registry, BPSK, "3.0"), &registry, &efforts, &[0, 1, 2], 8);
}

#[test]
fn twenty_runs_on_four_workers_compute_the_same() {
    let registry = registry();
    let graph = graph(&registry, BPSK, "3.0");
    let plan = Plan::assign(&graph, &[0, 1, 2, 3, 0], Latency::Compact).expect("placed");
    let hashes: BTreeSet<String> = (0..20).map(|_| hash(&graph, &plan, &registry)).collect();
    assert_eq!(hashes.len(), 1, "{hashes:?}");
}

#[test]
fn two_transport_channels_and_their_multiplex_compute_the_same_on_every_plan() {
    let registry = registry();
    let graph = graph(&registry, REFERENCE_CHANNEL, "-1.5");
    one_hash(&graph, &registry, &[Effort::Greedy, Effort::Search], &[1], 6);
}
