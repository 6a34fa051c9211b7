//! Workers take no lock during 10 000 slots: they execute not one instruction by which one could be taken.
//!
//! This test starts itself again, with a breakpoint on each of these when the workers are about to begin, and counts who comes
//! by. What it does not see: the kernel's code, which strace sees entered (`tests/quiet.rs`).
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;
#[path = "../../../tests/support/locks.rs"]
mod locks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use common::steps::Steps;
use common::{registry, spec};
use locks::{Seen, Trace};
use takt_base::Stop;
use takt_graph::{Graph, Item, Kind, Latency, Plan, Shape, Waveform};
use takt_runtime::{Component, Io, Options, Registration, Session};

/// 10 000 slots are looked at, all workers having begun and none having ended.
const LOOKED_AT: std::ops::Range<u64> = 500..10_500;
const SLOTS: u64 = 11_000;
/// Whether, and in which slot, a lock is to be taken.
const LOCKS: &str = "TAKT_LOCKS_IN_SLOT";

/// The slot that the workers are in.
static SLOT: AtomicU64 = AtomicU64::new(0);
static LOCK: Mutex<u64> = Mutex::new(0);

/// Says in which slot it is, and takes a lock in one.
struct Witness {
    locks_in: Option<u64>,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        SLOT.store(io.slot, Ordering::Relaxed);
        if self.locks_in == Some(io.slot) {
            *LOCK.lock().expect("no panic") += 1;
        }
    }
}

/// Two workers under a clock; a stall, slots that are missed, two changes of plan, a setting.
#[test]
#[ignore = "is run under the tracer by the next test"]
fn eleven_thousand_slots() {
    let mut all = registry();
    let registration = Registration {
        kind: || Kind::new("witness", "Says where it is."),
        shape: |_| Ok(Shape::new().in_out("in0", "out", Item::Byte)),
        make: |_| {
            let slot = std::env::var(LOCKS).ok().and_then(|slot| slot.parse().ok());
            Ok(Box::new(Witness { locks_in: slot }))
        },
    };
    all.add(registration).expect("a name of its own");
    let waveform = Waveform::new("locks", Duration::from_micros(250))
        .with(spec("a", "source").param("items", 1000))
        .with(spec("p", "stall").param("slot", 4500).param("us", 900))
        .with(spec("q", "add"))
        .with(spec("w0", "witness"))
        .with(spec("w1", "witness"))
        .with(spec("z", "sink"))
        .with(spec("y", "sink"))
        .chain(["a", "p", "q", "w0", "w1", "z"])
        .link("a", "y");
    let graph = Graph::check(&waveform, &all).unwrap_or_else(|error| panic!("{error}"));
    let other = usize::from(takt_host::affinity::own_cpus().len() >= 2);
    let plan = |of: [usize; 7]| Plan::assign(&graph, &of, Latency::Compact).expect("legal");
    // A witness on each worker.
    let (first, second) = (plan([0, 0, other, 0, other, other, other]), plan([other, other, 0, 0, other, 0, other]));
    let clock = Steps::of(1 + other).short(5000).late_behind(5000, 3).clock();
    let options = Options { slots: Some(SLOTS), clock, ..Options::default() };
    let session = Session::open(&graph, &first, &all, options).expect("opened");
    let mut running = session.start_paused(&Stop::new()).expect("started");
    running.change_plan(&second, 3000).expect("room");
    running.change_plan(&first, 6000).expect("room");
    running.set(&all, "q", "term", &7.into(), 2000).expect("room");
    locks::let_tracer_come(&SLOT);
    running.go();
    let report = running.join();
    assert_eq!(report.slots, SLOTS);
    for component in &report.components {
        assert_eq!((component.missed, component.executions), (4, SLOTS - 4), "{}", component.name);
    }
}

#[test]
fn workers_execute_no_instruction_that_could_take_a_lock() {
    let Some(quiet) = traced(None) else { return };
    assert!(quiet.breakpoints > 500, "{} found", quiet.breakpoints);
    assert!(!quiet.outside.is_empty(), "the start and the end do, and are seen");
    assert_eq!(quiet.inside, BTreeMap::new());
    assert_eq!(quiet.code, 0, "the watched test");
    // It would have been seen.
    let locked = traced(Some(4000)).expect("there is objdump");
    let workers: BTreeSet<_> = locked.inside.keys().map(|(worker, _)| worker).collect();
    assert_eq!(workers.len(), takt_host::affinity::own_cpus().len().min(2), "{locked:?}");
    // The last of both to say where it is may be a slot ahead or behind.
    assert!(locked.inside.values().flatten().all(|slot| (3990..4010).contains(slot)), "{locked:?}");
    assert_eq!(locked.code, 0, "the watched test");
}

fn traced(locks_in: Option<u64>) -> Option<Seen> {
    let variables: Vec<_> = locks_in.map(|slot| (LOCKS, slot.to_string())).into_iter().collect();
    let trace =
        Trace { test: "eleven_thousand_slots", variables: &variables, threads: &["takt-worker-"], slots: LOOKED_AT };
    trace.run()
}
