//! A stall is reported as that component, worker and slot, with the policy's effect; no other component is touched. All on the
//! virtual clock: the same in every run.

use std::sync::Arc;

use takt_base::Stop;
use takt_graph::{Graph, Item, Kind, Latency, Length, MissPolicy, Shape, Value};
use takt_runtime::{
    BrokenPacket, Component, Culprit, Io, Message, MissKind, Registration, Report, Session, SessionOptions,
};

use crate::common::{
    assign, chain, check, of, open, open_in_bursts, registry, registry_with, result, run, simulate, spec, waveform,
};

/// Two chains on two workers, and one link between them: a -> x (stalls in slot 5) -> y on worker 0 with `m` behind x on
/// worker 1, and b -> c -> w on worker 1 alone.
fn stalled(us: i64, policy: MissPolicy, panics: bool) -> (Graph, Report) {
    let x = spec("x", "stall").param("slot", 5).param("us", us).param("panics", panics).on_miss(policy);
    let made = chain(waveform(), [spec("a", "source"), x, spec("y", "watch")]);
    let made = chain(made, [spec("b", "source"), spec("c", "add"), spec("w", "watch")]);
    let graph = check(&made.with(spec("m", "watch")).link("x", "m"));
    let plan = assign(&graph, &[0, 0, 0, 1, 1, 1, 1], Latency::Compact);
    (graph.clone(), open(&graph, &plan, 20).simulate())
}

fn missed(report: &Report, component: &str) -> (u64, u64, u64, u64) {
    let c = of(report, component);
    (c.executions, c.missed, c.late, c.faults)
}

#[test]
fn a_stall_of_three_slots_is_one_late_end_two_slots_skipped_and_one_culprit() {
    // In slot 5 x takes 2.5 ms: until 7.5 ms. Slot 6 is lost, slot 7 begins half a millisecond late and is done in time.
    let (_, report) = stalled(2_500, MissPolicy::Skip, false);
    assert_eq!(missed(&report, "a"), (19, 1, 0, 0));
    assert_eq!(missed(&report, "x"), (19, 1, 1, 0));
    assert_eq!(missed(&report, "y"), (18, 2, 0, 0), "its slot 5 had no time left");
    for untouched in ["b", "c", "w", "m"] {
        assert_eq!(missed(&report, untouched), (20, 0, 0, 0), "{untouched}");
    }
    assert_eq!(result(&report, "w", "missing"), &0.into());
    assert_eq!(result(&report, "m", "missing"), &2.into(), "slots 5 (late) and 6 (skipped) of x");
    let culprit =
        Culprit::Component { component: "x".to_owned(), worker: 0, slot: 5, execution_ns: 2_500_000, usual_ns: 0 };
    assert!(report.miss_list.iter().all(|miss| miss.culprit == culprit && miss.worker == 0), "{:#?}", report.miss_list);
    let late = report.miss_list.iter().find(|miss| miss.kind == MissKind::Late).expect("one");
    assert_eq!((late.component.as_str(), late.logical_slot, late.slot, late.execution_ns), ("x", 5, 5, 2_500_000));
    assert_eq!(late.before.last().map(|b| (b.component.as_str(), b.slot)), Some(("x", 5)));
    let lateness = report.lateness.expect("timed");
    assert_eq!((lateness.max_ns, lateness.p50_ns), (500_000, Some(0)));
}

#[test]
fn a_stall_over_the_end_counts_every_slot_it_cost() {
    let x = spec("x", "stall").param("slot", 15).param("us", 30_000);
    let made = chain(waveform(), [spec("a", "source"), x, spec("y", "watch")]);
    let report = simulate(&registry(), &made, &[0, 0, 0], 20);
    assert_eq!((missed(&report, "a"), missed(&report, "x")), ((16, 4, 0, 0), (16, 4, 1, 0)));
    assert_eq!((missed(&report, "y"), report.slots), ((15, 5, 0, 0), 20));
}

