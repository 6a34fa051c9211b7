//! Components send each other messages: they arrive a declared number of slots later, the same in every plan.

mod common;

use common::{chain, check, open, registry, registry_with, result, run, simulate, spec, waveform};
use proptest::prelude::*;
use takt_base::Stop;
use takt_graph::{Graph, Kind, Latency, Params, Plan, Shape, Value, Waveform};
use takt_runtime::{Bench, Component, Io, Message, Registration, Session, SessionOptions, component};

/// Passes bytes on, and sends what it read: the slot, and a sum.
#[component]
fn herald(
    slot: u64,
    input: In<u8>,
    mut output: Out<u8>,
    outbox: &mut Outbox,
    /// How many messages a slot.
    #[param(range = 0..=40, default = 1)]
    messages: u64,
) {
    output.copy_from_slice(&input);
    let sum = input.iter().map(|&byte| u64::from(byte)).sum();
    for n in 0..messages {
        let sent = outbox.send(Message { tag: n, words: [slot, sum, 0, 0, 0, 0, 0] });
        assert_eq!(sent, n < 16, "sixteen a slot");
    }
}

#[derive(Default)]
struct Listener {
    slot: u64,
    received: i64,
    late: i64,
    term: u8,
    delay: u64,
}

/// Adds what it received last, and checks when that came.
#[component]
impl Listener {
    fn new(#[param(default = 1)] delay: u64) -> Listener {
        Listener { delay, ..Listener::default() }
    }

    fn tick(&mut self, slot: u64, mut bytes: InOut<u8>) {
        self.slot = slot + 1;
        bytes.iter_mut().for_each(|byte| *byte = byte.wrapping_add(self.term));
    }

    fn message(&mut self, message: &Message) {
        self.received += 1;
        // A message comes before the slot is executed.
        self.late += i64::from(message.words[0] + self.delay != self.slot);
        self.term = self.term.wrapping_mul(31).wrapping_add(message.words[1] as u8).wrapping_add(message.tag as u8);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("received", self.received.into()), ("late", self.late.into())]
    }
}

/// source -> listener -> herald -> sink; the messages of the herald reach the listener and a second one.
fn gain_control(delay: u32, messages: i64) -> Waveform {
    let specs = [
        spec("a", "source").param("varying", true),
        spec("p", "listener").param("delay", delay),
        spec("h", "herald").param("messages", messages),
        spec("q", "listener").param("delay", delay + 1),
        spec("z", "sink"),
    ];
    chain(waveform(), specs).message("h", "p", delay).message("h", "q", delay + 1)
}

#[test]
fn every_message_arrives_in_its_slot_in_every_plan() {
    let graph = check(&gain_control(3, 2));
    let reference = run(&graph, &Plan::single(&graph, Latency::Compact), 200);
    for worker_of in [[0, 0, 0, 0, 0], [0, 1, 0, 1, 0], [0, 1, 2, 0, 1], [2, 1, 0, 0, 2]] {
        for latency in [Latency::Fixed, Latency::Compact] {
            let plan = Plan::assign(&graph, &worker_of, latency).expect("legal");
            for report in [run(&graph, &plan, 200), open(&graph, &plan, 200).simulate()] {
                assert_eq!(report.output_hash, reference.output_hash, "{worker_of:?}");
                for (name, delay) in [("p", 3), ("q", 4)] {
                    assert_eq!(result(&report, name, "received"), &Value::Int(2 * (200 - delay)));
                    assert_eq!(result(&report, name, "late"), &0.into());
                }
                assert_eq!(report.misses, 0);
            }
        }
    }
    let other = run(&check(&gain_control(2, 2)), &Plan::single(&check(&gain_control(2, 2)), Latency::Compact), 200);
    assert_ne!(other.output_hash, reference.output_hash, "another delay is another waveform");
}

#[test]
fn a_slot_has_room_for_sixteen_messages() {
    let graph = check(&gain_control(2, 20));
    let report = run(&graph, &Plan::single(&graph, Latency::Compact), 50);
    assert_eq!(result(&report, "p", "received"), &Value::Int(16 * 48));
    assert_eq!(report.misses, 0);
}

#[test]
fn a_change_of_plan_loses_no_message() {
    let graph = check(&gain_control(3, 1));
    let plan = |of: [usize; 5], latency| Plan::assign(&graph, &of, latency).expect("legal");
    let reference = run(&graph, &plan([0; 5], Latency::Compact), 300);
    let mut running =
        open(&graph, &plan([0, 1, 2, 0, 1], Latency::Fixed), 300).start_paused(&Stop::new()).expect("starts");
    running.change_plan(&plan([1, 1, 0, 0, 1], Latency::Compact), 100).expect("room");
    running.change_plan(&plan([2, 0, 1, 1, 0], Latency::Fixed), 200).expect("room");
    running.go();
    let report = running.join();
    assert_eq!(report.output_hash, reference.output_hash);
    assert_eq!(result(&report, "q", "received"), &Value::Int(296));
}

