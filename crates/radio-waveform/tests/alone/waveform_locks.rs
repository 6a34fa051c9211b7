//! On a radio's clock, too, no lock is taken during 1000 slots: neither the worker nor the thread that receives executes one
//! instruction by which it could be. The rest of the process does, and so does the worker if a component wants it.
//!
//! The radio is emulated by the process that watches, so that it is not slowed down with the one that is watched.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use takt_graph::Value;
use takt_runtime::{Component, Io};
use takt_testing::{loopback, not_judged};

use super::echo::{Echo, heard, of, radio};
use super::locks::{self, Seen, Trace};
use super::turn;

/// By the first everything has been done once; behind the last the worker ends. A watched program goes slowly: a stop
/// of the tracer takes up to half a millisecond. So slots are long, and a thousand of them must do.
const LOOKED_AT: std::ops::Range<u64> = 100..1100;
const SLOT_LENGTH: Duration = Duration::from_millis(5);
const ITEMS: i64 = 1000;
const ADVANCE_US: f64 = 50_000.0;
/// From this slot on a lock is taken that must be seen, and so many are run.
const LOCKED: u64 = 150;
const LOCKED_SLOTS: u64 = 300;
/// Beginning and ending take a thread so many at most.
const OFTEN: u64 = 2000;
/// How often the watched test may be begun.
const ATTEMPTS: usize = 2;
/// Variables that give the watched program the radio's address, how many slots it runs, and whether, and from which on,
/// a lock is taken.
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
#[ignore = "is run under the tracer by the next test"]
fn slots_are_received_and_answered() {
    locks::let_tracer_come(&SLOT);
    let given: Option<Ipv4Addr> = variable(RADIO);
    let addr = given.unwrap_or_else(|| loopback(74));
    let own = given.is_none().then(|| radio(addr));
    let slots = variable(SLOTS).unwrap_or(LOCKED_SLOTS);
    let echo = Echo {
        slot: SLOT_LENGTH,
        items: ITEMS,
        advance_us: ADVANCE_US,
        slots,
        witness: |_| Ok(Box::new(Witness { begun: false, locks_from: variable(LOCKS) })),
    };
    let report = echo.run(addr).expect("it keeps the beat");
    if let Some(radio) = own {
        radio.stop().expect("it ends");
    }
    let (executed, answers) = (of(&report, "witness").executions, &of(&report, "transmit").results["answers"]);
    assert!(executed > slots / 10, "{executed} of {slots}: too little to tell from");
    assert!(matches!(answers, Value::Int(answers) if *answers > (slots / 10) as i64), "{answers:?} of {slots}");
}

#[test]
fn worker_and_receiver_execute_no_instruction_that_could_take_a_lock() {
    let _turn = turn();
    let Some(quiet) = traced(LOOKED_AT.end + 200, None) else { return };
    assert!(quiet.breakpoints > 500, "{} found", quiet.breakpoints);
    assert_eq!(quiet.inside, BTreeMap::new());
    // It would have been seen.
    let locked = traced(LOCKED_SLOTS, Some(LOCKED)).expect("there is objdump");
    let seen = || locked.inside.values().flatten();
    assert!(seen().all(|slot| *slot >= LOCKED), "{locked:?}");
    // Threads that take locks all the time come to no slot under the tracer.
    let often = |(name, times): (&String, &u64)| name.starts_with("takt-") && *times > OFTEN;
    assert!(!quiet.outside.iter().any(often), "{:?}", quiet.outside);
    if quiet.code != 0 || locked.code != 0 {
        return not_judged("the watched program did not keep the beat of its radio");
    }
    assert!(seen().count() > 0, "{locked:?}");
    assert!(["takt-worker-", "takt-radio"].iter().all(|name| quiet.outside.keys().any(|seen| seen.starts_with(name))));
}

/// A watched program goes slowly. If the machine is slow as well, radio or host may give up: then it is begun anew,
/// unless a lock was seen.
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
    let addr = loopback(75);
    let radio = radio(addr);
    let mut variables = vec![(RADIO, addr.to_string()), (SLOTS, slots.to_string())];
    variables.extend(locks_from.map(|slot| (LOCKS, slot.to_string())));
    let threads = &["takt-worker-", "takt-radio"];
    let trace = Trace {
        test: "waveform_locks::slots_are_received_and_answered",
        variables: &variables,
        threads,
        slots: LOOKED_AT,
    };
    let seen = trace.run();
    radio.stop().expect("it ends");
    seen
}
