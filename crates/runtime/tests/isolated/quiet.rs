//! The workers of isolated components neither allocate nor call the kernel.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use takt_base::Stop;
use takt_graph::{Latency, Waveform};
use takt_runtime::{Isolation, SessionOptions};
use takt_testing::wait_for;

use super::common::steps::Steps;
use super::setup::{assign, chain, check, children, of, open, options, registry, spec};
use super::strace;

pub(super) const TESTS: super::Tests = tests![workers_neither_allocate_nor_call_the_kernel_for_isolated_components];

/// Executions of the isolated component that is killed, before and after.
const EXECUTIONS: u64 = 300;

/// With two isolated components, one of which is killed and started again.
pub(super) fn quiet() {
    let (meter, harm) = (spec("m", "meter").isolated(), spec("h", "harm").isolated());
    let made = Waveform::new("quiet", Duration::from_micros(500));
    let made = chain(made, [spec("a", "float-source"), meter, harm, spec("w", "witness")]);
    let graph = check(&made.message("m", "m", 2));
    let plan = assign(&graph, &[0; 4], Latency::Compact);
    let (stop, clock) = (Stop::new(), Steps::of(1).napping().clock());
    let isolation = Isolation { restarts: 1, ..options(0).isolation };
    let options = SessionOptions { clock, slots: None, isolation, ..options(0) };
    let mut running = open(&graph, &plan, options).start_paused(&stop).expect("starts");
    running.set(&registry(), "m", "factor", &2.5.into(), 100).expect("a variable");
    running.go();
    let executions = || running.snapshot().components[2].executions;
    wait_for("executions", || (executions() > EXECUTIONS).then_some(()));
    let (first, _) = children().into_iter().find(|(_, name)| name == "h").expect("it has a process");
    kill_process(Pid::from_raw(first as i32).expect("a process"), Signal::KILL).expect("ours");
    wait_for("another process", || children().into_iter().find(|(id, name)| name == "h" && *id != first));
    let before = executions();
    wait_for("executions again", || (executions() > before + EXECUTIONS).then_some(()));
    stop.request();
    let report = running.join();
    assert_eq!(of(&report, "w").results["allocations"], 0.into());
    assert!(of(&report, "w").executions > 2 * EXECUTIONS);
    assert!(of(&report, "h").missed >= 1 && of(&report, "h").restarts == 1);
}

fn workers_neither_allocate_nor_call_the_kernel_for_isolated_components() {
    quiet();
    let Some(calls) = strace::calls_of(&["takt-worker-"], &["quiet"]) else { return };
    for (worker, calls) in calls {
        let between = strace::between_sleeps(&calls);
        assert!(between.len() as u64 > 2 * EXECUTIONS, "{worker} slept {} times", between.len());
        let others: Vec<&String> = between.iter().filter(|call| !call.contains("clock_nanosleep")).collect();
        assert!(others.is_empty(), "{worker}: {others:?}");
    }
}
