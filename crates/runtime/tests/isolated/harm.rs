//! A failure in a process of its own costs its slots and nothing else.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use takt_base::Stop;
use takt_graph::{Graph, Latency, MissPolicy};
use takt_runtime::{Culprit, Isolation, LogOptions, Miss, MissKind, Report, SessionOptions};
use takt_testing::wait_for;

use super::common::steps::Steps;
use super::components::release;
use super::setup::{all_sorts, assign, chain, check, children, impatient, of, open, options, registry, spec, waveform};

pub(super) const TESTS: super::Tests = tests![
    a_crash_or_an_exit_costs_the_slots_it_missed_and_nothing_else,
    a_process_that_hangs_is_ended_and_started_again,
    a_process_killed_from_outside_is_started_again_with_its_variables,
    without_restarts_all_later_slots_are_missed,
    a_crash_stops_the_waveform_where_that_is_its_policy,
    garbage_in_the_shared_memory_costs_slots_of_its_own_only,
    the_log_has_the_time_of_the_process_in_the_slot_of_the_request,
    under_a_clock_a_late_answer_is_missing_and_not_waited_for,
];

/// a -> h (isolated, does harm) -> y, and b -> n -> z beside it.
fn harmed(how: &str, policy: MissPolicy) -> Graph {
    let harm = spec("h", "harm").param("how", how).param("at", 50).isolated().on_miss(policy);
    let made = chain(waveform(), [spec("a", "float-source"), harm, spec("y", "float-sink")]);
    check(&chain(made, [spec("b", "float-source"), spec("n", "float-saxpy"), spec("z", "float-sink")]))
}

fn run_harmed(how: &str, policy: MissPolicy, options: SessionOptions) -> Report {
    let graph = harmed(how, policy);
    open(&graph, &assign(&graph, &[0; 6], Latency::Compact), options).run(&Stop::new()).expect("starts")
}

/// Runs until its component executes again after it did harm.
fn run_until_it_goes_on(how: &str, options: SessionOptions) -> Report {
    let graph = harmed(how, MissPolicy::Skip);
    let (plan, stop) = (assign(&graph, &[0; 6], Latency::Compact), Stop::new());
    let running = open(&graph, &plan, options).start(&stop).expect("starts");
    wait_for("100 executions", || (running.snapshot().components[1].executions >= 100).then_some(()));
    stop.request();
    running.join()
}

fn costs_slots_of_its_own_only(report: &Report) {
    let harmed = of(report, "h");
    for name in ["a", "y", "b", "n", "z"] {
        let other = of(report, name);
        assert_eq!((other.missed, other.faults), (0, 0), "{name}");
        assert!(other.executions >= report.slots, "{name}");
        assert!(other.missing_packets <= if name == "y" { harmed.missed } else { 0 }, "{name}");
    }
    let first = &report.miss_list[0];
    assert_eq!((first.component.as_str(), first.kind, first.logical_slot), ("h", MissKind::Unanswered, 50));
    assert!(matches!(&first.culprit, Culprit::Component { component, .. } if component == "h"), "{first:?}");
}

fn a_crash_or_an_exit_costs_the_slots_it_missed_and_nothing_else() {
    for how in ["abort", "exit"] {
        let report = run_until_it_goes_on(how, SessionOptions { slots: None, ..options(0) });
        costs_slots_of_its_own_only(&report);
        assert!(of(&report, "h").missed >= 1 && of(&report, "h").restarts == 1, "{how}");
    }
}

fn a_process_that_hangs_is_ended_and_started_again() {
    let report = run_until_it_goes_on("hang", impatient(None));
    if of(&report, "h").restarts > 1 {
        return takt_testing::not_judged("a process that did not hang was not run for three seconds either");
    }
    costs_slots_of_its_own_only(&report);
    assert!(of(&report, "h").missed >= 1 && of(&report, "h").restarts == 1);
}

fn without_restarts_all_later_slots_are_missed() {
    let isolation = Isolation { restarts: 0, ..options(1).isolation };
    let report = run_harmed("abort", MissPolicy::Skip, SessionOptions { isolation, ..options(300) });
    costs_slots_of_its_own_only(&report);
    assert_eq!(of(&report, "h").executions, 50);
    assert_eq!(of(&report, "h").missed, 250);
}

fn a_crash_stops_the_waveform_where_that_is_its_policy() {
    let report = run_harmed("abort", MissPolicy::Stop, options(100_000));
    assert!((50..100).contains(&report.slots), "{}", report.slots);
    assert_eq!(of(&report, "h").missed, 1);
}

fn garbage_in_the_shared_memory_costs_slots_of_its_own_only() {
    let report = run_harmed("garbage", MissPolicy::Skip, impatient(Some(2_000)));
    let harmed = of(&report, "h");
    assert_eq!(harmed.executions + harmed.missed, report.slots);
    // A process that is started anew between two slots, on a busy machine, has cost none of them.
    let cost = harmed.missed + harmed.faults + harmed.broken_packets;
    assert!(cost + harmed.restarts >= 1, "{harmed:?}");
    for name in ["a", "b", "n", "z"] {
        assert_eq!((of(&report, name).executions, of(&report, name).missed), (2_000, 0), "{name}");
    }
}

