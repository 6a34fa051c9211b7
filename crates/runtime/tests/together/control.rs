//! Variables, messages and changes of plan reach a running waveform at slot edges, and lose nothing.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use takt_base::Stop;
use takt_graph::{Graph, Item, Kind, Latency, Length, Plan, Shape};
use takt_runtime::soft::Policy;
use takt_runtime::{
    Component, ControlError, Io, LogOptions, Message, Registration, Report, Running, Scalar, Session, SessionOptions,
};

use crate::common::steps::Steps;
use crate::common::{
    self, assign, check, cook, of, open, open_in_bursts, recipes, registry, registry_with, run, spec, waveform,
};

fn chain() -> Graph {
    check(&waveform().with(spec("a", "source")).with(spec("p", "add")).with(spec("z", "sink")).chain(["a", "p", "z"]))
}

/// Another waveform, with the same sink.
fn other() -> Graph {
    check(&waveform().with(spec("b", "source")).with(spec("z", "sink")).chain(["b", "z"]))
}

fn paused(graph: &Graph, worker_of: &[usize], latency: Latency, slots: u64) -> Running {
    open(graph, &assign(graph, worker_of, latency), slots).start_paused(&Stop::new()).expect("starts")
}

/// The hash when the term becomes 9 before logical slot 500, on these workers.
fn hash_with_a_setting(worker_of: [usize; 3], by_message: bool) -> Option<String> {
    let mut running = paused(&chain(), &worker_of, Latency::Compact, 1000);
    if by_message {
        running.send("p", Message { tag: 1, words: [9; 7] }, 500).expect("room");
    } else {
        running.set(&registry(), "p", "term", &9.into(), 500).expect("room");
    }
    running.go();
    running.join().output_hash
}

#[test]
fn a_variable_holds_from_its_logical_slot_in_every_plan() {
    let reference = hash_with_a_setting([0, 0, 0], false);
    assert_ne!(reference, run(&chain(), &assign(&chain(), &[0, 0, 0], Latency::Compact), 1000).output_hash);
    for worker_of in [[0, 1, 2], [1, 0, 1], [0, 0, 1]] {
        assert_eq!(hash_with_a_setting(worker_of, false), reference);
        assert_eq!(hash_with_a_setting(worker_of, true), reference, "a message does the same");
    }
}

#[test]
fn a_variable_is_read_at_an_edge() {
    let graph = chain();
    let (plan, stop) = (assign(&graph, &[0, 0, 0], Latency::Fixed), Stop::new());
    let mut running = open_in_bursts(&graph, &plan, None, 1).start(&stop).expect("starts");
    running.ask(&registry(), "p", "term").expect("room");
    let reading = takt_testing::wait_for("a reading", || running.readings().pop());
    stop.request();
    assert_eq!(reading, ("p".to_owned(), 0, Some(Scalar::Int(1))));
    assert_eq!(running.join().misses, 0);
}

#[test]
fn a_snapshot_of_a_running_waveform_agrees_with_its_report() {
    let after = other();
    let mut running = paused(&chain(), &[0, 1, 0], Latency::Compact, 1000);
    let before = running.stats();
    assert!(before.snapshot().components.iter().all(|c| (c.executions, c.p50_ns, c.max_ns) == (0, None, None)));
    running.change_waveform(&after, &assign(&after, &[1, 0], Latency::Compact), &registry(), 400).expect("room");
    let now = running.stats();
    assert!(now.snapshot().components.iter().map(|c| c.name.as_str()).eq(["b", "z"]), "{now:?}");
    running.go();
    // Counts only grow, and are there while it runs.
    let mut last = 0;
    while last < 1000 {
        let read = now.snapshot().components[1].executions;
        assert!(read >= last);
        last = read;
        std::thread::yield_now();
    }
    let report = running.join();
    for read in before.snapshot().components.iter().chain(&now.snapshot().components) {
        let reported = of(&report, &read.name);
        let counts = (reported.executions, reported.missed, reported.late, reported.faults);
        assert_eq!((read.executions, read.missed, read.late, read.faults), counts);
        let execution = reported.execution.expect("ran");
        assert!(read.max_ns >= Some(execution.max_ns - execution.max_ns / 100), "{read:?} {reported:?}");
        let p99_ns = execution.p99_ns.expect("short");
        assert!(read.p99_ns.expect("ran") as f64 >= p99_ns as f64 * 0.9, "{read:?} {reported:?}");
    }
}

