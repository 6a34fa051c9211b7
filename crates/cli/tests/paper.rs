//! `takt paper` as a user calls it: a study so small that it takes seconds. Figures depend on the machine; what is asserted
//! is that documents, page and exit status agree.

mod support;

use serde_json::Value;
use support::{Place, json, page_of, status_of};

/// The parts of the study, each with as little as it can do.
const PARTS: &str = r#"
[[part]]
name = "execution"
factors = { slots = [10, 50] }
fixed = { slot = "5ms", workload = { kind = "waveform", waveform = "utran", duration = "1s", warm_up = "0s" } }
[[part]]
name = "longest"
factors = { slot = ["10ms"] }
fixed = { workers = 1, workload = { kind = "longest-packet", waveform = "modem", duration = "20ms" } }
[[part]]
name = "interface"
factors = { packet_bytes = [12500] }
fixed = { count = 200, workload = { kind = "interface" } }
[[part]]
name = "overhead"
factors = { components = [2, 6] }
fixed = { workload = { kind = "waveform", waveform = "chain", clock = "free", slots = 200, duration = "1s", warm_up = "0s" } }
[[part]]
name = "roles"
fixed = { slot = "2ms", workload = { kind = "roles", components = 4, duration = "50ms" } }
[[part]]
name = "memory"
factors = { components = [2, 6] }
fixed = { process = "fresh", workload = { kind = "waveform", waveform = "chain", slot = "5ms", duration = "60ms", warm_up = "0s" } }
[[part]]
name = "same"
factors = { latency = ["fixed", "compact"] }
fixed = { packet = 64, workload = { kind = "waveform", waveform = "bpsk", clock = "free", slots = 50, duration = "1s", warm_up = "0s" } }
"#;