#[test]
fn messages_for_slots_that_are_missed_arrive_all_the_same() {
    // On the virtual clock a stall beside the listener makes it miss two slots.
    let x = spec("x", "stall").param("slot", 5).param("us", 2_500);
    let made = chain(waveform(), [spec("a", "source"), spec("h", "herald"), spec("s", "sink")]);
    let made = chain(made, [spec("b", "source"), x, spec("p", "listener"), spec("z", "sink")]).message("h", "p", 1);
    let report = simulate(&registry(), &made, &[0, 0, 0, 1, 1, 1, 1], 20);
    assert_eq!(report.components[5].missed, 2);
    assert_eq!(
        result(&report, "p", "received"),
        &Value::Int(19),
        "all but the last, which has no slot left to arrive in"
    );
}

#[test]
fn the_bench_shows_what_a_component_sent() {
    let mut herald = Bench::named(&registry(), "herald", &Params::new().with("messages", 2)).expect("made");
    herald.feed("in", &[1_u8, 2, 3]).tick();
    let sent = herald.sent();
    assert_eq!(sent.iter().map(|m| (m.tag, m.words[0], m.words[1])).collect::<Vec<_>>(), [(0, 0, 6), (1, 0, 6)]);
    herald.tick();
    assert_eq!(herald.sent()[1].words[..2], [1, 0]);
}

#[test]
fn a_component_without_a_message_table_has_no_room_for_messages() {
    struct Lonely;
    impl Component for Lonely {
        fn tick(&mut self, io: &mut Io<'_>) {
            assert!(!io.outbox.send(Message::default()), "there is no room where none listens");
        }
    }
    let all = registry_with(Registration {
        kind: || Kind::new("lonely", "Sends in vain."),
        shape: |_| Ok(Shape::new()),
        make: |_| Ok(Box::new(Lonely)),
    });
    let graph = Graph::check(&waveform().with(spec("a", "lonely")), &all).expect("legal");
    let options = SessionOptions { slots: Some(3), ..SessionOptions::default() };
    let plan = Plan::single(&graph, Latency::Compact);
    let report = Session::open(&graph, &plan, &all, options).expect("opens").run(&Stop::new()).expect("starts");
    assert_eq!((report.misses, report.slots), (0, 3));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 48 }))]

    /// A random mesh of listeners and heralds.
    #[test]
    fn what_is_computed_with_messages_is_one_value_for_all_plans(
        paths in prop::collection::vec((0..4_usize, 0..4_usize, 2..6_u32), 1..8),
        worker_of in prop_oneof![
            7 => prop::collection::vec(0..2_usize, 10),
            1 => prop::collection::vec(0..3_usize, 10),
        ],
        fixed in any::<bool>(),
    ) {
            let mut made = waveform();
        for n in 0..4 {
            let (p, h) = (format!("p{n}"), format!("h{n}"));
            made = if n == 0 { made.with(spec("a", "source")).link("a", "p0") } else { made.link(&format!("h{}", n - 1), &p) };
            made = made.with(spec(&p, "listener")).with(spec(&h, "herald")).link(&p, &h);
        }
        made = made.with(spec("z", "sink")).link("h3", "z");
        for (from, to, delay) in &paths {
            made = made.message(&format!("h{from}"), &format!("p{to}"), 4 * delay);
        }
        // A herald without a listener may not send in this test.
        for n in (0..4).filter(|n| !paths.iter().any(|(from, ..)| from == n)) {
            let herald = made.components.iter_mut().find(|c| c.name == format!("h{n}")).expect("there");
            herald.params.set("messages", 0_i64.into());
        }
        let graph = check(&made);
        let reference = run(&graph, &Plan::single(&graph, Latency::Compact), 60);
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        let plan = Plan::assign(&graph, &worker_of, latency).unwrap_or_else(|error| panic!("{error}"));
        let report = run(&graph, &plan, 60);
        prop_assert_eq!(report.output_hash, reference.output_hash);
        prop_assert_eq!(report.misses, 0);
        for (one, other) in report.components.iter().zip(&reference.components) {
            prop_assert_eq!(one.results.get("received"), other.results.get("received"));
        }
    }
}
