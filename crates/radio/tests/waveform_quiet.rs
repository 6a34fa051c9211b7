//! A slot on a radio's clock allocates nothing, neither in the worker nor in the thread that receives. The worker calls the
//! kernel for its naps, for one batch of datagrams an answer, and to see what the radio reports; the receiving thread to wait
//! for datagrams and to take them. So there is no lock in either that could make it wait; that they take none at all,
//! `tests/waveform_locks.rs` shows.
//!
//! Allocations are counted by this binary's allocator, in all threads at once: the software radio's, too, allocate nothing.
//! System calls are counted by strace, which runs this binary again.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;
#[path = "../../../tests/support/strace.rs"]
mod strace;

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Complex32, Stop};
use takt_emulator::emulate::{Emulator, Options as Radio};
use takt_graph::{ComponentSpec, Graph, Item, Kind, Latency, Plan, Shape, Value, Waveform};
use takt_packet::EngineKind;
use takt_radio::WallNet;
use takt_radio::waveform::{RadioClock, Wanted};
use takt_runtime::{Component, Io, Options, Registration, Registry, Session, SlotClock};

const SLOTS: u64 = 300;
/// By then everything has been done once.
const SETTLED: u64 = 20;

/// Passes samples on; counts what all threads allocate and release between an early slot and the last.
struct Witness {
    first: Option<u64>,
    last: u64,
}

impl Component for Witness {
    fn tick(&mut self, io: &mut Io<'_>) {
        let input = io.inputs[0].read::<Complex32>();
        let mut output = io.outputs[0].write::<Complex32>();
        output.iter_mut().zip(input.iter()).for_each(|(y, x)| *y = *x);
        self.last = allocations::count_everywhere();
        if io.slot >= SETTLED {
            self.first.get_or_insert(self.last);
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("allocations", ((self.last - self.first.unwrap_or(0)) as i64).into())]
    }
}

/// An address of this process alone: the test that traces runs a second one.
fn own_loopback() -> Ipv4Addr {
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 72, high, low.clamp(1, 254))
}

fn registry() -> Registry {
    let mut registry = Registry::of_program().expect("names of their own");
    let witness = Registration {
        kind: || Kind::new("witness", "Counts allocations."),
        shape: |_| Ok(Shape::new().in_out("in", "out", Item::C32)),
        make: |_| Ok(Box::new(Witness { first: None, last: 0 })),
    };
    registry.add(witness).expect("a name of its own");
    registry
}

#[test]
fn three_hundred_slots_allocate_nothing() {
    let addr = own_loopback();
    let radio = Emulator::start(&Radio { addrs: vec![addr], ..Radio::default() }).expect("a radio");
    let mut registry = registry();
    // 200 kS/s: what tracing costs fits in.
    let waveform = Waveform::new("quiet", Duration::from_millis(5))
        .with(ComponentSpec::new("receive", "radio-receive").param("items", 1000_i64))
        .with(ComponentSpec::new("witness", "witness"))
        .with(ComponentSpec::new("transmit", "radio-transmit").param("advance_us", 2000.0))
        .chain(["receive", "witness", "transmit"]);
    let graph = Graph::check(&waveform, &registry).unwrap_or_else(|error| panic!("{error}"));
    let wanted = Wanted::of(&graph).expect("a radio it has");
    let net = Arc::new(WallNet::new(EngineKind::Mmsg));
    let mut clock = RadioClock::open(net, addr.into(), &wanted, false).expect("it opens");
    clock.equip(&mut registry);
    let options = Options { slots: Some(SLOTS), clock: SlotClock::Edges(clock.edges()), ..Options::default() };
    let session = Session::open(&graph, &Plan::single(&graph, Latency::Compact), &registry, options).expect("opened");
    let stop = Stop::new();
    let mut running = session.start_paused(&stop).expect("started");
    clock.start(None, &stop).expect("it streams");
    running.go();
    let report = running.join();
    clock.finish().expect("it streamed to the end");
    radio.stop().expect("it ends");

    let of = |name: &str| report.components.iter().find(|c| c.name == name).expect("there");
    assert_eq!(report.slots, SLOTS);
    assert!(of("witness").executions > 30, "{}", of("witness").executions);
    assert_eq!(of("witness").results["allocations"], 0.into());
    assert!(matches!(of("transmit").results["answers"], Value::Int(answers) if answers > 30));
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