#[test]
fn the_trace_is_one_that_perfetto_reads() {
    let (_, report) = stalled(2_500, MissPolicy::Skip, false);
    let trace: serde_json::Value = serde_json::from_str(&report.to_perfetto()).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("a list");
    assert_eq!(events.len() as u64, report.components.iter().map(|c| c.executions).sum::<u64>());
    let stall = events.iter().find(|event| event["dur"].as_f64() == Some(2500.0)).expect("the stall");
    assert_eq!(
        (stall["name"].as_str(), stall["ts"].as_f64(), &stall["args"]["slot"]),
        (Some("x"), Some(5000.0), &5.into())
    );
}

#[test]
fn a_stall_within_the_slot_is_no_miss() {
    let (_, report) = stalled(999, MissPolicy::Skip, false);
    assert_eq!((report.misses, report.miss_list.len()), (0, 0));
}

#[test]
fn repeat_gives_consumers_the_last_packet_again() {
    let (_, skip) = stalled(2_500, MissPolicy::Skip, false);
    let (_, repeat) = stalled(2_500, MissPolicy::Repeat, false);
    assert_eq!((result(&skip, "m", "missing"), result(&repeat, "m", "missing")), (&2.into(), &2.into()));
    assert_eq!((result(&skip, "m", "empty"), result(&repeat, "m", "empty")), (&2.into(), &0.into()));
}

#[test]
fn degrade_tells_the_component_once() {
    let (_, report) = stalled(2_500, MissPolicy::Degrade, false);
    assert_eq!(result(&report, "x", "degraded"), &true.into());
    assert!(report.components.iter().filter(|c| c.degraded).map(|c| c.name.as_str()).eq(["x"]));
}

#[test]
fn stop_ends_all_workers_at_their_next_edge() {
    let (_, report) = stalled(2_500, MissPolicy::Stop, false);
    assert_eq!(missed(&report, "x").0, 6);
    assert_eq!(missed(&report, "w").0, 8, "the worker beside it finished the slot it was in");
}

#[test]
fn a_panic_costs_its_slot_and_nothing_else() {
    let (graph, report) = stalled(0, MissPolicy::Skip, true);
    assert_eq!(missed(&report, "x"), (20, 0, 0, 1));
    assert_eq!((result(&report, "m", "missing"), result(&report, "y", "missing")), (&1.into(), &1.into()));
    assert_eq!(report.miss_list.len(), 1);
    assert_eq!(report.miss_list[0].kind, MissKind::Fault);
    assert!(matches!(&report.miss_list[0].culprit, Culprit::Component { component, slot: 5, .. } if component == "x"));
    // The same on threads: none waits for a packet that will not come.
    let plan = assign(&graph, &[0, 0, 0, 1, 1, 1, 1], Latency::Compact);
    let threads = run(&graph, &plan, 20);
    assert_eq!((threads.misses, threads.output_hash), (1, report.output_hash));
}

#[test]
fn a_stop_flag_ends_an_endless_run_with_whole_slots() {
    let graph = check(&waveform().with(spec("a", "source")).with(spec("z", "watch")).chain(["a", "z"]));
    let (plan, stop) = (assign(&graph, &[0, 1], Latency::Compact), Stop::new());
    let mut running = open_in_bursts(&graph, &plan, None, 1).start(&stop).expect("starts");
    running.send("z", Message::default(), 100).expect("room");
    takt_testing::wait_for("slots", || (running.snapshot().components[1].executions > 100).then_some(()));
    stop.request();
    let report = running.join();
    let (made, taken) = (report.components[0].executions, report.components[1].executions);
    // A link between cores holds 16 slots.
    assert!(100 < taken && taken <= made && made <= taken + 16, "{made} made, {taken} taken");
}

/// Brings a byte a slot, but not in slot 7, and in slots 11 and 12 neither.
struct Aerial;

impl Component for Aerial {
    fn tick(&mut self, io: &mut Io<'_>) {
        io.outputs[0].write::<u8>().fill(io.slot as u8);
        if matches!(io.slot, 7 | 11 | 12) {
            io.lose();
        }
    }
}

