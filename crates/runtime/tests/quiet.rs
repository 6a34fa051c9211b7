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

use common::{eventful, registry_with, result};
use takt_graph::{Catalogue, Item, Kind, Params, Shape, Value};
use takt_runtime::{Component, Io, Registration};

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

#[test]
fn ten_thousand_slots_allocate_nothing() {
    let registry = registry_with(Registration {
        kind: || Kind::new("witness", "Counts allocations."),
        shape: |_| Ok(Shape::new().in_out("in", "out", Item::Byte)),
        make: |_| Ok(Box::new(Witness { first: None, last: 0 })),
    });
    let witness = registry.kind("witness").expect("added");
    assert!(registry.shape(witness, &Params::new()).is_ok());
    // Each witness stays on its worker: the count is its thread's.
    let plans = [[0, 0, 0, 0, 1, 1, 1], [0, 1, 1, 0, 1, 0, 0]];
    let report = eventful(&registry, 10_000, 4000, plans, || {});
    for witness in ["w0", "w1"] {
        assert_eq!(result(&report, witness, "allocations"), &0.into(), "{witness}");
    }
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
