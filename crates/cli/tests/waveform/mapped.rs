//! A waveform mapped onto two cores, on the virtual clock: who made whom late, to the slot.

use takt_graph::{Graph, Latency, Waveform};
use takt_mapper::{ClassSpec, Cost, Costs, Objective, Platform, map};
use takt_runtime::{Culprit, Registry, Report, Session, SessionOptions};

use crate::program::chain_text;

/// Times by which the mapper places: the channel alone, all else on the other core.
const COSTS: [(&str, u64); 6] = [
    ("source", 50_000),
    ("modulator", 50_000),
    ("stall", 20_000),
    ("channel", 300_000),
    ("demodulator", 50_000),
    ("sink", 50_000),
];

/// The waveform on two cores; `stall_us`: how long the component of that name keeps its worker busy in slot 7.
fn mapped(stall_us: u32) -> (Graph, Report, Vec<usize>) {
    takt_phy::link();
    let registry = Registry::of_program().expect("names are unique");
    let components = [
        ("source", "bit-source", ""),
        ("modulator", "bpsk-modulate", ""),
        ("stall", "stall", &format!("slot = 7\ntime_us = {stall_us}")),
        ("channel", "awgn", ""),
        ("demodulator", "bpsk-demodulate", ""),
        ("sink", "bit-sink-compare", ""),
    ];
    let waveform = Waveform::parse("mapped.toml", &chain_text("mapped", "1 ms", &components)).expect("a waveform");
    let graph = Graph::check(&waveform, &registry).expect("it can run");
    let costs = COSTS.iter().fold(Costs::of("any", None), |costs, (name, ns)| costs.with(name, Cost::exactly(*ns)));
    let platform = Platform::host("any", ClassSpec::default(), &[0, 1]).expect("two cores");
    let objective = Objective { latency: Latency::Compact, ..Objective::default() };
    let mapping = map(&graph, &costs, &platform, &objective).expect("it fits");
    let workers = (0..COSTS.len()).map(|component| mapping.plan.worker_of(component)).collect();
    let options = SessionOptions { slots: Some(20), ..SessionOptions::default() };
    let session = Session::open(&graph, &mapping.plan, &registry, options).expect("opens");
    (graph, session.simulate(), workers)
}

#[test]
fn a_stall_in_a_mapped_waveform_is_reported_with_component_worker_and_slot_and_harms_its_own_worker_alone() {
    let (_, calm, _) = mapped(0);
    assert_eq!(calm.misses, 0);
    let (graph, report, workers) = mapped(2500);
    let (stall, channel) = (graph.find("stall").expect("there"), graph.find("channel").expect("there"));
    assert_ne!(workers[stall], workers[channel], "the mapper gave the channel a core of its own");
    assert!(report.misses > 0);
    for miss in &report.miss_list {
        assert_eq!(miss.worker, workers[stall], "{miss:?}");
        let Culprit::Component { component, slot, .. } = &miss.culprit else { panic!("{miss:?}") };
        // Its logical slot 7; it is at the front of the pipeline.
        assert_eq!((component.as_str(), *slot), ("stall", 7), "{miss:?}");
    }
    let channel = &report.components[channel];
    assert_eq!(
        (channel.missed, channel.late, channel.executions),
        (0, 0, 20),
        "another worker's slots are not touched"
    );
    assert!(channel.missing_packets > 0);
    // Late in its slot; the next one was over when it was done, and is skipped; then it is back on the beat.
    let stall = &report.components[stall];
    assert_eq!((stall.late, stall.missed, stall.executions), (1, 1, 19));
}
