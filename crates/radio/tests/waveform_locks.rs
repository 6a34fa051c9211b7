//! On a radio's clock, too, no lock is taken during 10 000 slots: neither the worker nor the thread that receives executes one
//! instruction by which it could be. The rest of the process does, and so does the worker if a component wants it.
//!
//! The radio is emulated by the process that watches, so that it is not slowed down with the one that is watched.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

#[path = "support/echo.rs"]
mod echo;
#[path = "../../../tests/support/locks.rs"]
mod locks;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use echo::{Echo, heard, of, own_loopback, radio};
use locks::{Seen, Trace};
use takt_graph::Value;
use takt_runtime::{Component, Io};

/// By the first everything has been done once; behind the last the worker ends.
const LOOKED_AT: std::ops::Range<u64> = 500..10_500;
/// Of a run that nobody watches.
const FEW: u64 = 1000;
/// How often the watched test may be begun.
const ATTEMPTS: usize = 3;
/// Where the watched program finds the radio, how many slots it runs, and whether, and from which on, a lock is taken.
const RADIO: &str = "TAKT_RADIO_OF_TEST";
const SLOTS: &str = "TAKT_SLOTS_OF_TEST";
const LOCKS: &str = "TAKT_LOCKS_FROM_SLOT";

/// The slot that the worker is in.
static SLOT: AtomicU64 = AtomicU64::new(0);
static LOCK: Mutex<u64> = Mutex::new(0);

/// Says in which slot it is; takes a lock from one slot on, which need not be executed itself.
struct Witness {
    begun: bool,
    locks_from: Option<u64>,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        // Before, the thread that receives may not have begun.
        self.begun |= heard(io);
        if self.begun {
            SLOT.store(io.slot, Ordering::Relaxed);
        }
        if self.locks_from.is_some_and(|slot| io.slot >= slot) {
            *LOCK.lock().expect("no panic") += 1;
        }
    }
}

fn variable<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

#[test]
fn slots_are_received_and_answered() {
    locks::let_tracer_come(&SLOT);
    let given: Option<Ipv4Addr> = variable(RADIO);
    let addr = given.unwrap_or_else(|| own_loopback(74));
    let own = given.is_none().then(|| radio(addr));
    let slots = variable(SLOTS).unwrap_or(FEW);
    let echo = Echo {
        slot: Duration::from_micros(500),
        items: 100,
        advance_us: 5000.0,
        slots,
        witness: |_| Ok(Box::new(Witness { begun: false, locks_from: variable(LOCKS) })),
    };
    let report = echo.run(addr);
    if let Some(radio) = own {
        radio.stop().expect("it ends");
    }
    let (executed, answers) = (of(&report, "witness").executions, &of(&report, "transmit").results["answers"]);
    assert!(executed > slots / 10, "{executed} of {slots}: too little to tell from");
    assert!(matches!(answers, Value::Int(answers) if *answers > (slots / 10) as i64), "{answers:?} of {slots}");
}

#[test]
fn worker_and_receiver_execute_no_instruction_that_could_take_a_lock() {
    let Some(quiet) = traced(LOOKED_AT.end + 500, None) else { return };
    assert!(quiet.breakpoints > 500, "{} found", quiet.breakpoints);
    assert!(["takt-worker-", "takt-radio"].iter().all(|name| quiet.outside.iter().any(|seen| seen.starts_with(name))));
    assert_eq!(quiet.inside, BTreeMap::new());
    assert_eq!(quiet.code, 0, "the watched test");
    // It would have been seen.
    let locked = traced(1500, Some(1000)).expect("there is objdump");
    let seen = || locked.inside.values().flatten();
    assert!(seen().count() > 0 && seen().all(|slot| *slot >= 1000), "{locked:?}");
}

/// What is watched goes slowly. Where the machine is slow as well, radio or host may give up: then it is begun anew, unless a
/// lock was seen.
fn traced(slots: u64, locks_from: Option<u64>) -> Option<Seen> {
    for _ in 1..ATTEMPTS {
        let seen = traced_once(slots, locks_from)?;
        if seen.code == 0 || !seen.inside.is_empty() {
            return Some(seen);
        }
    }
    traced_once(slots, locks_from)
}

fn traced_once(slots: u64, locks_from: Option<u64>) -> Option<Seen> {
    let addr = own_loopback(75);
    let radio = radio(addr);
    let mut variables = vec![(RADIO, addr.to_string()), (SLOTS, slots.to_string())];
    variables.extend(locks_from.map(|slot| (LOCKS, slot.to_string())));
    let threads = &["takt-worker-", "takt-radio"];
    let trace = Trace { test: "slots_are_received_and_answered", variables: &variables, threads, slots: LOOKED_AT };
    let seen = trace.run();
    radio.stop().expect("it ends");
    seen
}
