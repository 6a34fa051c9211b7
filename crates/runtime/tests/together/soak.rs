//! Order and content under random stalls: whatever is late, each packet is there and right, or known to be missing; and
//! each slot was executed, or counted as missed.

use proptest::prelude::*;
use takt_base::Stop;
use takt_graph::{Graph, Latency, MissPolicy, Value};
use takt_runtime::{Report, Session, SessionOptions, SlotClock};

use crate::common::{self, assign, check, open, registry, spec, waveform};

/// Two chains that stall, and one that does not; all three end on each of the workers' sides.
fn shaky(seed: i64, one_in: i64, most_us: i64, policy: MissPolicy) -> Graph {
    let mut made = waveform();
    for (n, chain) in ["a", "b", "c"].into_iter().enumerate() {
        let name = |part: &str| format!("{chain}{part}");
        let hiccups = spec(&name("h"), if chain == "c" { "stall" } else { "hiccups" }).on_miss(policy);
        let hiccups = match chain {
            "c" => hiccups,
            _ => hiccups.param("seed", seed + n as i64).param("one_in", one_in).param("most_us", most_us),
        };
        let seeded = |part: &str, kind: &str| spec(&name(part), kind).param("seed", n as i64 + 1);
        let source = seeded("s", "source").param("items", 100);
        made = common::chain(made, [source, hiccups, seeded("v", "verify")]);
        made = made.with(seeded("w", "verify")).link(&name("h"), &name("w"));
    }
    check(&made)
}

fn of(report: &Report, component: &str, name: &str) -> i64 {
    match common::result(report, component, name) {
        Value::Int(n) => *n,
        other => panic!("{other}"),
    }
}

fn sound(report: &Report, slots: u64) {
    for component in &report.components {
        assert_eq!(component.executions + component.missed, slots, "{}", component.name);
        if component.kind == "verify" {
            let (right, wrong) = (of(report, &component.name, "right"), of(report, &component.name, "wrong"));
            let missing = of(report, &component.name, "missing");
            assert_eq!((wrong, right + missing), (0, component.executions as i64), "{}", component.name);
            assert_eq!(component.missing_packets as i64, missing);
        }
    }
}

proptest! {
    #[test]
    fn stalls_in_virtual_time_never_make_a_packet_wrong_and_never_cross_workers(
        seed in 0..1_000_000_i64,
        one_in in 2..40_i64,
        most_us in 1..9000_i64,
        fixed in any::<bool>(),
        repeat in any::<bool>(),
    ) {
        let policy = if repeat { MissPolicy::Repeat } else { MissPolicy::Skip };
        let graph = shaky(seed, one_in, most_us, policy);
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        // a on workers 0 and 1, b on 1 and 0, c on 2 alone.
        let plan = assign(&graph, &[0, 0, 0, 1, 1, 1, 1, 0, 2, 2, 2, 2], latency);
        let report = open(&graph, &plan, 300).simulate();
        sound(&report, 300);
        prop_assert_eq!((of(&report, "cv", "right"), of(&report, "cw", "right")), (300, 300), "worker 2 never stalls");
        let again = open(&graph, &plan, 300).simulate();
        prop_assert_eq!(again, report, "to the nanosecond");
    }
}

#[test]
fn stalls_on_the_wall_clock_never_make_a_packet_wrong() {
    if takt_host::affinity::own_cpus().len() < 2 {
        return takt_testing::skip("two processors for this process   (taskset gave it one)");
    }
    let graph = shaky(7, 50, 1500, MissPolicy::Skip);
    let plan = assign(&graph, &[0, 0, 0, 1, 1, 1, 1, 0, 0, 1, 0, 1], Latency::Compact);
    let options = SessionOptions { slots: Some(1500), clock: SlotClock::Wall, ..SessionOptions::default() };
    let report = Session::open(&graph, &plan, &registry(), options).expect("opened").run(&Stop::new()).expect("ran");
    sound(&report, 1500);
    assert!(report.misses > 0, "a stall of 1.5 slots every 50 slots leaves its mark");
}