#[test]
fn a_study_measures_and_stands_beside_the_paper_and_its_status_is_its_answer() {
    let place = Place::with_study("aloe", 1, PARTS);
    let output = place.takt(&["paper", "aloe", "--quick", "--file", "small.toml", "--json"]);
    let outcome = json(&output);
    assert_eq!(output.status.code(), Some(status_of(&outcome["answer"])), "{outcome:#}");
    assert_eq!((outcome["schema"].as_u64(), outcome["study"].as_str()), (Some(1), Some("aloe")));
    assert_eq!(outcome["complete"], true);
    assert_eq!(outcome["rounds"]["valid"], 11, "{:#}", outcome["records"]);
    let value = |pointer: &str| outcome.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"));
    assert_eq!((value("/execution/few_slots"), value("/execution/many_slots")), (10.0, 50.0));
    assert_eq!(outcome["execution"]["components"].as_array().map(Vec::len), Some(14));
    let (all, decoder) = (value("/execution/total/many_ns/value"), value("/execution/components/12/many_ns/value"));
    assert!(decoder > 0.0 && all > decoder, "the turbo decoder's {decoder} of {all} ns");
    let rate = value("/execution/mac_per_s/value");
    assert!((value("/execution/total/kmac") - all * rate / 1e12).abs() < 1e-6 * rate);
    // A slot that the machine stood still through is not executed.
    assert!((1.0..=50.0).contains(&value("/execution/histograms/1/measured")));
    assert_eq!(value("/paper/execution/total/x86_us"), 3250.0);
    assert!(value("/longest/0/bits/value") >= 16.0);
    assert_eq!(value("/interface/0/packet_bits"), 100_000.0);
    assert_eq!(value("/interface/0/measured"), 200.0);
    assert!(value("/interface/0/over_floor/value") > 0.0);
    assert!(value("/overhead/module_ns/value").is_finite() && value("/overhead/base_ns/value").is_finite());
    assert!(value("/overhead/between/measured") > 0.0);
    assert!(value("/memory/base_bytes/value") > 0.0);
    assert!(value("/floors/clock_read_ns") > 0.0);
    assert_eq!(value("/paper/overhead/x86_module_us"), 5.94);
    let role = |name: &str| {
        let roles = outcome["roles"].as_array().expect("roles").iter();
        roles.clone().find(|role| role["name"] == name).unwrap_or_else(|| panic!("{name}")).clone()
    };
    assert!(role("STATS")["per_slot_ns"]["value"].is_number());
    assert!(role("SWLOAD")["per_slot_ns"].is_null() && role("SWLOAD")["once_ns"]["value"].as_f64() > Some(0.0));
    assert!(role("FRONTEND")["per_slot_ns"].is_null() && role("FRONTEND")["once_ns"].is_null());
    let claims = outcome["claims"].as_array().expect("claims");
    assert_eq!(claims.len(), 8);
    assert_eq!((claims[0]["answer"].as_str(), claims[0]["covered"].as_bool()), (Some("holds"), Some(true)));
    assert_eq!((claims[4]["answer"].as_str(), claims[4]["covered"].as_bool()), (Some("unknown"), Some(false)));
    let parts = claims[4]["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 3, "whatever this machine has: {parts:#?}");
    assert!(parts.iter().all(|part| part["verdict"] == "not_judged" && part["open"] == false), "{parts:#?}");
    let tally = |name: &str| outcome["parts"][name].as_u64().expect("a count");
    assert_eq!(tally("counted"), 9, "of the claims that are counted");
    assert_eq!(tally("seen") + tally("fails") + tally("not_judged"), 9, "{:#}", outcome["parts"]);

    let page = page_of(&place, &outcome);
    assert!(page.starts_with("<!") && page.contains("Table II") && page.contains("Figure 1"));
    let (seen, verb) = (tally("seen"), if tally("seen") == 1 { "holds" } else { "hold" });
    assert!(
        page.contains(&format!("{seen} of the 9\u{a0}parts of the paper&#39;s claims {verb}, ")),
        "the headline counts parts"
    );
    assert_eq!(json(&place.takt(&["report", "last", "--json"])), outcome, "read again it says the same");
    beside_and_for_print(&place, &outcome);
}

/// The same run on both sides, and its figures for print.
fn beside_and_for_print(place: &Place, outcome: &Value) {
    let run = outcome["run"].as_str().expect("a name");
    let both = json(&place.takt(&["report", run, "last", "--json"]));
    assert_eq!((&both["first"], &both["second"]), (outcome, outcome));
    let page = std::fs::read_to_string(place.path(&format!("takt-runs/{run}/report-beside.html"))).expect("a page");
    assert!(page.contains("Values of both") && page.contains("second over first"), "{page}");
    let printed = place.takt(&["report", "last", "--figures", "print", "--width", "120"]);
    assert!(printed.status.success(), "{}", support::report(&printed));
    let files: Vec<String> = std::fs::read_dir(place.path("print"))
        .expect("a folder")
        .map(|entry| entry.expect("a file").file_name().into_string().expect("text"))
        .collect();
    let of = |end: &str| files.iter().filter(|name| name.ends_with(end)).count();
    assert!(of(".svg") > 0 && of(".svg") == of(".csv") && of(".svg") + of(".csv") == files.len(), "{files:?}");
    let one = files.iter().find(|name| name.ends_with(".svg")).expect("a figure");
    let svg = std::fs::read_to_string(place.path("print").join(one)).expect("a figure");
    assert!(svg.contains("width=\"120mm\"") && !svg.contains("var("), "{svg}");
    as_png(place, of(".svg"));
    let wide = place.takt(&["report", "last", "--figures", "print", "--width", "10"]);
    support::has(&support::refusal(&wide), &["\"10\" is not 60 to 297 mm"]);
}

/// Each figure also as PNG; a build without it says how to get them.
fn as_png(place: &Place, figures: usize) {
    let drawn = place.takt(&["report", "last", "--figures", "pixels", "--png"]);
    if !cfg!(feature = "png") {
        support::has(&support::refusal(&drawn), &["built without PNG", "--features png", "rsvg-convert"]);
        return;
    }
    if String::from_utf8_lossy(&drawn.stderr).contains("has no font") {
        return takt_testing::skip("this host has no font   (apt-get install fonts-dejavu-core)");
    }
    assert!(drawn.status.success(), "{}", support::report(&drawn));
    let entries = std::fs::read_dir(place.path("pixels")).expect("a folder").map(|entry| entry.expect("a file").path());
    let files: Vec<_> = entries.filter(|path| path.extension().is_some_and(|kind| kind == "png")).collect();
    assert_eq!(files.len(), figures);
    assert!(files.iter().all(|path| std::fs::read(path).expect("a file").starts_with(b"\x89PNG\r\n")));
}

/// Nothing is measured twice because of it: what will be left out is reported before the first round.
#[test]
fn what_a_study_needs_and_this_machine_lacks_is_reported_first_with_what_brings_it() {
    let file = "question = \"?\"\n[study]\nname = \"virtual-sdr\"\n[[part]]\nname = \"link\"\n\
                factors = { environment = [\"native\", \"vm\"] }\n\
                fixed = { payload_bytes = 256, direction = \"both\", path = \"loopback\", workload = { kind = \"udp\", \
                offered = 1000, duration = \"20ms\", warm_up = \"0s\" } }\n\
                [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
    let place = Place::with("small.toml", file);
    let mut command = place.command(&["paper", "virtual-sdr", "--quick", "--file", "small.toml", "--json"]);
    let done = command.env("PATH", place.path("empty")).output().expect("takt");
    let said = String::from_utf8_lossy(&done.stderr);
    let first: Vec<&str> = said.lines().take(2).collect();
    assert!(first[0].starts_with("vm can't be had here, and will be left out: this machine has no QEMU"), "{said}");
    assert!(first[1].starts_with("  fix   ") && first[1].contains("install"), "{said}");
    let vm = &json(&done)["records"];
    assert!(vm.to_string().contains("this machine has no QEMU"), "{vm:#}");
}
