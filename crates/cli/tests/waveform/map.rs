//! `takt map` and `takt calibrate`.

use std::sync::LazyLock;

use serde_json::Value;

use crate::program::{chain, file, free, has, json, refusal, takt, text, waveform};

/// Output of `takt calibrate` for a core, measured once.
fn calibrated() -> &'static Value {
    static ONCE: LazyLock<Value> = LazyLock::new(|| json(&["calibrate", "--cores", "0"]));
    &ONCE
}

/// Costs as `--save-costs` writes them, of the class this machine has.
fn costs(ns: [u64; 5]) -> (tempfile::TempDir, String) {
    let class = calibrated()["class"].as_str().expect("a name").to_owned();
    let names = ["source", "modulator", "channel", "demodulator", "sink"];
    let cost = |ns: u64| serde_json::json!({ "p50_ns": ns, "p99_ns": ns, "max_ns": ns, "n": 100 });
    let components: serde_json::Map<_, _> =
        names.into_iter().zip(ns).map(|(name, ns)| (name.into(), cost(ns))).collect();
    file(serde_json::json!({ "reference": class, "components": components }).to_string().as_bytes())
}

#[test]
fn the_plan_meets_the_bound_where_it_can_and_says_so() {
    let (_folder, costs) = costs([10_000, 20_000, 60_000, 15_000, 15_000]);
    let found = json(&["map", &waveform("bpsk.toml"), "--cores", "0,1", "--costs", &costs]);
    let mapping = &found["mapping"];
    assert_eq!(found["fits"], true);
    assert_eq!([&mapping["period_ns"], &mapping["bound_ns"]], [60_000, 60_000]);
    let loads: Vec<u64> =
        mapping["core_loads"].as_array().expect("a list").iter().map(|l| l["load_ns"].as_u64().expect("ns")).collect();
    assert_eq!(loads.iter().sum::<u64>(), 120_000);
    let said = text(&takt(&["map", &waveform("bpsk.toml"), "--cores", "0,1", "--costs", &costs]).stdout);
    has(&said, &["no placement is better", "Yes: it fits; a slot is 16.7 times the period."]);
}

#[test]
fn what_does_not_fit_is_an_answer_with_the_bound_and_the_way_out() {
    let (_folder, costs) = costs([10_000, 20_000, 60_000, 15_000, 15_000]);
    let args = ["map", &waveform("bpsk.toml"), "--cores", "0,1", "--costs", &costs, "--slot", "50us"];
    let out = takt(&args);
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.contains("component `channel` takes 60 µs") && said.contains("a slot of 86 µs"), "{said}");
}

#[test]
fn a_waveform_is_tried_where_nobody_knows_its_costs_and_they_are_kept() {
    let (_folder, path) = free("costs.json");
    let (path, bpsk) = (path.as_str(), waveform("bpsk.toml"));
    // However slow the machine is, it fits.
    let found = json(&["map", &bpsk, "--cores", "0", "--slot", "10s", "--save-costs", path]);
    let again = json(&["map", &bpsk, "--cores", "0", "--slot", "10s", "--costs", path]);
    assert_eq!(found["costs"], again["costs"]);
    assert_eq!(found["mapping"]["plan"], again["mapping"]["plan"]);
    let run = json(&["run", &bpsk, "--slots", "50", "--clock", "free", "--cores", "0,1", "--costs", path]);
    assert_eq!(run["misses"], 0);
}

#[test]
fn a_calibration_is_a_platform_to_map_onto() {
    let (_folder, path) = free("here.toml");
    let measured = json(&["calibrate", "--cores", "0", "--out", &path]);
    assert!(measured["cores"][0]["mac_per_s"].as_f64().is_some_and(|rate| rate > 1e6), "{measured}");
    let pinned = ["--pin", "source=host", "--use-at-most", "1.0", "--slot", "10s"];
    let found = json(&[&["map", &waveform("bpsk.toml"), "--platform", &path], &pinned[..]].concat());
    assert_eq!(found["mapping"]["core_loads"][0]["core"], "host:0");
}

#[test]
fn each_prediction_says_what_it_rests_on_and_how_far_off_such_figures_were() {
    let components = [
        ("source", "bit-source", ""),
        ("modulator", "bpsk-modulate", ""),
        ("stall", "stall", "time_us = 1"),
        ("demodulator", "bpsk-demodulate", ""),
        ("sink", "bit-sink-compare", ""),
    ];
    let (folder, path) = chain("mixed", "10 s", &components);
    let platform = folder.path().join("board.toml");
    let platform = platform.to_str().expect("text");
    json(&["calibrate", "--cores", "0", "--class", "board", "--out", platform]);
    let found = json(&["map", &path, "--platform", platform]);
    let rows = found["predicted"].as_array().expect("a list");
    let metric = |name: &str| rows.iter().find(|row| row["component"] == name).expect("there")["metric"].clone();
    // The stalling component was never counted; the source was, as part of another waveform.
    assert_eq!(metric("stall"), "mac");
    assert!(metric("source") == "instructions" || metric("source") == "scaled", "{rows:?}");
    has(&text(&takt(&["map", &path, "--platform", platform]).stdout), &["1 by MACs alone: 80 % off on average"]);
    let here = json(&["map", &path, "--cores", "0"]);
    assert!(here["predicted"].as_array().expect("a list").iter().all(|row| row["metric"] == "measured"));
    assert_eq!(here["predicted"][0]["error"], serde_json::Value::Null);
}

#[test]
fn costs_of_another_kind_of_processor_are_not_mixed_with_those_of_this_one() {
    let (_folder, path) = file(br#"{ "reference": "elsewhere", "components": {} }"#);
    let (path, bpsk) = (path.as_str(), waveform("bpsk.toml"));
    has(&refusal(&["map", &bpsk, "--cores", "0", "--costs", path]), &["costs from `elsewhere` lack `source`"]);
    let said = refusal(&["run", &bpsk, "--slots", "20", "--clock", "free", "--save-costs", path]);
    assert!(said.contains("the file has costs of `elsewhere`"), "{said}");
}

#[test]
fn what_can_not_be_mapped_is_reported_with_the_fix() {
    let bpsk = waveform("bpsk.toml");
    assert!(refusal(&["map", &bpsk, "--cores", "4095"]).contains("give --cores with some of 0"));
    assert!(refusal(&["calibrate", "--cores", "4095"]).contains("give --cores with some of 0"));
    assert!(refusal(&["map", &bpsk, "--pin", "source"]).contains("--pin COMPONENT=NODE"));
    assert!(refusal(&["map", &bpsk, "--pin", "source=hots"]).contains("did you mean `host`?"));
    assert!(refusal(&["map", &bpsk, "--use-at-most", "2"]).contains("give a share above 0 and up to 1"));
    assert!(refusal(&["map", &bpsk, "--platform", "/nowhere.toml"]).contains("takt calibrate --out FILE"));
    assert!(refusal(&["map", &bpsk, "--costs", "/nowhere.json"]).contains("--save-costs FILE"));
    let (_folder, path) = file(b"name = \"x\"\nclass = {}\nnode = 3\n");
    assert!(refusal(&["map", &bpsk, "--platform", &path]).contains("file.toml:3"));
    assert!(refusal(&["map", &bpsk, "--costs", &path]).contains("can't use the costs"));
}