#[test]
fn a_setting_follows_its_component_to_another_worker() {
    let (graph, reference) = (chain(), hash_with_a_setting([0, 0, 0], false));
    // The change comes before the setting's slot, at it, and behind it; the setting is sent before the change and after.
    for change_at in [100, 500, 700] {
        for set_first in [true, false] {
            let mut running = paused(&graph, &[0, 1, 1], Latency::Compact, 1000);
            let set = |running: &mut Running| running.set(&registry(), "p", "term", &9.into(), 500);
            if set_first {
                set(&mut running).expect("room");
            }
            running.change_plan(&assign(&graph, &[1, 0, 1], Latency::Compact), change_at).expect("room");
            // Sent to the worker that will have the component.
            if !set_first {
                set(&mut running).expect("room");
            }
            running.go();
            let report = running.join();
            assert_eq!(report.misses, 0);
            if set_first || change_at <= 500 {
                assert_eq!(report.output_hash, reference, "change at {change_at}");
            }
        }
    }
}

/// From a -> p -> z to a -> q -> p -> z, with y on a.
fn another_waveform(first: [usize; 3], second: [usize; 5], latency: Latency, at: u64) -> Report {
    let after = waveform()
        .with(spec("q", "add").param("term", 5))
        .with(spec("a", "source"))
        .with(spec("p", "add"))
        .with(spec("z", "sink"))
        .with(spec("y", "watch"));
    let (before, after) = (chain(), check(&after.chain(["a", "q", "p", "z"]).link("a", "y")));
    let mut running = paused(&before, &first, latency, 1000);
    running.change_waveform(&after, &assign(&after, &second, latency), &registry(), at).expect("room");
    running.go();
    running.join()
}

#[test]
fn another_waveform_takes_over_at_one_logical_slot_in_every_plan() {
    let reference = another_waveform([0, 0, 0], [0; 5], Latency::Compact, 500);
    let done = |report: &Report| -> Vec<(String, u64)> {
        report.components.iter().map(|c| (c.name.clone(), c.executions)).collect()
    };
    let expected = [("a", 1000), ("p", 1000), ("z", 1000), ("q", 500), ("y", 500)];
    assert_eq!(done(&reference), expected.map(|(name, n)| (name.to_owned(), n)));
    assert_eq!((reference.misses, reference.slots), (0, 1000));
    assert_ne!(reference.output_hash, another_waveform([0, 0, 0], [0; 5], Latency::Compact, 499).output_hash);
    for (first, second) in [([0, 1, 2], [2, 0, 1, 0, 1]), ([0, 1, 0], [0, 0, 1, 1, 1]), ([1, 0, 1], [1, 0, 0, 1, 0])] {
        for latency in [Latency::Fixed, Latency::Compact] {
            let report = another_waveform(first, second, latency, 500);
            assert_eq!((&report.output_hash, done(&report)), (&reference.output_hash, done(&reference)));
            assert!(report.components.iter().all(|c| c.missing_packets == 0 && c.dropped_packets == 0));
        }
    }
}

#[test]
fn a_waveform_that_changes_in_the_middle_of_bursts_misses_no_packet() {
    let before = chain();
    let specs = [spec("a", "source"), spec("p", "add"), spec("z", "sink")];
    let after = check(&common::chain(waveform(), specs).with(spec("y", "watch")).link("a", "y"));
    for (worker_of, latency) in [([0, 0, 0], Latency::Compact), ([0, 1, 2], Latency::Fixed)] {
        let stop = Stop::new();
        let session = open_in_bursts(&before, &assign(&before, &worker_of, latency), None, 64);
        let mut running = session.start(&stop).expect("starts");
        let executions = |running: &Running, index: usize| running.snapshot().components[index].executions;
        while executions(&running, 0) < 100 {
            std::thread::yield_now();
        }
        let plan = assign(&after, &[worker_of[0], worker_of[1], worker_of[2], worker_of[0]], latency);
        running.change_waveform(&after, &plan, &registry(), 0).expect("room");
        while executions(&running, 3) < 100 {
            std::thread::yield_now();
        }
        stop.request();
        let report = running.join();
        assert_eq!(report.misses, 0);
        assert!(report.components.iter().all(|c| c.missing_packets == 0 && c.dropped_packets == 0), "{report:#?}");
    }
}

