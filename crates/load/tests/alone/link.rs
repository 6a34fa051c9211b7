//! Workload `link` over two software X310 on loopback, from settings to a result.

use std::net::Ipv4Addr;

use serde_json::{Value, json};
use takt_base::Stop;
use takt_emulator::air::Scene;
use takt_emulator::emulate::{EmulatorOptions, InAir};
use takt_load::link::{LinkOutcome, terminal_radio};
use takt_load::setting::Settings;
use takt_load::{PointWorkload, Target, WorkloadKind};
use takt_testing::not_judged;

/// Slow enough for a machine that does other things as well.
const SPEED: &str = "0.2";

fn point() -> Box<dyn PointWorkload> {
    let given =
        json!({ "prb": 6, "speed": SPEED, "duration": "400ms", "down_bps": 200_000, "attempts": 2, "patience": "2s" });
    let given = serde_json::from_value(given).expect("settings");
    let settings = Settings::complete(given, WorkloadKind::Link.settings().iter());
    WorkloadKind::Link.workload().at(&settings).expect("levels that a link knows")
}

/// The result of a round whose radios are at `radio`.
fn round(radio: Ipv4Addr) -> Value {
    let (workload, point) = (WorkloadKind::Link.workload(), point());
    let air = point.air(radio).expect("a link has an air");
    let mut scene = Scene::parse("test", &air.scene).expect("a scene");
    let speed = air.speed.parse().expect("a speed");
    scene.apply(&EmulatorOptions { speed, ..EmulatorOptions::default() }).expect("options of all radios");
    let radios = InAir::start(&scene).expect("radios");
    let target = Target { addr: radio, transmit: false, device: None, host_cpus: &[0], cable_bps: None };
    let options = point.options(&target).expect("options");
    let result = workload.run(options, &Stop::new()).expect("the link runs");
    radios.stop().expect("the radios ran");
    result
}

#[test]
fn a_link_connects_twice_and_the_first_attempt_carries_the_load() {
    let addr = takt_testing::loopback(41);
    let result = round(addr);
    let outcome: LinkOutcome = serde_json::from_value(result.clone()).expect("its own document");
    assert_eq!(outcome.options.terminal, terminal_radio(addr));
    assert!(outcome.complete);
    if !outcome.kept_up {
        return not_judged(format!("{} bursts came too late to the radios", outcome.late_bursts));
    }
    assert_eq!((outcome.attempted, outcome.attempts.len()), (2, 2));
    assert_eq!((outcome.connected, outcome.connected_share, outcome.losses), (2, 1.0, 0));
    assert!(outcome.attempts.iter().all(|one| one.reached == "attached" && one.attach_ms.is_some()), "{outcome:?}");
    let load = outcome.load.expect("the first carries the load");
    // 400 subframes at 200 bits each, in packets of 1400 bytes.
    assert_eq!((load.sent, load.received, load.lost_share), (7, 7, 0.0));
    assert!(load.jitter_ms.is_some_and(f64::is_finite), "{load:?}");
    assert!(outcome.attempts[1].load.is_none());
    let threads: Vec<&str> = load.threads.iter().map(|thread| thread.name.as_str()).collect();
    assert!(threads.contains(&"enb") && threads.contains(&"ue"), "{threads:?}");
    // The quantities that the lab averages over rounds are there.
    for quantity in WorkloadKind::Link.quantities() {
        assert!(quantity.read(&result).is_some(), "{}", quantity.name);
    }
    assert!(point().again(1, &result).is_none());
}

#[test]
fn an_end_whose_radio_does_not_answer_says_which_and_that_another_round_may_do() {
    let (workload, point) = (WorkloadKind::Link.workload(), point());
    let target =
        Target { addr: takt_testing::loopback(42), transmit: false, device: None, host_cpus: &[0], cable_bps: None };
    let options = point.options(&target).expect("options");
    let failure = workload.run(options, &Stop::new()).expect_err("nothing answers there");
    assert!(failure.chain[0].ends_with("can't run"), "{failure:?}");
    assert!(!failure.lasting, "{failure:?}");
}
