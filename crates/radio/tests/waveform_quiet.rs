//! A slot on a radio's clock allocates nothing, neither in the worker nor in the thread that receives. The worker calls the
//! kernel for its naps, for one batch of datagrams an answer, and to see what the radio reports; the receiving thread to wait
//! for datagrams and to take them. So there is no lock in either that could make it wait; that they take none at all,
//! `tests/waveform_locks.rs` shows.
//!
//! Allocations are counted by this binary's allocator, in all threads at once: the software radio's, too, allocate nothing.
//! System calls are counted by strace, which runs this binary again.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
#[path = "support/echo.rs"]
mod echo;
#[path = "../../../tests/support/strace.rs"]
mod strace;

use std::sync::LazyLock;
use std::time::Duration;

use echo::{Echo, heard, of, own_loopback, radio};
use takt_base::Stop;
use takt_graph::Value;
use takt_runtime::{Component, Io};

/// That bring samples.
const ENOUGH: u64 = 300;
/// A machine that is slow, and slower while it is traced, loses some.
const AT_MOST: u64 = 600;
/// After so many that brought samples everything has been done once.
const SETTLED: u64 = 20;

/// Asked when there were enough.
static STOP: LazyLock<Stop> = LazyLock::new(Stop::new);

/// Counts what all threads allocate and release between an early slot and the last.
#[derive(Default)]
struct Witness {
    received: u64,
    first: u64,
    last: u64,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        if !heard(io) {
            return;
        }
        self.received += 1;
        self.last = allocations::count_everywhere();
        if self.received <= SETTLED {
            self.first = self.last;
        }
        if self.received == ENOUGH {
            STOP.request();
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let allocations = self.last - self.first;
        vec![("allocations", (allocations as i64).into()), ("received", (self.received as i64).into())]
    }
}

#[test]
fn three_hundred_slots_allocate_nothing() {
    let addr = own_loopback(72);
    let radio = radio(addr);
    // 200 kS/s: what tracing costs fits in.
    let echo = Echo {
        slot: Duration::from_millis(5),
        items: 1000,
        advance_us: 50_000.0,
        slots: AT_MOST,
        witness: |_| Ok(Box::new(Witness::default())),
    };
    let report = echo.run(addr, &STOP);
    radio.stop().expect("it ends");

    let (witness, transmit) = (&of(&report, "witness").results, &of(&report, "transmit").results);
    let many = |count: &Value| matches!(count, Value::Int(count) if *count > ENOUGH as i64 / 2);
    assert!(many(&witness["received"]) && many(&transmit["answers"]), "{witness:?} {transmit:?}");
    assert_eq!(witness["allocations"], 0.into());
}

#[test]
fn a_slot_costs_naps_a_batch_of_datagrams_and_a_look_at_reports() {
    let threads = ["takt-worker-", "takt-radio"];
    let Some(all) = strace::calls_of(&threads, &["--exact", "three_hundred_slots_allocate_nothing"]) else { return };
    let of = |name: &str| &all.iter().find(|(thread, _)| thread.contains(name)).expect("it ran").1;
    let count = |calls: &[String], call: &str| calls.iter().filter(|one| one.starts_with(call)).count();
    let others = |calls: &[String], known: &[&str]| -> Vec<String> {
        calls.iter().filter(|one| !known.iter().any(|call| one.contains(call))).cloned().collect()
    };

    let worker = strace::between_sleeps(of("takt-worker-"));
    assert_eq!(others(worker, &["clock_nanosleep", "sendmmsg", "recvmmsg"]), [""; 0]);
    let (sends, looks) = (count(worker, "sendmmsg("), count(worker, "recvmmsg("));
    assert!((ENOUGH as usize / 2..=ENOUGH as usize + 1).contains(&sends), "one an answer: {sends}");
    // What the radio reports, once a slot; and once more where it had something to say.
    assert!((sends..=3 * AT_MOST as usize).contains(&looks), "{looks} for {sends} answers");

    // Until it stops the radio.
    let receiver = of("takt-radio");
    let first = receiver.iter().position(|call| call.contains("ppoll")).expect("it waits");
    let end = receiver.iter().position(|call| call.contains("send")).expect("it stops the radio");
    let streaming = receiver.get(first..end).unwrap_or_default();
    assert!(streaming.len() > 100, "{} calls", streaming.len());
    assert_eq!(others(streaming, &["ppoll", "recvmmsg"]), [""; 0]);
}