#[test]
fn what_another_waveform_leaves_behind_is_in_the_report() {
    let after = other();
    let mut running = paused(&chain(), &[0, 1, 0], Latency::Fixed, 100);
    let plan = assign(&after, &[1, 0], Latency::Fixed);
    running.change_waveform(&after, &plan, &registry(), 40).expect("room");
    assert!(matches!(running.send("p", Message::default(), 0), Err(ControlError::Component { .. })), "it is gone");
    running.go();
    let report = running.join();
    let executed = |name: &str| (of(&report, name).executions, of(&report, name).worker);
    assert_eq!((executed("a"), executed("p")), ((40, None), (40, None)), "all that was begun was finished");
    assert_eq!((executed("b"), executed("z")), ((60, Some(1)), (100, Some(0))));
    let mut slow = waveform().with(spec("b", "source"));
    slow.slot_ns = 2_000_000;
    let (slow, mut running) = (check(&slow), paused(&after, &[1, 0], Latency::Fixed, 10));
    let refused = running.change_waveform(&slow, &assign(&slow, &[0], Latency::Fixed), &registry(), 5);
    assert!(matches!(refused, Err(ControlError::Slot { slot_ns: 2_000_000, runs_ns: 1_000_000 })));
    assert_eq!(running.join().slots, 10);
}

#[test] // components that only the first one brings were stood for by nothing in the second, and two workers could wait for ever
fn of_two_changes_the_earlier_one_goes_first_whatever_their_slots() {
    let after = other();
    let changed = |plan_at: Option<u64>| {
        let mut running = paused(&chain(), &[0, 1, 0], Latency::Compact, 1000);
        running.change_waveform(&after, &assign(&after, &[1, 0], Latency::Compact), &registry(), 100).expect("room");
        if let Some(at) = plan_at {
            running.change_plan(&assign(&after, &[0, 1], Latency::Compact), at).expect("room");
        }
        running.go();
        running.join()
    };
    let (reference, report) = (changed(None), changed(Some(50)));
    assert_eq!((of(&report, "b").executions, &report.output_hash), (900, &reference.output_hash));
}

/// A chain on two workers, under a clock that keeps no time, of which all have come to slot 10 and go no further. No slot is
/// missed, and what the plan had begun by then is not finished.
fn ends_in_slot_10(steps: impl FnOnce(usize) -> Steps, change: impl FnOnce(&mut Running)) -> Report {
    let workers = takt_host::affinity::own_cpus().len().min(2);
    let plan = assign(&chain(), &[0, workers - 1, 0], Latency::Fixed);
    let options = SessionOptions { slots: Some(100), clock: steps(workers).clock(), ..SessionOptions::default() };
    let session = Session::open(&chain(), &plan, &registry(), options).expect("opens");
    let mut running = session.start_paused(&Stop::new()).expect("starts");
    change(&mut running);
    running.go();
    let report = running.join();
    assert_eq!(report.misses, 0, "{report:#?}");
    for (index, name) in ["a", "p", "z"].into_iter().enumerate() {
        assert_eq!(of(&report, name).executions, 10 - u64::from(plan.depth(index)), "{name}");
    }
    report
}

#[test] // slots that another node had taken over by then were executed
fn once_its_time_is_over_a_change_executes_nothing_any_more() {
    let (after, over) = (other(), |workers| Steps::of(workers).over_before(10));
    let plan = assign(&after, &[0, 0], Latency::Compact);
    let report = ends_in_slot_10(over, |running| {
        running.change_waveform(&after, &plan, &registry(), 20).expect("room");
    });
    assert_eq!(of(&report, "b").executions, 0);
}

#[test]
fn nor_do_workers_whose_time_is_over_in_the_middle_of_a_change() {
    let plan = assign(&chain(), &[0, 0, 0], Latency::Compact);
    let over = |workers| Steps::of(workers).over_in_changes();
    ends_in_slot_10(over, |running| running.change_plan(&plan, 10).expect("room"));
}

