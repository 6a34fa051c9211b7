//! Both ends of the link on the clocks of two radios, each with a session of its own, as `takt run --clock radio` runs them.
//!
//! The radios' time passes at a twentieth of the host's, or as `TAKT_SPEED` says. A machine that is too busy even for that is not
//! judged. With `--nocapture` it prints what each component counted.

#![allow(clippy::print_stdout, reason = "figures for who asks")]

use std::net::Ipv4Addr;
use std::sync::Arc;

use takt_base::Stop;
use takt_emulator::air::Scene;
use takt_emulator::emulate::{EmulatorOptions, InAir};
use takt_graph::{Graph, Latency, Plan, Value, Waveform};
use takt_packet::EngineKind;
use takt_radio::n200::OpenOptions;
use takt_radio::{Model, WallNet};
use takt_radio_waveform::{RadioClock, RadioRequirements, late_answers};
use takt_runtime::{Registry, Report, Session, SessionOptions, SlotClock};
use takt_testing::{loopback, not_judged};

const STATION: &str = include_str!("../../../../waveforms/lte-enb.toml");
const TERMINAL: &str = include_str!("../../../../waveforms/lte-ue.toml");

/// Slots of the terminal: it attaches in some 200, and its load begins with slot 500.
const SLOTS: u64 = 900;

/// Seconds of the radios in a second of this host.
fn speed() -> String {
    std::env::var("TAKT_SPEED").unwrap_or_else(|_| "0.05".to_owned())
}

/// The air of scenes/lte.toml, with other addresses.
fn scene([station, terminal]: [Ipv4Addr; 2]) -> Scene {
    let text = include_str!("../../../../scenes/lte.toml");
    let text = text.replace("127.0.0.43", &station.to_string()).replace("127.0.0.44", &terminal.to_string());
    let mut scene = Scene::parse("lte.toml", &text).expect("a scene");
    let options = EmulatorOptions { speed: speed().parse().expect("a speed"), ..EmulatorOptions::default() };
    scene.apply(&options).expect("of all radios");
    scene
}

/// Runs a waveform on the clock of the radio at `addr` until `stop`, or for so many slots.
fn run(text: &str, addr: Ipv4Addr, slots: Option<u64>, stop: &Stop) -> Report {
    takt_lte_waveform::link();
    let mut registry = Registry::of_program().expect("one name each");
    let graph = Graph::check(&Waveform::parse("lte.toml", text).expect("read"), &registry).expect("checked");
    let wanted = RadioRequirements::of(&graph).expect("a rate of a radio");
    assert_eq!((wanted.model(), wanted.rate_sps), (Model::X310, 1.92e6));
    let net = Arc::new(WallNet::new(EngineKind::Mmsg));
    let mut clock = RadioClock::open(net, addr.into(), &wanted, &OpenOptions::default()).expect("a radio");
    clock.equip(&mut registry);
    let options = SessionOptions { slots, clock: SlotClock::Edges(clock.edges()), ..SessionOptions::default() };
    let plan = Plan::single(&graph, Latency::Compact);
    let session = Session::open(&graph, &plan, &registry, options).expect("opened");
    let mut running = session.start_paused(stop).expect("started");
    clock.start(None, stop).expect("a stream");
    running.go();
    let report = running.join();
    clock.finish().expect("a stream to the end");
    report
}

fn result<'a>(report: &'a Report, component: &str, name: &str) -> Option<&'a Value> {
    report.components.iter().find(|found| found.name == component).expect("there").results.get(name)
}

fn count(report: &Report, component: &str, name: &str) -> i64 {
    match result(report, component, name) {
        Some(Value::Int(count)) => *count,
        other => panic!("{component} {name} is {other:?}"),
    }
}

#[test]
fn a_link_of_two_radios_comes_up_and_carries_its_load_both_ways() {
    let addrs = [loopback(43), loopback(44)];
    let radios = InAir::start(&scene(addrs)).expect("two radios");
    let stop = Stop::new();
    let [station, terminal] = std::thread::scope(|scope| {
        let station = scope.spawn(|| run(STATION, addrs[0], None, &stop));
        let terminal = run(TERMINAL, addrs[1], Some(SLOTS), &Stop::new());
        stop.request();
        [station.join().expect("no panic"), terminal]
    });
    let air = radios.stop().expect("they ran");
    for (sink, report) in [("sink-up", &station), ("sink-down", &terminal)] {
        assert_eq!(["wrong", "repeated"].map(|name| count(report, sink, name)), [0; 2], "{sink}");
    }
    let results = |report: &Report| -> Vec<String> {
        report.components.iter().map(|one| format!("{}: {:?}", one.name, one.results)).collect()
    };
    println!("{}\n\n{}", results(&station).join("\n"), results(&terminal).join("\n"));
    let (missed, late) = (station.misses + terminal.misses, late_answers(&station) + late_answers(&terminal));
    if missed > 0 || late > 0 {
        let lag = air.lag.max_us;
        return not_judged(format!("{missed} slots were missed, {late} answers late; the radios up to {lag} us"));
    }
    let attached = count(&terminal, "ue-stack", "attached_slot");
    assert!(attached < 300, "{attached}");
    assert_eq!(count(&terminal, "ue-stack", "links_lost"), 0);
    for (sink, report) in [("sink-up", &station), ("sink-down", &terminal)] {
        assert!(count(report, sink, "packets") > 50, "{sink}: {}", count(report, sink, "packets"));
        assert_eq!(["missing", "reordered"].map(|name| count(report, sink, name)), [0; 2], "{sink}");
    }
    // The samples of a slot are on the air where the cell expects them.
    let misplaced =
        [(&station, "enb-send", "misplaced"), (&terminal, "ue-send", "late"), (&terminal, "ue-send", "early")];
    assert_eq!(misplaced.map(|(report, component, name)| count(report, component, name)), [0; 3]);
    let answers = count(&terminal, "transmit", "answers");
    assert!(answers > 100 && count(&terminal, "transmit", "missed") < 5, "silence is none: {answers}");
}
