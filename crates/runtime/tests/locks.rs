//! Workers take no lock during 10 000 slots: they execute not one instruction by which one could be taken.
//!
//! This test starts itself again, with a breakpoint on each of these when the workers are about to begin, and counts which are
//! reached. It does not see the kernel's code, which strace sees entered (`tests/quiet.rs`).
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

mod common;
#[path = "../../../tests/support/locks.rs"]
mod locks;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{eventful, registry_with};
use locks::{Seen, Trace};
use takt_graph::{Item, Kind, Shape};
use takt_runtime::{Component, Io, Registration};

/// 10 000 slots are looked at, all workers having begun and none having ended.
const LOOKED_AT: std::ops::Range<u64> = 500..10_500;
/// Whether, and in which slot, a lock is to be taken.
const LOCKS: &str = "TAKT_LOCKS_IN_SLOT";

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
    let all = registry_with(Registration {
        kind: || Kind::new("witness", "Says where it is."),
        shape: |_| Ok(Shape::new().in_out("in", "out", Item::Byte)),
        make: |_| {
            let slot = std::env::var(LOCKS).ok().and_then(|slot| slot.parse().ok());
            Ok(Box::new(Witness { locks_in: slot }))
        },
    });
    // A witness on each worker.
    let plans = [[0, 0, 1, 0, 1, 1, 1], [1, 1, 0, 0, 1, 0, 1]];
    eventful(&all, 11_000, 4500, plans, || locks::let_tracer_come(&SLOT));
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