static HELD: AtomicUsize = AtomicUsize::new(0);

/// Counts how many of its kind there are.
struct Held;

impl Component for Held {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test] // all that earlier waveforms had took memory until the end
fn what_a_waveform_leaves_behind_is_given_back_while_the_run_goes_on() {
    let registry = registry_with(Registration {
        kind: || Kind::new("held", "Is counted."),
        shape: |_| Ok(Shape::new().output("out", Item::Byte, Length::Fixed(16))),
        make: |_| {
            HELD.fetch_add(1, Ordering::Relaxed);
            Ok(Box::new(Held))
        },
    });
    let with = |name: &str| {
        let made = waveform().with(spec(name, "held")).with(spec("z", "sink")).chain([name, "z"]);
        Graph::check(&made, &registry).expect("legal")
    };
    let graphs = ["a", "b"].map(with);
    let plan = |graph: &Graph| assign(graph, &[0, 0], Latency::Compact);
    let session = Session::open(&graphs[0], &plan(&graphs[0]), &registry, SessionOptions::default()).expect("opens");
    let stop = Stop::new();
    let mut running = session.start(&stop).expect("starts");
    let has_begun = |running: &Running| running.stats().snapshot().components[0].executions > 0;
    takt_testing::wait_for("its first slot", || has_begun(&running).then_some(()));
    for change in 1..=20 {
        let graph = &graphs[change % 2];
        running.change_waveform(graph, &plan(graph), &registry, 0).expect("room");
        takt_testing::wait_for("the change", || has_begun(&running).then_some(()));
        takt_testing::wait_for("its memory", || {
            running.clear_away();
            (HELD.load(Ordering::Relaxed) == 1).then_some(())
        });
    }
    stop.request();
    let report = running.join();
    let left = report.components.iter().filter(|c| c.worker.is_none());
    assert_eq!((left.filter(|c| c.executions > 0).count(), report.components.len()), (20, 22), "each with its counts");
}

#[test]
fn a_run_has_so_many_components_and_no_more() {
    let many = |prefix: &str| {
        let names: Vec<String> = (0..4095).map(|n| format!("{prefix}{n}")).collect();
        let made = names.iter().fold(waveform(), |made, name| made.with(spec(name, "source")));
        check(&made)
    };
    let all = |graph: &Graph| assign(graph, &vec![0; graph.components().len()], Latency::Compact);
    let mut running = paused(&chain(), &[0, 0, 0], Latency::Compact, 1);
    let mut change = |prefix: &str| {
        let graph = many(prefix);
        running.change_waveform(&graph, &all(&graph), &registry(), 0)
    };
    assert_eq!(change("b"), Ok(()));
    assert_eq!(change("c"), Err(ControlError::Components { known: 3 + 2 * 4095 }));
}

/// Changes while the run goes on, at slots that may have passed, until it has ended: none is lost half way, and none waits
/// for a worker that has ended.
#[test]
fn changes_may_come_too_late_for_their_slot_and_up_to_the_very_end() {
    let graph = chain();
    let slots = if cfg!(miri) { 100 } else { 5_000 };
    let reference = run(&graph, &assign(&graph, &[0, 0, 0], Latency::Compact), slots).output_hash;
    for round in 0..4 {
        let plan = assign(&graph, &[0, 1, 2], Latency::Fixed);
        let session = open_in_bursts(&graph, &plan, Some(slots), [1, 3, 16, 100][round]);
        let mut running = session.start(&Stop::new()).expect("starts");
        let mut changes = 0_usize;
        loop {
            let of = [changes % 3, (changes + round) % 3, (changes / 3) % 3];
            let latency = if changes.is_multiple_of(2) { Latency::Compact } else { Latency::Fixed };
            match running.change_plan(&assign(&graph, &of, latency), changes as u64 * 7) {
                Ok(()) => changes += 1,
                Err(ControlError::Full { .. }) => std::thread::yield_now(),
                Err(ControlError::Ended) => break,
                Err(other) => panic!("{other}"),
            }
        }
        let report = running.join();
        assert_eq!((report.misses, report.slots), (0, slots));
        assert_eq!(report.output_hash, reference, "{changes} changes");
    }
}