fn the_log_has_the_time_of_the_process_in_the_slot_of_the_request() {
    let graph = harmed("late", MissPolicy::Skip);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let log = Some(LogOptions { waiting: 4096, policy: takt_runtime::soft::Policy::Hold });
    let mut running = open(&graph, &plan, SessionOptions { log, ..options(60) }).start(&Stop::new()).expect("starts");
    let mut log = running.log().expect("asked for");
    let mut rows = Vec::new();
    while !running.ended() {
        log.read(|_, event| rows.push(event));
        std::thread::sleep(Duration::from_millis(1));
    }
    log.read(|_, event| rows.push(event));
    let report = running.join();
    assert_eq!(rows.len(), 6 * 60);
    let index = graph.find("h").expect("there");
    let mine: Vec<_> = rows.iter().filter(|row| row.component == index).collect();
    let depth = u64::from(plan.depth(index));
    assert!(mine.iter().map(|row| row.slot).eq(depth..depth + 60));
    // The request took its worker no time; the process slept in logical slot 50.
    let longest = mine.iter().max_by_key(|row| row.execution_ns).expect("some");
    assert_eq!(longest.slot, depth + 50);
    assert!(longest.execution_ns >= 50_000_000, "{longest:?}");
    assert_eq!(of(&report, "h").execution.expect("executed").max_ns, longest.execution_ns);
}

fn under_a_clock_a_late_answer_is_missing_and_not_waited_for() {
    let graph = harmed("block", MissPolicy::Skip);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let (stop, clock) = (Stop::new(), Steps::of(1).napping().clock());
    let _ = std::fs::remove_file(release(std::process::id()));
    let running =
        open(&graph, &plan, SessionOptions { clock, slots: None, ..options(0) }).start(&stop).expect("starts");
    let executions = |component: usize| running.snapshot().components[component].executions;
    // h gives no answer from slot 50 on, and all others go on.
    wait_for("slots without an answer", || (executions(5) > 1000 && executions(1) <= 50).then_some(()));
    let before = executions(1);
    wait_for("more of them", || (executions(5) > 2000).then_some(()));
    assert_eq!(executions(1), before, "none is executed meanwhile");
    std::fs::write(release(std::process::id()), "").expect("written");
    wait_for("answers again", || (executions(1) > before + 100).then_some(()));
    stop.request();
    let report = running.join();
    let _ = std::fs::remove_file(release(std::process::id()));

    let harmed = of(&report, "h");
    let late = report.miss_list.iter().find(|miss| miss.kind == MissKind::Unanswered).expect("one without an answer");
    assert!(matches!(&late.culprit, Culprit::Component { component, .. } if component == "h"), "{late:?}");
    assert!(harmed.missed > 900 && harmed.restarts == 0, "{harmed:?}");
    for name in ["a", "y", "b", "n", "z"] {
        assert_eq!(of(&report, name).missed, 0, "{name}");
    }
}

/// Killed between two slots, and started again before the next, it would miss none: it is stopped first.
fn kill_while_it_owes_an_answer(process: u32, executions: impl Fn() -> u64) {
    let id = Pid::from_raw(process as i32).expect("a process");
    kill_process(id, Signal::STOP).expect("ours");
    wait_for("no more answers", || {
        let before = executions();
        std::thread::sleep(Duration::from_millis(100));
        (executions() == before).then_some(())
    });
    kill_process(id, Signal::KILL).expect("ours");
}

fn a_process_killed_from_outside_is_started_again_with_its_variables() {
    let graph = all_sorts(&["meter"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let stop = Stop::new();
    let mut running = open(&graph, &plan, SessionOptions { slots: None, ..options(0) }).start(&stop).expect("starts");
    running.set(&registry(), "meter", "factor", &2.5.into(), 0).expect("a variable");
    let [(first, _)] = children()[..] else { panic!("one") };
    kill_while_it_owes_an_answer(first, || running.snapshot().components[3].executions);
    let again = wait_for("another process", || match children()[..] {
        [(id, _)] if id != first => Some(id),
        _ => None,
    });
    // It executes again, and still has what was set before.
    let executions = || running.snapshot().components[3].executions;
    let before = executions();
    let reached = wait_for("executions", || Some(executions()).filter(|now| *now > before + 100));
    running.ask(&registry(), "meter", "factor").expect("room");
    let reading = wait_for("a reading", || running.readings().pop()).2;
    stop.request();
    let report = running.join();
    assert!(of(&report, "meter").executions >= reached && again != first);
    assert_eq!(reading.map(takt_runtime::Scalar::as_f64), Some(2.5));
    assert_eq!(of(&report, "meter").results["factor"], 2.5.into());
    assert_eq!(of(&report, "meter").restarts, 1);
    let killed = |miss: &Miss| miss.component == "meter" && miss.kind == MissKind::Unanswered;
    assert!(report.miss_list.iter().any(killed), "{:?}", report.miss_list);
}
