//! The results of a waveform depend on the waveform: not on workers, placement, order, latency mode or load.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use proptest::prelude::*;
use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Waveform};
use takt_runtime::component;

use crate::common::{assign, chain, check, cook, open, open_in_bursts, recipes, run, spec, waveform};

/// Workers beyond the processors there are wait for their turns most of the time: more than two in one case of so many.
const MORE_THAN_TWO: u64 = 8;

/// Any order on any workers that the graph's cycles allow; components of cycles that forbid it stay together.
fn random_plan(graph: &Graph, workers: usize, seed: u64, latency: Latency) -> Plan {
    let mut state = seed | 1;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let count = graph.components().len();
    let mut components: Vec<usize> = (0..count).collect();
    for n in (1..count).rev() {
        components.swap(n, next() % (n + 1));
    }
    let mut order = vec![Vec::new(); workers];
    for c in components {
        order[next() % workers].push(c);
    }
    let worker_of: Vec<usize> = (0..count).map(|_| next() % workers).collect();
    Plan::new(graph, order, latency)
        .or_else(|_| Plan::assign(graph, &worker_of, latency))
        .unwrap_or_else(|_| Plan::single(graph, latency))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 96 }))]

    #[test]
    fn the_output_hash_is_one_value_for_all_plans(recipe in recipes(9), seed in any::<u64>()) {
        let slots = 23;
        let graph = check(&cook(&recipe));
        let reference = run(&graph, &Plan::single(&graph, Latency::Compact), slots);
        prop_assert!(reference.output_hash.is_some());
        let most = if seed.is_multiple_of(MORE_THAN_TWO) { 4 } else { 2 };
        for workers in 1..=most {
            for latency in [Latency::Fixed, Latency::Compact] {
                let plan = random_plan(&graph, workers, seed ^ workers as u64, latency);
                let report = run(&graph, &plan, slots);
                prop_assert_eq!(&report.output_hash, &reference.output_hash, "{:?}", plan);
                prop_assert_eq!((report.misses, report.slots), (0, slots));
                prop_assert!(report.components.iter().all(|c| c.executions == slots && c.dropped_packets == 0));
            }
        }
    }

    #[test]
    fn bursts_compute_the_same(recipe in recipes(9), seed in any::<u64>(), burst in 2..40_u64) {
        let slots = 100;
        let graph = check(&cook(&recipe));
        let reference = run(&graph, &Plan::single(&graph, Latency::Compact), slots);
        for (workers, latency) in [(1, Latency::Compact), (1, Latency::Fixed), (3, Latency::Compact), (4, Latency::Fixed)] {
            let workers = if seed.is_multiple_of(MORE_THAN_TWO) { workers } else { workers.min(2) };
            let plan = random_plan(&graph, workers, seed, latency);
            let report = open_in_bursts(&graph, &plan, Some(slots), burst).run(&Stop::new()).expect("starts");
            prop_assert_eq!(&report.output_hash, &reference.output_hash, "{:?}", plan);
            prop_assert_eq!((report.misses, report.slots), (0, slots));
            prop_assert!(report.components.iter().all(|c| c.executions == slots && c.dropped_packets == 0));
            let ends = slots + u64::from(plan.latency_slots());
            prop_assert!(report.workers.iter().all(|w| (w.slots, w.busy_histogram.len()) == (ends, ends)));
        }
    }

    #[test]
    fn a_virtual_clock_computes_the_same(recipe in recipes(9), seed in any::<u64>()) {
        let graph = check(&cook(&recipe));
        let reference = run(&graph, &Plan::single(&graph, Latency::Compact), 23);
        let report = open(&graph, &random_plan(&graph, 3, seed, Latency::Compact), 23).simulate();
        prop_assert_eq!(report.output_hash, reference.output_hash);
        prop_assert_eq!(report.misses, 0);
    }
}

#[test]
fn other_data_have_another_hash() {
    let of = |seed: i64, items: u32| {
        let source = spec("a", "source").param("seed", seed).param("items", items);
        let graph = check(&waveform().with(source).with(spec("z", "sink")).chain(["a", "z"]));
        run(&graph, &Plan::single(&graph, Latency::Fixed), 10).output_hash
    };
    assert_eq!(of(1, 16), of(1, 16));
    assert_ne!(of(1, 16), of(2, 16));
    assert_ne!(of(1, 16), of(1, 17));
}