#[test]
fn what_is_no_variable_is_refused() {
    let graph = chain();
    let session = open(&graph, &assign(&graph, &[0, 0, 0], Latency::Fixed), 10);
    let mut running = session.start(&Stop::new()).expect("starts");
    let mut set = |component, variable, value: i64| running.set(&registry(), component, variable, &value.into(), 0);
    assert!(matches!(set("q", "term", 1), Err(ControlError::Component { .. })));
    assert!(matches!(set("a", "seed", 1), Err(ControlError::Variable { .. })), "a parameter that is no variable");
    assert!(matches!(set("p", "term", 256), Err(ControlError::Value { .. })));
    assert_eq!(running.join().misses, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn changes_of_plan_lose_and_double_nothing(
        recipe in recipes(8),
        // More workers than there may be processors wait for their turns most of the time: seldom.
        workers in prop_oneof![7 => Just(2_usize), 1 => Just(3)],
        plans in prop::collection::vec((prop::collection::vec(0..6_usize, 16), any::<bool>(), 0..12_u64), 1..4),
    ) {
        let slots = 40;
        let graph = check(&cook(&recipe));
        let reference = run(&graph, &Plan::single(&graph, Latency::Compact), slots);
        let plan = |(worker_of, fixed): (&Vec<usize>, bool)| {
            let latency = if fixed { Latency::Fixed } else { Latency::Compact };
            let worker_of: Vec<usize> = (0..graph.components().len()).map(|c| worker_of[c % 16] % workers).collect();
            Plan::assign(&graph, &worker_of, latency).unwrap_or_else(|_| Plan::single(&graph, latency))
        };
        // All threads begin with work; a plan may leave some without.
        let all: Vec<usize> = (0..graph.components().len()).map(|c| c % workers).collect();
        let first = Plan::assign(&graph, &all, Latency::Fixed);
        prop_assume!(first.is_ok());
        let mut running = open(&graph, &first.expect("assumed"), slots).start_paused(&Stop::new()).expect("starts");
        let mut at = 0;
        for (worker_of, fixed, after) in &plans {
            at += 1 + after;
            running.change_plan(&plan((worker_of, *fixed)), at).expect("room");
        }
        running.go();
        let report = running.join();
        prop_assert_eq!((report.misses, report.slots), (0, slots));
        prop_assert!(report.components.iter().all(|c| c.executions == slots), "{:#?}", report.components);
        prop_assert_eq!(report.output_hash, reference.output_hash);
    }
}

/// Two components, and a log with room for eight executions.
fn logged(worker_of: &[usize], slots: u64, policy: Policy) -> Session {
    let graph = check(&common::chain(waveform(), [spec("a", "source"), spec("z", "watch")]));
    let log = Some(LogOptions { waiting: 8, policy });
    let options = SessionOptions { slots: Some(slots), log, ..SessionOptions::default() };
    Session::open(&graph, &assign(&graph, worker_of, Latency::Compact), &registry(), options).expect("opens")
}

#[test]
fn the_log_has_every_execution_of_every_worker_in_order() {
    // Fewer places than executions: the workers wait for the reader.
    let mut running = logged(&[0, 1], 500, Policy::Hold).start(&Stop::new()).expect("starts");
    let mut log = running.log().expect("asked for");
    assert!(running.log().is_none(), "once");
    let mut slots = [Vec::new(), Vec::new()];
    loop {
        let ended = running.ended();
        log.read(|worker, event| {
            assert_eq!(event.component, worker);
            slots[worker].push(event.slot);
        });
        if ended {
            break;
        }
        std::thread::yield_now();
    }
    let report = running.join();
    assert_eq!(report.log_dropped, 0);
    assert!(slots[0].iter().copied().eq(0..500) && slots[1].iter().copied().eq(1..501), "{slots:?}");
}

#[test]
fn a_log_that_is_not_read_holds_no_worker_up() {
    for policy in [Policy::Drop, Policy::Hold] {
        let report = logged(&[0, 0], 100, policy).run(&Stop::new()).expect("starts");
        assert_eq!((report.slots, report.misses), (100, 0));
        assert!(report.log_dropped >= 200 - 8, "{}", report.log_dropped);
    }
}
