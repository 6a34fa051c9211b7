//! Changes of plan while the 384 kb/s channel of UTRA FDD runs on the host's clock lose and double nothing.

#[path = "support/waveform.rs"]
mod waveform;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Waveform};
use takt_runtime::{ControlError, Report, Session, SessionOptions, SlotClock};
use takt_testing::not_judged;

use waveform::{registry, run};

const FILE: &str = include_str!("../../../waveforms/utran.toml");
const SLOTS: u64 = 150;

/// The waveform on its clock of 10 ms a slot, the cut between two workers somewhere else as often as can be.
fn changed() -> (Report, usize) {
    let registry = registry();
    let graph = Graph::check(&Waveform::parse("utran.toml", FILE).expect("read"), &registry).expect("checked");
    let cut = |at: usize, latency| {
        let worker_of: Vec<usize> = (0..graph.components().len()).map(|n| usize::from(n >= at)).collect();
        Plan::assign(&graph, &worker_of, latency).expect("placed")
    };
    let options = SessionOptions { slots: Some(SLOTS), clock: SlotClock::Wall, ..SessionOptions::default() };
    let session = Session::open(&graph, &cut(9, Latency::Compact), &registry, options).expect("opened");
    let mut running = session.start(&Stop::new()).expect("started");
    let mut changes = 0;
    loop {
        let latency = if changes % 3 == 0 { Latency::Fixed } else { Latency::Compact };
        match running.change_plan(&cut(1 + changes * 7 % 18, latency), 0) {
            Ok(()) => changes += 1,
            Err(ControlError::Full { .. }) => {}
            Err(ControlError::Ended) => break,
            Err(other) => panic!("{other}"),
        }
        std::thread::sleep(std::time::Duration::from_millis(3));
    }
    (running.join(), changes)
}

#[test]
fn changes_of_plan_on_the_clock_lose_and_double_nothing() {
    let reference = run(FILE, |_| 0, Latency::Compact, SLOTS).output_hash;
    // A host that keeps a worker from its core for a slot has lost that slot by itself.
    for _ in 0..3 {
        let (report, changes) = changed();
        let done: Vec<u64> =
            report.components.iter().map(|component| component.executions + component.missed).collect();
        assert_eq!(done, vec![SLOTS; done.len()], "each slot once, {changes} changes: {report:#?}");
        if report.misses == 0 {
            assert!(report.workers.iter().all(|worker| worker.changes > 10), "{changes} changes");
            assert_eq!(report.output_hash, reference, "{changes} changes");
            return;
        }
    }
    not_judged("three runs on the clock had misses: this host does not keep slots of 10 ms");
}
