//! The workers of isolated components neither allocate nor call the kernel.

use std::time::Duration;

use takt_base::Stop;
use takt_graph::{Latency, Waveform};
use takt_runtime::{Options, SlotClock};

use super::setup::{assign, check, of, open, options, registry, spec};
use super::strace;

pub(super) const TESTS: super::Tests = tests![workers_neither_allocate_nor_call_the_kernel_for_isolated_components];

/// Under a clock, with two isolated components, one of which crashes and is started again.
pub(super) fn quiet() {
    let mut made = Waveform::new("quiet", Duration::from_micros(500))
        .with(spec("a", "library-source"))
        .with(spec("m", "meter").isolated())
        .with(spec("h", "harm").param("how", "abort").param("at", 1500).isolated())
        .with(spec("w", "witness"))
        .chain(["a", "m", "h", "w"]);
    made = made.message("m", "m", 2);
    let graph = check(&made);
    let plan = assign(&graph, &[0; 4], Latency::Compact);
    let options = Options { clock: SlotClock::Wall, ..options(3_000) };
    let mut running = open(&graph, &plan, options).start_paused(&Stop::new()).expect("starts");
    running.set(&registry(), "m", "factor", &2.5.into(), 1000).expect("a variable");
    let report = running.join();
    assert_eq!(of(&report, "w").results["allocations"], 0.into());
    assert!(of(&report, "h").missed >= 1);
}

fn workers_neither_allocate_nor_call_the_kernel_for_isolated_components() {
    quiet();
    let Some(calls) = strace::calls_of(&["takt-worker-"], &["quiet"]) else { return };
    for (worker, calls) in calls {
        let between = strace::between_sleeps(&calls);
        assert!(between.len() > 100, "{worker} slept {} times", between.len());
        let others: Vec<&String> = between.iter().filter(|call| !call.contains("clock_nanosleep")).collect();
        assert!(others.is_empty(), "{worker}: {others:?}");
    }
}