#[test]
fn what_a_radio_does_not_bring_is_missing_and_nobody_else_is_to_blame() {
    let registry = registry_with(Registration {
        kind: || Kind::new("aerial", "Loses slots."),
        shape: |_| Ok(Shape::new().output("out", Item::Byte, Length::Fixed(4))),
        make: |_| Ok(Box::new(Aerial)),
    });
    for policy in [MissPolicy::Skip, MissPolicy::Repeat] {
        let made = waveform().with(spec("a", "aerial")).with(spec("y", "watch").on_miss(policy)).chain(["a", "y"]);
        let report = simulate(&registry, &made, &[0, 0], 20);
        assert_eq!((missed(&report, "a"), missed(&report, "y")), ((20, 3, 0, 0), (20, 0, 0, 0)));
        assert_eq!(report.components.iter().map(|c| c.lost).collect::<Vec<_>>(), [3, 0]);
        assert_eq!((result(&report, "y", "missing"), report.misses), (&Value::Int(3), 3));
        let misses = report.miss_list.iter().map(|miss| (miss.kind, miss.logical_slot, miss.culprit.clone()));
        let by_radio = |slot| Culprit::Radio { component: "a".to_owned(), slot };
        assert_eq!(misses.collect::<Vec<_>>(), [7, 11, 12].map(|slot| (MissKind::Lost, slot, by_radio(slot))));
    }
}

/// Passes a byte on, and panics in slots 3, 9 and 10.
struct Shaky;

impl Component for Shaky {
    fn tick(&mut self, io: &mut Io<'_>) {
        assert!(!matches!(io.slot, 3 | 9 | 10), "on purpose");
        let byte = io.inputs[0].read::<u8>().first().copied().unwrap_or(0);
        io.outputs[0].write::<u8>().fill(byte);
    }
}

#[test]
fn what_breaks_a_burst_costs_its_slot_and_the_rest_is_as_slot_by_slot() {
    let mut registry = registry_with(Registration {
        kind: || Kind::new("aerial", "Loses slots."),
        shape: |_| Ok(Shape::new().output("out", Item::Byte, Length::Fixed(4))),
        make: |_| Ok(Box::new(Aerial)),
    });
    let shaky = Registration {
        kind: || Kind::new("shaky", "Panics."),
        shape: |_| Ok(Shape::new().input("in", Item::Byte).output("out", Item::Byte, Length::Fixed(4))),
        make: |_| Ok(Box::new(Shaky)),
    };
    registry.add(shaky).expect("one name");
    let made = chain(waveform(), [spec("a", "aerial"), spec("s", "shaky"), spec("y", "watch")]);
    let graph = Graph::check(&made, &registry).unwrap_or_else(|error| panic!("{error}"));
    let reports = [1, 5, 16].map(|burst| {
        let plan = assign(&graph, &[0, 0, 0], Latency::Compact);
        let options = SessionOptions { slots: Some(40), burst, ..SessionOptions::default() };
        Session::open(&graph, &plan, &registry, options).expect("opens").run(&Stop::new()).expect("starts")
    });
    for report in &reports {
        assert_eq!(
            (missed(report, "a"), missed(report, "s")),
            ((40, 3, 0, 0), (40, 0, 0, 3)),
            "burst {}",
            report.burst
        );
        assert_eq!((missed(report, "y"), result(report, "y", "missing")), ((40, 0, 0, 0), &Value::Int(3)));
        let misses = report.miss_list.iter().map(|miss| (miss.component.as_str(), miss.kind, miss.logical_slot));
        let mut misses: Vec<_> = misses.collect();
        misses.sort_by_key(|&(component, _, slot)| (component.to_owned(), slot));
        let of = |component, kind, slots: [u64; 3]| slots.map(|slot| (component, kind, slot));
        let all = [of("a", MissKind::Lost, [7, 11, 12]), of("s", MissKind::Fault, [3, 9, 10])].concat();
        assert_eq!(misses, all, "burst {}", report.burst);
        assert_eq!(report.output_hash, reports[0].output_hash);
    }
    assert!(reports[0].burst == 1 && reports[1].burst > 1 && reports[2].burst > reports[1].burst, "timed as wholes");
}

