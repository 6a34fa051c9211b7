//! A lost packet is not an empty one: whatever stands between the loss and a component, the component finds it missing, once; and
//! a packet that its source did not give stays empty.

use std::collections::BTreeSet;

use proptest::prelude::*;
use takt_base::Stop;
use takt_graph::{Domain, Graph, Item, Kind, Latency, Length, ParamSpec, Params, Plan, Shape, Value};
use takt_runtime::{Bench, Component, Io, Registration, Registry, Report, Session, SessionOptions, component};

use crate::common::{assign, of, registry, result, spec, waveform};

/// Items of a packet.
const ITEMS: u32 = 4;
const SLOTS: u64 = 40;

/// Gives packets of four bytes, but in every third slot none.
#[component]
fn waltz(slot: u64, #[port(fixed = ITEMS)] mut output: Out<u8>) {
    if slot % 3 == 2 {
        return output.truncate(0);
    }
    output.fill(slot as u8);
}

/// Passes packets on by one of the four kinds of output, gives nothing of an empty one, and loses what comes in some slots.
struct Leak {
    loses: BTreeSet<u64>,
    panics: bool,
    empty: i64,
    missing: i64,
}

impl Component for Leak {
    fn tick(&mut self, io: &mut Io<'_>) {
        let input = io.inputs[0].read::<u8>();
        let (missing, empty) = (input.missing(), input.is_empty());
        self.missing += i64::from(missing);
        self.empty += i64::from(empty && !missing);
        let mut output = io.outputs[0].write::<u8>();
        match empty {
            true => output.truncate(0),
            false => output.iter_mut().zip(input).for_each(|(out, byte)| *out = *byte),
        }
        if self.loses.contains(&io.slot) {
            if self.panics {
                // Without the hook's message, of which there would be hundreds.
                std::panic::resume_unwind(Box::new(()));
            }
            io.lose();
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        vec![("empty", self.empty.into()), ("missing", self.missing.into())]
    }
}

fn leak(params: &Params) -> Leak {
    let loses = params.floats("loses").unwrap_or_default().iter().map(|&slot| slot as u64).collect();
    Leak { loses, panics: params.bool("panics") == Some(true), empty: 0, missing: 0 }
}

const GIVES: [&str; 3] = ["fixed", "ratio", "up-to"];

fn all() -> Registry {
    let mut all = registry();
    let registration = Registration {
        kind: || {
            let gives = Domain::Choice { of: GIVES.map(str::to_owned).to_vec() };
            Kind::new("leak", "Loses packets.")
                .param(ParamSpec::new("gives", gives, "Which kind of output.").default("fixed"))
                .param(
                    ParamSpec::new("loses", Domain::Floats { max_len: 100 }, "In which slots.")
                        .default(Vec::<f64>::new()),
                )
                .param(ParamSpec::new("panics", Domain::Bool, "Whether it panics then.").default(false))
        },
        shape: |params| {
            let length = match params.text("gives") {
                Some("ratio") => Length::Ratio { num: 1, den: 1, of: 0 },
                Some("up-to") => Length::UpTo(ITEMS),
                _ => Length::Fixed(ITEMS),
            };
            Ok(Shape::new().input("in", Item::Byte).output("out", Item::Byte, length))
        },
        make: |params| Ok(Box::new(leak(params))),
    };
    all.add(registration).expect("a name of its own");
    all
}

/// One component of the chain: its kind of output, where it runs, what it loses, and whether by a panic.
type Link = (usize, usize, BTreeSet<u64>, bool);

fn links() -> impl Strategy<Value = Vec<Link>> {
    let loses = prop::collection::btree_set(0..SLOTS, 0..6);
    prop::collection::vec((0..GIVES.len(), 0..2_usize, loses, any::<bool>()), 1..7)
}

/// Source, the links, and a component behind them that loses nothing.
fn built(links: &[Link], all: &Registry) -> (Graph, Plan) {
    let mut made = waveform().with(spec("source", "waltz"));
    let mut last = "source".to_owned();
    let behind = (0, 0, BTreeSet::new(), false);
    for (n, (gives, _, loses, panics)) in links.iter().chain([&behind]).enumerate() {
        let name = format!("c{n}");
        let loses: Vec<f64> = loses.iter().map(|&slot| slot as f64).collect();
        let leak = spec(&name, "leak").param("gives", GIVES[*gives]).param("loses", loses).param("panics", *panics);
        made = made.with(leak).link(&last, &name);
        last = name;
    }
    made = made.with(spec("sink", "watch")).link(&last, "sink");
    let graph = Graph::check(&made, all).unwrap_or_else(|error| panic!("{error}; {}", error.fix()));
    let workers: Vec<usize> = [0].into_iter().chain(links.iter().map(|link| link.1)).chain([1, 0]).collect();
    let plan = assign(&graph, &workers, Latency::Compact);
    (graph, plan)
}

fn count(report: &Report, component: &str, name: &str) -> i64 {
    match result(report, component, name) {
        Value::Int(n) => *n,
        other => panic!("{other}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn each_loss_is_counted_once_by_each_component_behind_it_and_by_none_before(links in links(), burst in 1..8_u64) {
        let all = all();
        let (graph, plan) = built(&links, &all);
        let open = |burst| {
            let options = SessionOptions { slots: Some(SLOTS), burst, ..SessionOptions::default() };
            Session::open(&graph, &plan, &all, options).expect("opens")
        };
        let (virtual_time, threads) = (open(1).simulate(), open(burst).run(&Stop::new()).expect("ran"));
        prop_assert_eq!(&virtual_time.output_hash, &threads.output_hash);
        for report in [virtual_time, threads] {
            // Lost before the component at hand, in which slots.
            let mut lost: BTreeSet<u64> = BTreeSet::new();
            for (n, (_, _, loses, panics)) in links.iter().enumerate() {
                let (name, found) = (format!("c{n}"), of(&report, &format!("c{n}")));
                prop_assert_eq!(found.missing_packets, lost.len() as u64, "{}", name);
                prop_assert_eq!(count(&report, &name, "missing"), lost.len() as i64, "{}", name);
                let empty = (0..SLOTS).filter(|slot| slot % 3 == 2 && !lost.contains(slot)).count() as i64;
                prop_assert_eq!(count(&report, &name, "empty"), empty, "{}", name);
                let own = if *panics { (0, loses.len() as u64) } else { (loses.len() as u64, 0) };
                prop_assert_eq!((found.lost, found.faults), own, "{}", name);
                lost.extend(loses);
            }
            prop_assert_eq!(count(&report, "sink", "missing"), lost.len() as i64);
            let empty = (0..SLOTS).filter(|slot| slot % 3 == 2 || lost.contains(slot)).count() as i64;
            prop_assert_eq!(count(&report, "sink", "empty"), empty);
            prop_assert!((report.broken_packets, report.dropped_packets) == (0, 0));
        }
    }
}

/// Reads two packets, and gives one of four bytes of both, one of as many as the first has, and one of up to four.
struct Join;

impl Component for Join {
    fn tick(&mut self, io: &mut Io<'_>) {
        let both = io.inputs.iter().all(|input| input.items() > 0);
        for output in &mut *io.outputs {
            let mut output = output.write::<u8>();
            output.fill(1);
            if !both {
                output.truncate(0);
            }
        }
    }
}

#[test]
fn of_two_inputs_the_one_that_is_lost_makes_the_packet_lost() {
    let shape = Shape::new().input("a", Item::Byte).input("b", Item::Byte);
    let shape = shape.output("fixed", Item::Byte, Length::Fixed(4));
    let shape = shape.output("ratio", Item::Byte, Length::Ratio { num: 1, den: 1, of: 0 });
    let mut bench = Bench::of(Join, shape.output("some", Item::Byte, Length::UpTo(4))).expect("suits");
    let mut lost = |a: Option<usize>, b: Option<usize>| {
        for (input, items) in [("a", a), ("b", b)] {
            match items {
                Some(items) => bench.feed(input, &vec![7_u8; items]),
                None => bench.lose(input),
            };
        }
        bench.tick();
        ["fixed", "ratio", "some"].map(|output| bench.is_lost(output))
    };
    assert_eq!(lost(Some(4), Some(4)), [false; 3]);
    assert_eq!(lost(Some(0), Some(4)), [false; 3], "nobody gave anything");
    assert_eq!(lost(None, Some(4)), [true; 3]);
    assert_eq!(lost(Some(4), None), [true; 3]);
    assert_eq!(lost(Some(0), None), [true, false, true], "as many as the first input has: none was due");
}

/// Collects four packets for one of its own.
struct Collect;

impl Component for Collect {
    fn tick(&mut self, io: &mut Io<'_>) {
        let missing = io.inputs[0].is_missing();
        let mut output = io.outputs[0].write::<u8>();
        match io.slot % 4 {
            3 if missing => output.lose(),
            3 => output.fill(1),
            _ => output.withhold(),
        }
    }
}

#[test]
fn what_is_not_due_is_not_lost_and_what_a_component_says_is_lost_is() {
    let shape = Shape::new().input("in", Item::Byte).output("out", Item::Byte, Length::Fixed(4));
    let mut bench = Bench::of(Collect, shape).expect("suits");
    let mut tick = |lost: bool| {
        if lost {
            bench.lose("in");
        } else {
            bench.feed("in", &[1_u8]);
        }
        bench.tick();
        (bench.is_lost("out"), bench.output_bytes(0).len())
    };
    assert_eq!([tick(false), tick(true), tick(false), tick(false)], [(false, 0), (false, 0), (false, 0), (false, 4)]);
    assert_eq!([tick(false), tick(true), tick(false), tick(true)], [(false, 0), (false, 0), (false, 0), (true, 0)]);
}
