//! A slot on a radio's clock allocates nothing, neither in the worker nor in the thread that receives. The worker calls the
//! kernel for its naps, for one batch of datagrams an answer, and to see what the radio reports; the receiving thread to wait
//! for datagrams and to take them. So there is no lock in either that could make it wait; that they take none at all,
//! `waveform_locks.rs` shows.
//!
//! Allocations are counted by this binary's allocator, in all threads at once: the software radio's, too, allocate nothing.
//! System calls are counted by strace, which runs this binary again.

use std::time::Duration;

use takt_graph::Value;
use takt_runtime::{Component, Io};
use takt_testing::{loopback, not_judged};

use super::echo::{Echo, heard, of, radio};
use super::{allocations, strace, turn};

const SLOTS: u64 = 300;
/// After so many that brought samples everything has been done once.
const SETTLED: u64 = 20;
/// Fewer that brought samples tell nothing.
const FEW: usize = 30;

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
    let _turn = turn();
    let addr = loopback(72);
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
    let report = match report {
        Ok(report) => report,
        Err(error) => return not_judged(format!("radio and host did not keep the beat: {error}")),
    };
    let (witness, transmit) = (&of(&report, "witness").results, &of(&report, "transmit").results);
    assert_eq!(witness["allocations"], 0.into());
    let few = |count: &Value| matches!(count, Value::Int(count) if *count <= FEW as i64);
    if few(&witness["received"]) || few(&transmit["answers"]) {
        not_judged(format!("few slots were received and answered in time: {witness:?} {transmit:?}"));
    }
}

#[test]
fn a_slot_costs_naps_a_batch_of_datagrams_and_a_look_at_reports() {
    let threads = ["takt-worker-", "takt-radio"];
    let test = "waveform_quiet::three_hundred_slots_allocate_nothing";
    let _turn = turn();
    let Some(all) = strace::calls_of(&threads, &["--exact", test]) else { return };
    let of = |name: &str| &all.iter().find(|(thread, _)| thread.contains(name)).expect("it ran").1;
    let count = |calls: &[String], call: &str| calls.iter().filter(|one| one.starts_with(call)).count();
    let others = |calls: &[String], known: &[&str]| -> Vec<String> {
        calls.iter().filter(|one| !known.iter().any(|call| one.contains(call))).cloned().collect()
    };

    let worker = strace::between_sleeps(of("takt-worker-"));
    assert_eq!(others(worker, &["clock_nanosleep", "sendmmsg", "recvmmsg"]), [""; 0]);
    let (sends, looks) = (count(worker, "sendmmsg("), count(worker, "recvmmsg("));
    assert!((FEW..=SLOTS as usize).contains(&sends), "one an answer: {sends}");
    // It reads the radio's reports, once a slot; and once more where there was one.
    assert!((sends..=3 * SLOTS as usize).contains(&looks), "{looks} for {sends} answers");

    // Until it stops the radio.
    let receiver = of("takt-radio");
    let first = receiver.iter().position(|call| call.contains("ppoll")).expect("it waits");
    let end = receiver.iter().position(|call| call.contains("send")).expect("it stops the radio");
    let streaming = receiver.get(first..end).unwrap_or_default();
    assert_eq!(others(streaming, &["ppoll", "recvmmsg"]), [""; 0]);
    // Samples of so many slots came to it, each with a call at least.
    assert!(streaming.len() > FEW, "{} calls", streaming.len());
}
