//! The results do not depend on where a component runs.

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_runtime::{BrokenPacket, Culprit, Message, MissKind, OutputReport, Report};

use super::setup::{all_sorts, assign, chain, check, children, of, open, options, registry, spec, waveform};

pub(super) const TESTS: super::Tests = tests![
    what_is_computed_is_the_same_isolated_or_not_in_every_plan,
    what_is_lost_or_broken_is_counted_alike_wherever_a_component_runs,
    a_change_of_plan_loses_nothing_of_an_isolated_component,
    another_waveform_keeps_the_process_or_ends_it,
];

fn run_all_sorts(graph: &Graph, plan: &Plan, virtually: bool) -> Report {
    let session = open(graph, plan, options(200));
    if virtually {
        return session.simulate();
    }
    let mut running = session.start_paused(&Stop::new()).expect("starts");
    running.set(&registry(), "meter", "factor", &2.5.into(), 50).expect("a variable");
    running.send("meter", Message { tag: 1, words: [7; 7] }, 70).expect("room");
    running.join()
}

fn what_is_computed_is_the_same_isolated_or_not_in_every_plan() {
    let plain = all_sorts(&[]);
    let reference = run_all_sorts(&plain, &Plan::single(&plain, Latency::Compact), false);
    let virtual_reference = run_all_sorts(&plain, &Plan::single(&plain, Latency::Compact), true);
    assert!(reference.output_hash.is_some());
    let sets: [&[&str]; 5] = [
        &["average"],
        &["negate"],
        &["source", "sink"],
        &["meter", "other"],
        &["source", "average", "negate", "meter"],
    ];
    for isolated in sets {
        let graph = all_sorts(isolated);
        for (worker_of, latency) in [
            ([0; 6], Latency::Compact),
            ([0; 6], Latency::Fixed),
            ([0, 1, 0, 1, 0, 1], Latency::Compact),
            ([1, 0, 0, 1, 1, 0], Latency::Fixed),
        ] {
            let plan = assign(&graph, &worker_of, latency);
            let report = run_all_sorts(&graph, &plan, false);
            assert_eq!(report.output_hash, reference.output_hash, "{isolated:?} {worker_of:?} {latency:?}");
            for (one, other) in report.components.iter().zip(&reference.components) {
                assert_eq!((one.executions, one.missed, one.faults), (200, 0, other.faults), "{}", one.name);
                assert_eq!(one.results, other.results, "{} of {isolated:?}", one.name);
            }
        }
        let plan = assign(&graph, &[0, 1, 0, 1, 0, 1], Latency::Compact);
        assert_eq!(run_all_sorts(&graph, &plan, true).output_hash, virtual_reference.output_hash);
    }
}

/// In this process or its own.
fn what_is_lost_or_broken_is_counted_alike_wherever_a_component_runs() {
    let mut hashes = Vec::new();
    for isolated in [false, true] {
        let specs = [spec("a", "float-aerial"), spec("w", "float-whole"), spec("z", "float-sink")];
        let mut waveform = chain(waveform(), specs);
        waveform.components[..2].iter_mut().for_each(|component| component.isolated = isolated);
        let graph = check(&waveform);
        let session = open(&graph, &Plan::single(&graph, Latency::Compact), options(10));
        let report = session.run(&Stop::new()).expect("starts");

        let aerial = of(&report, "a");
        let counts = (aerial.executions, aerial.missed, aerial.lost, aerial.faults);
        assert_eq!(counts, (10, 1, 1, 0), "isolated: {isolated}");
        let first_broken = Some(BrokenPacket { slot: 3, items: 3, declared_items: 4 });
        let output = OutputReport { name: "out".into(), dropped_packets: 0, broken_packets: 2, first_broken };
        assert_eq!(aerial.outputs, [output], "isolated: {isolated}");
        let [miss] = &report.miss_list[..] else { panic!("{:?}", report.miss_list) };
        let by_radio = Culprit::Radio { component: "a".into(), slot: 7 };
        assert_eq!((miss.kind, miss.logical_slot, &miss.culprit), (MissKind::Lost, 7, &by_radio));
        let missing = ["w", "z"].map(|name| of(&report, name).missing_packets);
        assert_eq!(missing, [2; 2], "the lost ones; in place of those that broke there are empty ones");
        assert_eq!((report.misses, report.broken_packets, report.is_clean()), (1, 2, false));
        hashes.push(report.output_hash);
    }
    assert!(hashes[0].is_some() && hashes[0] == hashes[1], "{hashes:?}");
}

fn a_change_of_plan_loses_nothing_of_an_isolated_component() {
    let graph = all_sorts(&["average", "meter"]);
    let plan = |of: [usize; 6], latency| assign(&graph, &of, latency);
    let session = |plan: &Plan| open(&graph, plan, options(400)).start_paused(&Stop::new()).expect("starts");
    let reference = session(&plan([0; 6], Latency::Compact)).join();
    let mut running = session(&plan([0, 1, 0, 1, 0, 1], Latency::Fixed));
    running.change_plan(&plan([0; 6], Latency::Compact), 100).expect("room");
    running.change_plan(&plan([1, 0, 0, 1, 1, 0], Latency::Fixed), 200).expect("room");
    running.change_plan(&plan([1, 1, 0, 0, 0, 0], Latency::Compact), 300).expect("room");
    running.go();
    let report = running.join();
    assert_eq!(report.output_hash, reference.output_hash);
    assert!(report.components.iter().all(|c| c.executions == 400 && c.missed == 0), "{:?}", report.components);
}

fn another_waveform_keeps_the_process_or_ends_it() {
    let (before, after) = (all_sorts(&["meter", "average"]), all_sorts(&["meter"]));
    let plan = |graph: &Graph| assign(graph, &[0, 1, 0, 1, 0, 1], Latency::Compact);
    let mut running = open(&before, &plan(&before), options(400)).start_paused(&Stop::new()).expect("starts");
    assert_eq!(children().len(), 2);
    running.change_waveform(&after, &plan(&after), &registry(), 200).expect("room");
    assert_eq!(children().len(), 2, "none is started for a component that stays");
    running.go();
    let report = running.join();
    let executions: Vec<u64> = report.components.iter().filter(|c| c.name == "average").map(|c| c.executions).collect();
    assert_eq!(executions, [200, 200], "the isolated one, and the one in the program");
    assert_eq!(of(&report, "meter").executions, 400);
    assert_eq!(report.components.iter().map(|c| c.missed).sum::<u64>(), 0);
}
