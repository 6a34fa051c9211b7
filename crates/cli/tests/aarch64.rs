//! The environment `aarch64`: an agent of another instruction set answers, measures over the path, and says what a processor of
//! its kind can do; the study `aloe` sets its times beside those here. A fleet of two kinds of processor computes what one does.
//!
//! ```text
//! CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc cargo build --target aarch64-unknown-linux-gnu \
//!     --features takt/full
//! cargo test --package takt --test aarch64 --features takt/full
//! ```
//!
//! It takes QEMU's user emulation and a takt for aarch64 of the same profile; what is missing is skipped, on record. Nobody
//! asserts a time: that one kind of processor is slower than another is QEMU's doing.

mod support;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json, to_value};
use support::{Place, json as document};
use takt_agent::Service;
use takt_base::Stop;
use takt_host::leftovers::{Registry, Run};
use takt_testbed::environment::{Environment, EnvironmentKind, Site, SiteError, SiteOptions, Spec, open};
use takt_testbed::net::RadioPair;
use takt_testing::skip;
use takt_udp::{ServeOptions, UdpOptions};

/// The environment; `None`, on record, where it can't be had.
#[track_caller]
fn environment(run: &Run) -> Option<Box<dyn Environment>> {
    let spec = Spec { kind: EnvironmentKind::Aarch64, ..Spec::default() };
    match open(&spec, PathBuf::from(env!("CARGO_BIN_EXE_takt")), run, None) {
        Ok(environment) => Some(environment),
        Err(error) if error.is_unavailable() => {
            skip(format!("{error}   ({})", error.fix().expect("what is missing can be had")));
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

#[test]
fn an_agent_of_another_instruction_set_measures_over_the_path() {
    let run = Registry::system().begin("test").expect("a record");
    let Some(environment) = environment(&run) else { return };
    let mut site = match Site::bring_up(&SiteOptions::default(), &*environment, &run, "aarch64") {
        Ok(site) => site,
        Err(SiteError::Path(error)) if error.is_unavailable() => return skip(error),
        Err(error) => panic!("{error:?}"),
    };
    let holder = site.in_force.holder.clone();
    assert_eq!((holder.environment.as_str(), holder.processor.as_deref()), ("aarch64", Some("aarch64 cortex-a72")));
    assert!(holder.runtime.is_some_and(|runtime| runtime.starts_with("QEMU ")), "what translates");
    let serve = ServeOptions::at(SocketAddr::from((RadioPair::RADIO_ADDR, 0)));
    let radio = site.radio.as_mut().expect("the other side");
    let Ok(at) = radio.start(Service::UdpServer, to_value(serve).expect("a document")) else {
        return skip("the path is loopback: no address of a radio is there");
    };
    let mut options = UdpOptions::to(at[0].parse().expect("an address"));
    (options.datagrams_per_s, options.datagrams) = (Some(1000.0), Some(200));
    // They end it; the duration is a guard.
    options.duration = Duration::from_secs(300);
    let about = options.duration;
    let result = site.host.run("udp", to_value(options).expect("a document"), about, &Stop::new()).expect("a result");
    let count = |what: &str| result[what]["datagrams"].as_u64().unwrap_or_else(|| panic!("{result:#}"));
    assert_eq!(count("sent"), 200);
    assert!((100..=200).contains(&count("received")), "{result:#}");
}

/// The parts of the study that the ARM columns rest on.
const PARTS: &str = r#"
[[part]]
name = "execution"
factors = { slots = [20] }
fixed = { slot = "20ms", workload = { kind = "waveform", waveform = "utran", duration = "1s", warm_up = "0s" } }
[[part]]
name = "capacity"
factors = { environment = ["native", "aarch64"] }
fixed = { workload = { kind = "calibration", waveform = "utran" } }
[[part]]
name = "execution-aarch64"
factors = { slots = [20] }
fixed = { environment = "aarch64", slot = "200ms", workload = { kind = "waveform", waveform = "utran", duration = "10s", warm_up = "0s" } }
[[part]]
name = "roles-aarch64"
fixed = { environment = "aarch64", slot = "20ms", workload = { kind = "roles", components = 4, duration = "400ms" } }
"#;

#[test]
fn the_arm_columns_are_measured_and_their_errors_are_those_of_the_figures_beside_them() {
    let run = Registry::system().begin("test").expect("a record");
    if environment(&run).is_none() {
        return;
    }
    let place = Place::with_study("aloe", 2, PARTS);
    let outcome = document(&place.takt(&["paper", "aloe", "--quick", "--file", "small.toml", "--json"]));
    let there = &outcome["elsewhere"];
    assert_eq!(outcome["rounds"]["valid"], 10, "{:#}", outcome["records"]);
    assert!(there["processor"].as_str().is_some_and(|name| name.starts_with("aarch64 cortex-a72, QEMU")), "{there:#}");
    let value = |pointer: &str| {
        outcome.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {there:#}"))
    };
    let rounds = |pointer: &str| -> Vec<f64> {
        let rounds = outcome.pointer(pointer).and_then(Value::as_array).unwrap_or_else(|| panic!("{pointer}"));
        rounds.iter().map(|round| round["value"].as_f64().expect("a number")).collect()
    };
    // The paper's error of a block, from the times and the rates of its two rounds.
    let ratio = rounds("/elsewhere/components/12/over_here/rounds");
    let (here, away) = (rounds("/execution/mac_per_s/rounds"), rounds("/elsewhere/mac_per_s/rounds"));
    let errors = rounds("/elsewhere/components/12/error/mac_pct/rounds");
    assert_eq!((ratio.len(), errors.len()), (2, 2));
    for block in 0..2 {
        let expected = 100.0 * (1.0 - here[block] / away[block] / ratio[block]).abs();
        assert!((errors[block] - expected).abs() < 1e-6 * expected.max(1.0), "{errors:?}, not {expected}");
    }
    for by in ["clock_pct", "mac_pct", "instructions_pct"] {
        let each: f64 = (0..14).map(|n| value(&format!("/elsewhere/components/{n}/error/{by}/value"))).sum();
        let mean = value(&format!("/elsewhere/mean_error/{by}/value"));
        assert!((mean - each / 14.0).abs() < 1e-6 * mean.max(1.0), "{by}: {mean}, not {}", each / 14.0);
    }
    let role = |name: &str| {
        outcome["roles"].as_array().and_then(|roles| roles.iter().find(|role| role["name"] == name)).cloned()
    };
    assert!(role("SWLOAD").is_some_and(|role| role["elsewhere_ns"]["value"].as_f64() > Some(0.0)));
    let claim = &outcome["claims"][6];
    assert_eq!((claim["number"].as_u64(), claim["covered"].as_bool()), (Some(7), Some(true)), "{claim:#}");
    assert_eq!(outcome["claims"][4]["covered"], json!(false), "one machine tells nothing of several");
}

/// The paper's two ARMs. Slots that an emulated debug build holds.
const TWO: &str = r#"
[[part]]
name = "split-aarch64"
[part.factors]
second_node = ["native", "same"]
[part.fixed]
environment = "aarch64"
path        = "direct"
path_rate   = "100M"
slot        = "500ms"
slots       = 10
workload    = { kind = "waveform-two-nodes", waveform = "utran", latency = "fixed", duration = "60s" }
"#;

#[test]
fn two_nodes_may_both_be_of_another_instruction_set() {
    let run = Registry::system().begin("test").expect("a record");
    if environment(&run).is_none() {
        return;
    }
    let place = Place::with_study("aloe", 1, TWO);
    let outcome = document(&place.takt(&["paper", "aloe", "--quick", "--file", "small.toml", "--json"]));
    let split = outcome["two_nodes"]["split"].as_array().expect("a list");
    if let Some(why) = split.iter().find_map(|point| point["skipped"].as_str()) {
        return skip(why);
    }
    let pairs: Vec<(&Value, &Value)> =
        split.iter().map(|point| (&point["first_node"], &point["second_node"])).collect();
    assert_eq!(pairs, [(&json!("aarch64"), &json!("native")), (&json!("aarch64"), &json!("aarch64"))]);
    for point in split {
        assert_eq!((&point["rounds"], &point["other_output"]), (&json!(1), &json!(0)), "{:#}", outcome["records"]);
        if point["misses"] != 0 {
            takt_testing::not_judged(format!("{} slots were missed: the machine was too busy", point["misses"]));
        }
    }
}

/// Command that starts the takt for aarch64, where it knows clusters; `None`, on record, where it does not or can't be
/// started.
#[cfg(feature = "cluster")]
#[track_caller]
fn translated() -> Option<Vec<String>> {
    let target = PathBuf::from(support::TAKT).ancestors().nth(2).expect("target/debug/takt").to_owned();
    let beside = target.join("aarch64-unknown-linux-gnu/debug/takt");
    let takt = std::env::var_os("TAKT_AARCH64").map_or(beside, PathBuf::from);
    let words = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", takt.to_str().expect("text")].map(str::to_owned);
    let said = std::process::Command::new(&words[0]).args(&words[1..]).args(["node", "--help"]).output();
    // A program without clusters has the command, too, and none below it.
    if said.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("certificates")) {
        return Some(words.to_vec());
    }
    skip(format!(
        "no takt for aarch64 that knows clusters   (cargo build with --features takt/full, as {} says)",
        file!()
    ));
    None
}

#[cfg(feature = "cluster")]
#[test]
fn nodes_of_two_kinds_of_processor_compute_what_one_machine_computes() {
    let run = Registry::system().begin("test").expect("a record");
    if environment(&run).is_none() {
        return;
    }
    let Some(other) = translated() else { return };
    let cluster = support::cluster::Cluster::of_two_kinds(1, other);
    let class = |name: &str| cluster.facts(name).expect("there")["class"].as_str().expect("a name").to_owned();
    assert!(
        class("b").starts_with("aarch64-on-") && !class("a").starts_with("aarch64"),
        "{} {}",
        class("a"),
        class("b")
    );
    let file = support::cluster::waveform();
    let file = file.to_str().expect("a path");
    let alone = document(&cluster.takt(&["run", file, "--slots", "20", "--clock", "free", "--json"]));
    // Nothing is executed late in slots that long, and the channel gives the translated node more to do than the sink.
    let pins = ["--pin", "source=a", "--pin", "channel=b", "--pin", "sink=b"];
    let done = cluster.takt(
        &[&["run", file, "--cluster", "cluster/a", "--slot", "500ms", "--slots", "20", "--json"], &pins[..]].concat(),
    );
    let ended = document(&done);
    assert_eq!((&ended["slots"], &ended["losses"]), (&json!(20), &json!([])), "{}", support::report(&done));
    for name in ["a", "b"] {
        let executed = ended["nodes"][name]["report"]["components"].as_array().map(Vec::len);
        assert!(executed > Some(0), "{name}: {}", support::report(&done));
    }
    if ended["misses"] != 0 {
        return takt_testing::not_judged(format!("{} slots were missed: the machine was too busy", ended["misses"]));
    }
    assert!(alone["output_hash"].is_string(), "{alone:#}");
    assert_eq!(ended["output_hash"], alone["output_hash"]);
}
