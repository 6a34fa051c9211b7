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

use std::time::Duration;

use echo::{Echo, heard, of, own_loopback, radio};
use takt_graph::Value;
use takt_runtime::{Component, Io};

const SLOTS: u64 = 300;
/// After so many that brought samples everything has been done once.
const SETTLED: u64 = 20;

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
        advance_us: 2000.0,
        slots: SLOTS,
        witness: |_| Ok(Box::new(Witness::default())),
    };
    let report = echo.run(addr);
    radio.stop().expect("it ends");

    let (witness, transmit) = (&of(&report, "witness").results, &of(&report, "transmit").results);
    assert_eq!(witness["allocations"], 0.into());
    let many = |count: &Value| matches!(count, Value::Int(count) if *count > 30);
    let kept_up = many(&witness["received"]) && many(&transmit["answers"]);
    assert!(kept_up, "{}: {witness:?} {transmit:?}", strace::TOO_SLOW);
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
    assert!((30..=SLOTS as usize).contains(&sends), "one an answer: {sends}");
    // What the radio reports, once a slot; and once more where it had something to say.
    assert!((sends..=3 * SLOTS as usize).contains(&looks), "{looks} for {sends} answers");

    // Until it stops the radio.
    let receiver = of("takt-radio");
    let first = receiver.iter().position(|call| call.contains("ppoll")).expect("it waits");
    let end = receiver.iter().position(|call| call.contains("send")).expect("it stops the radio");
    let streaming = receiver.get(first..end).unwrap_or_default();
    assert!(streaming.len() > 100, "{} calls", streaming.len());
    assert_eq!(others(streaming, &["ppoll", "recvmmsg"]), [""; 0]);
}