#[test]
fn a_type_may_be_made_in_another_way_and_only_one_that_is_there() {
    let mut registry = registry();
    assert!(!registry.equip("aerial", Arc::new(|_| Ok(Box::new(Aerial)))));
    assert!(registry.equip("source", Arc::new(|_| Ok(Box::new(Aerial)))));
    let made = waveform().with(spec("a", "source")).with(spec("y", "watch")).chain(["a", "y"]);
    let report = simulate(&registry, &made, &[0, 0], 20);
    assert_eq!(report.misses, 3, "an aerial in its place");
}

#[test]
fn a_packet_that_finds_no_room_is_dropped_and_counted_at_its_output() {
    // x is busy with slot 5 from 6 ms to 16.5 ms. The link holds four packets, 5 to 8; those of slots 9 to 16 find no room.
    let x = spec("x", "stall").param("slot", 5).param("us", 10_500);
    let made = chain(waveform(), [spec("a", "source"), x, spec("y", "watch")]);
    let report = simulate(&registry(), &made, &[0, 1, 1], 20);
    let dropped: Vec<_> = report.components.iter().map(|c| (c.name.as_str(), c.dropped_packets)).collect();
    assert_eq!(dropped, [("a", 8), ("x", 0), ("y", 0)]);
    let output = &report.components[0].outputs[0];
    assert_eq!((output.name.as_str(), output.dropped_packets, output.broken_packets), ("out", 8, 0));
    assert_eq!((report.dropped_packets, report.is_clean()), (8, false));
}

/// Items that [`Wayward`] gives in each slot: of a fixed output of four, one of half the input's four, one of up to four.
const GIVEN: [[usize; 3]; 5] = [[4, 2, 4], [0, 0, 0], [3, 1, 3], [5, 3, 5], [usize::MAX; 3]];

struct Wayward;

impl Component for Wayward {
    fn tick(&mut self, io: &mut Io<'_>) {
        for (output, items) in io.outputs.iter_mut().zip(GIVEN[io.slot as usize]) {
            output.write::<u8>().fill(1);
            output.write::<u8>().truncate(items);
        }
    }
}

#[test]
fn a_packet_of_a_length_that_the_shape_does_not_allow_is_broken_and_counted_at_its_output() {
    let registry = registry_with(Registration {
        kind: || Kind::new("wayward", "Gives too few, or too many."),
        shape: |_| {
            let shape = Shape::new().input("in", Item::Byte).output("fixed", Item::Byte, Length::Fixed(4));
            let shape = shape.output("half", Item::Byte, Length::Ratio { num: 1, den: 2, of: 0 });
            Ok(shape.output("some", Item::Byte, Length::UpTo(4)))
        },
        make: |_| Ok(Box::new(Wayward)),
    });
    let mut made = waveform().with(spec("a", "source").param("items", 4)).with(spec("w", "wayward")).chain(["a", "w"]);
    for output in ["fixed", "half", "some"] {
        made = made.with(spec(output, "watch")).link(&format!("w.{output}"), output);
    }
    let report = simulate(&registry, &made, &[0; 5], 5);
    let of = |output: &takt_runtime::OutputReport| (output.name.clone(), output.broken_packets, output.first_broken);
    let first = |slot, items, declared_items| Some(BrokenPacket { slot, items, declared_items });
    let expected = [
        ("fixed".to_owned(), 3, first(2, 3, 4)),
        ("half".to_owned(), 3, first(2, 1, 2)),
        ("some".to_owned(), 2, first(3, 5, 4)),
    ];
    assert_eq!(report.components[1].outputs.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!((report.misses, report.broken_packets, report.is_clean()), (0, 8, false));
    // Consumers get nothing instead, and what is allowed passes.
    for (output, empty) in [("fixed", 4), ("half", 4), ("some", 3)] {
        let got = (result(&report, output, "empty"), result(&report, output, "missing"));
        assert_eq!(got, (&empty.into(), &0.into()), "{output}");
    }
}