#[test]
fn a_delayed_link_is_empty_first_in_every_plan() {
    let made = waveform().with(spec("a", "source")).with(spec("z", "watch")).delayed("a", "z", 3);
    let graph = check(&made);
    for worker_of in [[0, 0], [0, 1]] {
        let report = run(&graph, &assign(&graph, &worker_of, Latency::Compact), 10);
        let results = &report.components[1].results;
        assert_eq!((&results["packets"], &results["empty"], &results["missing"]), (&10.into(), &3.into(), &0.into()));
    }
}

/// A consumer that is far ahead ends first; its producer still has slots to make.
#[test]
fn a_producer_ends_though_its_consumer_ended_long_before() {
    let mut made = waveform().with(spec("c0", "source")).with(spec("z", "watch"));
    for n in 1..6 {
        made = made.with(spec(&format!("c{n}"), "add")).link(&format!("c{}", n - 1), &format!("c{n}"));
    }
    let graph = check(&made.delayed("c5", "z", 6));
    let plan = assign(&graph, &[0, 1, 0, 1, 0, 1, 0], Latency::Fixed);
    let (c5, z) = (graph.find("c5").expect("there"), graph.find("z").expect("there"));
    assert_eq!((plan.depth(c5), plan.depth(z)), (5, 0), "the ring is much shorter than the delay");
    assert!(run(&graph, &plan, 20).components.iter().all(|c| c.executions == 20));
}

#[test]
fn a_packet_changed_in_place_is_left_alone_for_all_others() {
    let sum = |with_add: bool| {
        let mut made = waveform().with(spec("a", "source")).with(spec("z", "sink")).link("a", "z");
        if with_add {
            made = made.with(spec("p", "add")).with(spec("q", "watch")).chain(["a", "p", "q"]);
        }
        let graph = check(&made);
        let report = run(&graph, &Plan::single(&graph, Latency::Compact), 50);
        report.components[1].histogram.len()
    };
    assert_eq!(sum(true), sum(false));
    let specs = [spec("a", "source"), spec("p", "add"), spec("q", "add").param("term", 255), spec("y", "sink")];
    let graph = check(&chain(waveform(), specs).with(spec("z", "sink")).link("a", "z"));
    let straight = chain(waveform(), [spec("a", "source"), spec("y", "sink")]);
    let straight = check(&straight.with(spec("z", "sink")).link("a", "z"));
    let hash = |graph: &Graph| run(graph, &Plan::single(graph, Latency::Compact), 50).output_hash;
    assert_eq!(hash(&graph), hash(&straight), "plus 1 and plus 255 is nothing, and the other listener sees neither");
}

/// Slots and addresses of the packets that `noted` wrote.
static NOTES: Mutex<Vec<(u64, usize)>> = Mutex::new(Vec::new());

/// Passes on what comes, and notes where it wrote it.
#[component]
fn noted(slot: u64, input: In<u8>, mut output: Out<u8>) {
    output.copy_from_slice(&input);
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).push((slot, output.as_ptr().addr()));
}

/// Memory that a component has read is written by the next but one, while it is still in the cache.
#[test]
fn a_long_chain_touches_few_buffers_in_a_slot() {
    const NAMES: [&str; 12] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "d0", "d1"];
    let ends = [spec("a", "source").param("items", 16_000), spec("z", "sink")];
    let made = NAMES
        .iter()
        .fold(ends.into_iter().fold(waveform(), Waveform::with), |made, name| made.with(spec(name, "noted")));
    let names = ["a"].into_iter().chain(NAMES).chain(["z"]);
    let graph = check(&made.chain(names));
    let plan = Plan::single(&graph, Latency::Compact);
    let reference = run(&graph, &plan, 40);
    NOTES.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let report = open_in_bursts(&graph, &plan, Some(40), 16).run(&Stop::new()).expect("starts");
    assert_eq!((report.output_hash, report.misses), (reference.output_hash, 0));
    let notes = NOTES.lock().unwrap_or_else(PoisonError::into_inner);
    for slot in 0..40 {
        let written: Vec<usize> = notes.iter().filter(|note| note.0 == slot).map(|note| note.1).collect();
        let buffers: BTreeSet<usize> = written.iter().copied().collect();
        assert!(written.len() == NAMES.len() && buffers.len() <= 3, "slot {slot}: {buffers:x?}");
    }
}
