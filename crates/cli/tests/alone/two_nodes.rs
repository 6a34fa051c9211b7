//! Two nodes joined by a cable of the testbed: what the cable can't carry is missed and laid to it, what it can carry is not, and
//! the study `aloe` has its third curve, or says why not.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use takt_agent::Service;
use takt_base::Stop;
use takt_host::leftovers::Registry;
use takt_load::nodes::{CABLE, NodesOptions, ServeOptions};
use takt_load::waveform::{Latency, Packet, Slots, WaveformOptions};
use takt_testbed::environment::{EnvironmentKind, Site, SiteError, SiteOptions, Spec, open};
use takt_testbed::net::PathSpec;
use takt_testing::{not_judged, skip};

use crate::support::{Place, TAKT, json as document, page_of, status_of};

/// Bits of the source in a slot: with 16 bits of samples for each, four times what 1 Mb/s carries in that.
const FLOOD: u32 = 1_000;
const SLOT: Duration = Duration::from_millis(4);

/// Runs a workload on two nodes, joined by a cable of that rate; `None`, on record, where namespaces are not permitted.
#[track_caller]
fn joined(rate: &str, workload: &str, packet: Packet) -> Option<Result<Value, String>> {
    let run = Registry::system().begin("test").expect("a record");
    let environment = open(&Spec { kind: EnvironmentKind::Native, ..Spec::default() }, PathBuf::from(TAKT), &run, None)
        .expect("native");
    let mut path = PathSpec::named("direct").expect("a path");
    path.set("rate", rate).expect("a rate");
    let cable_bps = path.rate_bps.map(|bps| bps as f64);
    let options = SiteOptions { path: Some(path), ..SiteOptions::default() };
    let mut site = match Site::bring_up(&options, &*environment, &run, "nodes") {
        Ok(site) => site,
        Err(SiteError::Path(error)) if error.is_unavailable() => {
            skip(format!("{error}   ({})", error.fix().unwrap_or_default()));
            return None;
        }
        Err(error) => panic!("{error:?}"),
    };
    let second = site.in_force.radio_addr;
    let other = site.radio.as_mut().expect("the other side");
    other.start(Service::Node, json!(ServeOptions { address: second })).expect("it listens");
    let waveform = WaveformOptions {
        waveform: "modem".to_owned(),
        packet,
        slot: SLOT,
        duration: Duration::from_millis(100),
        slots: Slots::Count(40),
        latency: Latency::Fixed,
        ..WaveformOptions::default()
    };
    let options = NodesOptions { second, cable_bps, last_on_first: Some("modulator".to_owned()), waveform };
    let ran = site.host.run(workload, json!(options), Duration::from_secs(60), &Stop::new());
    Some(ran.map_err(|error| error.to_string()))
}

fn blamed(result: &Value) -> Vec<&str> {
    let all = result["blamed"].as_array().expect("a list").iter();
    all.map(|one| one["component"].as_str().unwrap_or("release")).collect()
}

#[test]
fn what_a_cable_can_not_carry_is_missed_and_laid_to_the_cable() {
    let Some(flooded) = joined("1M", "waveform-two-nodes", Packet::Items(FLOOD)) else { return };
    let flooded = flooded.expect("it runs");
    assert!(flooded["nodes"]["cable"]["used_share"].as_f64() > Some(4.0), "{}", flooded["nodes"]);
    assert!(flooded["misses"].as_u64() > Some(0));
    assert!(blamed(&flooded).contains(&CABLE), "{:?}", blamed(&flooded));
    assert_ne!(flooded["output_hash"], flooded["output_hash_on_one"]);

    // The same packets, on a cable that has room for them.
    let Some(carried) = joined("100M", "waveform-two-nodes", Packet::Items(FLOOD)) else { return };
    let carried = carried.expect("it runs");
    assert!(carried["nodes"]["cable"]["used_share"].as_f64() < Some(0.05), "{}", carried["nodes"]);
    assert!(!blamed(&carried).contains(&CABLE), "{:?}", blamed(&carried));
    if carried["misses"] != 0 {
        return not_judged(format!("{} missed, by {:?}", carried["misses"], blamed(&carried)));
    }
    assert_eq!(carried["output_hash"], carried["output_hash_on_one"]);
}

