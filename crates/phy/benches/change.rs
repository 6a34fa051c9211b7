//! Cost of a change of plan at the edge of a slot: `cargo bench -p takt-phy --bench change`.
//!
//! `waveforms/utran.toml` on two workers and the host's clock, 500 µs a slot, `SCHED_FIFO` where it may be had. Every second or
//! third slot the cut between the two workers moves, 1000 times. Beside it, in the same minute, as many slots without a change:
//! what both lose, and how late a slot is released, is the host's. A change counts from its edge until the worker has its new
//! components and all workers have executed what they were behind. Goal: no slot lost, the longest change 100 µs.
#![allow(clippy::print_stdout, reason = "a benchmark speaks")]

#[path = "../../../tests/support/bench.rs"]
mod bench;

use std::thread::sleep;
use std::time::Duration;

use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan, Waveform};
use takt_runtime::{ControlError, MissKind, Registry, Report, Session, SessionOptions, SlotClock, Wish};

const FILE: &str = include_str!("../../../waveforms/utran.toml");
const SLOT: Duration = Duration::from_micros(500);

/// The first `cut` components by one worker, the others by the next.
fn cut(graph: &Graph, cut: usize) -> Plan {
    let worker_of: Vec<usize> = (0..graph.components().len()).map(|n| usize::from(n >= cut)).collect();
    Plan::assign(graph, &worker_of, Latency::Compact).expect("placed")
}

/// So many slots for each of `changes`, with as many changes, or with none.
fn run(graph: &Graph, registry: &Registry, changes: usize, changing: bool) -> Report {
    let middle = graph.components().len() / 2;
    let options = SessionOptions {
        slots: Some(3 * changes as u64 + 10),
        clock: SlotClock::Wall,
        cores: vec![0, 1],
        fifo_priority: Some(80),
        priority: Wish::Try,
        lock_memory: Wish::Try,
        ..SessionOptions::default()
    };
    let session = Session::open(graph, &cut(graph, middle), registry, options).expect("opened");
    let mut running = session.start(&Stop::new()).expect("started");
    for change in 0..if changing { changes } else { 0 } {
        sleep(2 * SLOT);
        let plan = cut(graph, 1 + (middle + 7 * change) % (graph.components().len() - 1));
        match running.change_plan(&plan, 0) {
            Err(ControlError::Ended) => break,
            done => done.expect("room"),
        }
    }
    running.join()
}

fn print(name: &str, report: &Report) {
    let skipped = report.miss_list.iter().filter(|miss| miss.kind == MissKind::Skipped).count();
    let lateness = report.workers.iter().filter_map(|worker| worker.lateness);
    let late_us = lateness.map(|lateness| lateness.max_ns as f64 / 1e3).fold(0.0, f64::max);
    let (slots, misses) = (report.slots, report.misses);
    println!("{name}: {slots} slots, {misses} misses, {skipped} of them lost slots, latest release {late_us:.1} µs");
    for (index, worker) in report.workers.iter().enumerate() {
        let Some(change) = worker.change else { continue };
        let us = |ns: Option<u64>| ns.map_or("over a second".into(), |ns| format!("{:.1} µs", ns as f64 / 1e3));
        let [p50, p99, max] = [change.p50_ns, change.p99_ns, Some(change.max_ns)].map(us);
        println!("  worker {index}: {} changes, median {p50}, p99 {p99}, longest {max}", worker.changes);
    }
}

fn main() {
    let changes = if bench::measures() { 1000 } else { 5 };
    takt_phy::link();
    let registry = Registry::of_program().expect("one name each");
    let mut waveform = Waveform::parse("utran.toml", FILE).expect("read");
    waveform.slot_ns = SLOT.as_nanos() as u64;
    let graph = Graph::check(&waveform, &registry).expect("checked");
    for turn in 0..if bench::measures() { 3 } else { 1 } {
        println!("turn {turn}");
        print("  without changes", &run(&graph, &registry, changes, false));
        print("  with changes", &run(&graph, &registry, changes, true));
    }
}
