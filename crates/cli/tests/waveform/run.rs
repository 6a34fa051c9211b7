//! `takt run`.

use std::process::{Command, Output, Stdio};
use std::time::Duration;

use crate::program::{TAKT, chain, file, free, has, json, takt, text, waveform};
use crate::support;
use crate::watched::Unless::Delayed;
use crate::watched::{Watched, Wrong, judge, untrue, watched};

#[test]
fn the_keys_the_document_promises_are_there_and_no_bit_is_wrong_without_noise() {
    let bpsk = waveform("bpsk.toml");
    let run = json(&["run", &bpsk, "--slots", "500", "--clock", "free", "--cores", "0"]);
    assert_eq!([&run["slots"], &run["misses"]], [500, 0]);
    let components = run["components"].as_array().expect("a list");
    assert_eq!(components.len(), 5);
    for component in components {
        for quantile in ["p50_ns", "p99_ns", "max_ns", "mean_ns"] {
            assert!(component["execution"][quantile].is_number(), "{component}");
        }
    }
    assert_eq!(components[4]["results"]["bit_errors"], 0);
    assert_eq!(components[4]["results"]["bits"], 500_000);
    assert_eq!(run["output_hash"].as_str().map(str::len), Some(16));
    assert!(run["lateness"].is_null(), "without a clock nothing is late");
}

#[test]
fn one_hash_whatever_the_cores_the_clock_and_the_latency() {
    let bpsk = waveform("bpsk.toml");
    let run = |more: &[&str]| json(&[&["run", &bpsk, "--slots", "200"], more].concat())["output_hash"].clone();
    let free = ["--clock", "free"];
    let one = run(&free);
    assert_eq!(run(&[&free[..], &["--latency", "fixed"]].concat()), one);
    assert_eq!(run(&[&free[..], &["--cores", "0,1"]].concat()), one);
    assert_eq!(run(&[&free[..], &["--cores", "1,0", "--latency", "fixed"]].concat()), one);
    assert_ne!(run(&[&free[..], &["--set", "source.seed=2"]].concat()), one, "other bits, another hash");
}

#[test]
fn under_the_wall_clock_slots_begin_at_their_edges_and_lateness_is_measured() {
    let bpsk = waveform("bpsk.toml");
    let args = ["run", &bpsk, "--slots", "50", "--slot", "2ms", "--json"];
    judged(Duration::from_millis(20), &args, |out| {
        let run = support::json(out);
        assert_eq!([&run["slots"], &run["slot_ns"]], [50, 2_000_000]);
        // Whether a shared machine holds 2 ms is not this test's affair; that the status says so is.
        let clean = run["misses"] == 0 && run["dropped_packets"] == 0;
        assert_eq!(out.status.code(), Some(i32::from(!clean)));
        // Slots that were all missed have none.
        untrue(Delayed, &[("a lateness", run["lateness"]["p50_ns"].is_number())])
    });
}

#[test]
fn an_injected_stall_is_reported_with_component_worker_and_slot() {
    let components = [
        ("source", "bit-source", ""),
        ("modulator", "bpsk-modulate", ""),
        ("stall", "stall", "slot = 3\ntime_us = 30000"),
        ("demodulator", "bpsk-demodulate", ""),
        ("sink", "bit-sink-compare", ""),
    ];
    let (_folder, path) = chain("stalled", "20 ms", &components);
    // Half a slot: slot 3 is executed, and what it takes is the stall's doing.
    judged(Duration::from_millis(10), &["run", &path, "--slots", "8"], |out| {
        let said = text(&out.stdout);
        untrue(
            Delayed,
            &[
                ("status 1", out.status.code() == Some(1)),
                ("the component", said.contains("stall took")),
                ("the slot", said.contains("in slot 3, usually")),
            ],
        )
    });
}

/// Judges a run that is bound to time, of which `wrong` says what is not as expected.
#[track_caller]
fn judged(bearable: Duration, args: &[&str], wrong: impl Fn(&Output) -> Vec<Wrong>) {
    let run = || {
        let mut command = Command::new(TAKT);
        command.args(args).stdin(Stdio::null());
        watched(command, &[])
    };
    let witness = |run: &Watched, _| {
        let waited = run.waited;
        (waited > bearable).then(|| format!("{} ms without a processor", waited.as_millis()))
    };
    judge(run, |run| wrong(&run.out), witness, |run| format!("{:?}", run.out));
}

#[test]
fn the_trace_is_written_and_the_table_names_every_component() {
    let (_folder, trace) = free("trace.json");
    let out = takt(&["run", &waveform("bpsk.toml"), "--slots", "20", "--clock", "free", "--trace", &trace]);
    let said = text(&out.stdout);
    has(
        &said,
        &["source", "modulator", "channel", "demodulator", "sink", "bit_errors 0", "Yes: no slot of 20 was missed."],
    );
    let trace: serde_json::Value = serde_json::from_slice(&std::fs::read(trace).expect("there")).expect("JSON");
    assert_eq!(trace["traceEvents"].as_array().map(Vec::len), Some(100));
}

#[test]
fn execution_times_are_reported_in_both_units_for_a_waveform_and_for_a_result() {
    let bpsk = waveform("bpsk.toml");
    let tried = json(&["execinfo", &bpsk, "--slots", "50"]);
    assert_eq!(tried["components"][2]["executions"], 50);
    let result = takt(&["run", &bpsk, "--slots", "30", "--clock", "free", "--json"]);
    let (_folder, path) = free("run.json");
    std::fs::write(&path, &result.stdout).expect("written");
    let read = json(&["execinfo", &path]);
    assert_eq!((&read["waveform"], &read["components"][0]["executions"]), (&"bpsk".into(), &30.into()));
    let (ns, mac) = (&read["components"][2]["p50_ns"], &read["components"][2]["p50_mac"]);
    let (ns, mac) = (ns.as_f64().expect("measured"), mac.as_f64().expect("computed"));
    let rate = read["mac_per_s"].as_f64().expect("calibrated");
    assert!((mac - ns * rate / 1e9).abs() < 1e-6 * mac, "{ns} ns, {mac} MAC at {rate} a second");
}

#[test]
fn a_component_in_a_process_of_its_own_computes_the_same() {
    let bpsk = std::fs::read_to_string(waveform("bpsk.toml")).expect("there");
    let isolated = bpsk.replace("type = \"awgn\"", "type = \"awgn\"\nisolated = true");
    assert_ne!(bpsk, isolated);
    let (_folder, path) = file(isolated.as_bytes());
    let together = json(&["run", &waveform("bpsk.toml"), "--slots", "100", "--clock", "free"]);
    // Mapped, its process has a core beside the workers, and what it makes comes a slot later.
    for cores in [&[][..], &["--cores", "0,1"]] {
        let args = [&["run", &path, "--slots", "100", "--clock", "free", "--json"], cores].concat();
        // A process that does not answer for a second is taken to hang.
        judged(Duration::from_millis(500), &args, |out| {
            let apart = support::json(out);
            let same = apart["output_hash"] == together["output_hash"] && apart["misses"] == 0;
            let components = apart["components"].as_array().expect("a list");
            let restarted = components.iter().any(|component| component["restarts"] != 0);
            assert!(restarted || same && out.status.code() == Some(0), "{apart:#}");
            untrue(Delayed, &[("it was not started again", !restarted)])
        });
    }
    let found = json(&["map", &path, "--cores", "0", "--slot", "10s"]);
    let load = &found["mapping"]["core_loads"][0];
    assert_eq!((&load["processes"], &found["mapping"]["latency_slots"]), (&serde_json::json!(["channel"]), &1.into()));
}