#[test]
fn the_longest_packet_is_what_the_cable_carries() {
    let Some(found) = joined("1M", "longest-packet-two-nodes", Packet::AsWritten) else { return };
    let found = match found {
        Ok(found) => found,
        Err(error) => return not_judged(error),
    };
    // 16 bits of samples for each bit; what waits in two slots' time may pass beside that, once.
    let bits = found["bits"].as_f64().expect("bits");
    let most = 1e6 * SLOT.as_secs_f64() / 16.0;
    assert!(bits > 0.0 && bits < 1.05 * most, "{bits} of {most}");
    assert!(found["trials"].as_array().expect("trials").iter().any(|trial| trial["misses"].as_u64() > Some(0)));
    match blamed(&found)[..] {
        [CABLE, ..] => assert!(bits > 0.5 * most, "{bits} of {most}"),
        ref other => not_judged(format!("ended by {other:?} at {bits} bits")),
    }
}

/// The parts of the study that two nodes take part in.
const PARTS: &str = r#"
[[part]]
name = "longest-two-nodes"
factors = { slot = ["4ms"] }
fixed = { path = "direct", path_rate = "10M", cut = "modulator", latency = "fixed", workload = { kind = "longest-packet-two-nodes", waveform = "modem", duration = "100ms" } }
[[part]]
name = "split"
factors = { slot = ["20ms"] }
fixed = { path = "direct", path_rate = "100M", slots = 10, latency = "fixed", workload = { kind = "waveform-two-nodes", waveform = "utran", duration = "1s" } }
"#;

#[test]
fn the_study_has_its_third_curve_and_its_split_chain() {
    let place = Place::with_study("aloe", 1, PARTS);
    let output = place.takt(&["paper", "aloe", "--quick", "--file", "small.toml", "--json"]);
    let outcome = document(&output);
    let nodes = &outcome["two_nodes"];
    if let Some(why) = nodes["skipped"].as_str().filter(|why| why.contains("can't be had")) {
        return skip(why);
    }
    assert_eq!(output.status.code(), Some(status_of(&outcome["answer"])), "{outcome:#}");
    let (curve, split) = (&outcome["longest"][0], &nodes["split"][0]);
    if outcome["rounds"]["valid"] != 2 {
        return not_judged(format!("{:#}", outcome["records"]));
    }
    assert_eq!((curve["nodes"].as_u64(), curve["workers"].as_u64()), (Some(2), Some(1)));
    assert!(curve["cable_used_share"]["value"].as_f64() < Some(1.05), "{curve:#}");
    assert_eq!((split["on_first"][0].as_str(), split["rounds"].as_u64()), (Some("source"), Some(1)), "{split:#}");
    assert_eq!(split["slots"], 10);
    assert_eq!(split["link_ns"]["value"], 307_200.0);
    for number in [5, 8] {
        let claims = outcome["claims"].as_array().expect("claims");
        let claim = claims.iter().find(|claim| claim["number"] == number).expect("a claim");
        assert_eq!(claim["covered"], true, "{claim:#}");
    }
    assert!(page_of(&place, &outcome).contains("2 nodes"));
}

#[test]
fn without_namespaces_the_curve_is_left_out_with_its_reason_and_its_claims_are_not_covered() {
    let place = Place::with_study("aloe", 1, PARTS);
    let outcome = document(
        &place
            .command_of_a_user(&["paper", "aloe", "--quick", "--file", "small.toml", "--json"])
            .output()
            .expect("takt"),
    );
    if outcome["rounds"]["skipped"] != 2 {
        return skip("an ordinary user may make namespaces here: nothing is left out");
    }
    let why = outcome["two_nodes"]["skipped"].as_str().unwrap_or_else(|| panic!("{outcome:#}"));
    assert!(why.contains("can't be had here"), "{why}");
    assert_eq!(outcome["longest"][0]["bits"]["value"], Value::Null);
    assert!(outcome["longest"][0]["skipped"].is_string());
    for (number, claim) in [(5, &outcome["claims"][4]), (8, &outcome["claims"][7])] {
        assert_eq!((claim["number"].as_u64(), claim["covered"].as_bool()), (Some(number), Some(false)), "{claim:#}");
        assert!(claim["measured"].as_str().is_some_and(|said| said.contains("can't be had here")), "{claim:#}");
    }
}
