//! The slot loop allocates nothing and makes no system call but the clock's sleep, so there is no lock in it that it could
//! wait for; that it takes none at all, `tests/locks.rs` shows. Neither when all is well, nor when slots are missed,
//! variables set, or the plan changed.
//!
//! Allocations are counted by this binary's allocator, per thread; system calls by strace, which runs this binary again.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
mod common;
#[path = "../../../tests/support/strace.rs"]
mod strace;

use std::time::Duration;

use common::steps::Steps;
use common::{registry, spec};
use takt_base::Stop;
use takt_graph::{Catalogue, Item, Kind, Latency, Params, Plan, Shape, Value, Waveform};
use takt_runtime::{Component, Io, Options, Registration, Registry, Session};

const SLOTS: u64 = 10_000;
/// In this one nothing has time, and behind it so many are missed.
const SHORT: u64 = 5000;
const MISSED: u64 = 3;

/// Counts what its worker's thread allocates and releases between its second slot and its last.
struct Witness {
    first: Option<u64>,
    last: u64,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        self.last = allocations::count();
        if io.slot >= 1 {
            self.first.get_or_insert(self.last);
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("allocations", ((self.last - self.first.unwrap_or(0)) as i64).into())]
    }
}

fn registry_with_witness() -> Registry {
    let mut registry = registry();
    let registration = Registration {
        kind: || Kind::new("witness", "Counts allocations."),
        shape: |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        make: |_| Ok(Box::new(Witness { first: None, last: 0 })),
    };
    registry.add(registration).expect("a name of its own");
    registry
}

#[test]
fn ten_thousand_slots_allocate_nothing() {
    let registry = registry_with_witness();
    let witness = registry.kind("witness").expect("added");
    assert!(registry.shape(witness, &Params::new()).is_ok());
    let stall = spec("p", "stall").param("slot", 4000).param("us", 900);
    let waveform = Waveform::new("quiet", Duration::from_micros(250))
        .with(spec("a", "source").param("items", 1000))
        .with(stall)
        .with(spec("q", "add"))
        .with(spec("w0", "witness"))
        .with(spec("w1", "witness"))
        .with(spec("z", "sink"))
        .with(spec("y", "sink"))
        .chain(["a", "p", "q", "w0", "w1", "z"])
        .link("a", "y");
    let graph = takt_graph::Graph::check(&waveform, &registry).unwrap_or_else(|error| panic!("{error}"));
    let two = takt_host::affinity::own_cpus().len() >= 2;
    let other = usize::from(two);
    let plan = |of: [usize; 7]| Plan::assign(&graph, &of, Latency::Compact).expect("legal");
    // Each witness stays on its worker: the count is its thread's.
    let (first, second) = (plan([0, 0, 0, 0, other, other, other]), plan([0, other, other, 0, other, 0, 0]));
    let clock = Steps::of(1 + other).short(SHORT).late_behind(SHORT, MISSED).clock();
    let options = Options { slots: Some(SLOTS), clock, ..Options::default() };
    let mut running =
        Session::open(&graph, &first, &registry, options).expect("opened").start_paused(&Stop::new()).expect("started");
    running.change_plan(&second, 3000).expect("room");
    running.change_plan(&first, 6000).expect("room");
    running.set(&registry, "q", "term", &7.into(), 2000).expect("room");
    running.go();
    let report = running.join();
    for witness in ["w0", "w1"] {
        let component = report.components.iter().find(|c| c.name == witness).expect("there");
        assert_eq!(component.results["allocations"], 0.into(), "{witness}");
    }
    for component in &report.components {
        assert_eq!((component.missed, component.executions), (1 + MISSED, SLOTS - 1 - MISSED), "{}", component.name);
    }
    assert_eq!(report.slots, SLOTS);
}

#[test]
fn ten_thousand_slots_make_no_system_call_but_the_clocks_sleep() {
    let Some(calls) = strace::calls_of(&["takt-worker-"], &["--exact", "ten_thousand_slots_allocate_nothing"]) else {
        return;
    };
    for (worker, calls) in calls {
        let between = strace::between_sleeps(&calls);
        assert!(between.len() > 100, "{worker} slept {} times", between.len());
        let others: Vec<&String> = between.iter().filter(|call| !call.contains("clock_nanosleep")).collect();
        assert!(others.is_empty(), "{worker}: {others:?}");
    }
}
