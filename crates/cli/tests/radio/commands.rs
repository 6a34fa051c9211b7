//! Output of each command when all is well, as text and as one JSON document.

use std::path::Path;
use std::process::{Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use takt_host::Host;
use takt_host::affinity::own_cpus;

use crate::software::{Radio, interrupt, json, number, refusal, text};
use crate::support::while_running;
use crate::watched::Unless::Delayed;
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

/// The keys of `takt rate` that other programs read.
const KEYS: &str = "/rx/samples /rx/dropped /rx/overflows /rx/sequence_errors /rx/late /rx/timeouts /tx/samples /tx/underflows \
    /tx/sequence_errors /tx/late /tx/timeouts /rx/lost_by_place/path_datagrams";

#[test]
fn a_radio_is_found_and_described() {
    let radio = Radio::at(20, &["--serial", "F5A1B2", "--name", "roof"]);
    let out = radio.takt(&["find"]);
    assert_eq!(out.status.code(), Some(0));
    let wanted =
        format!("{}  N200r4 serial F5A1B2 name roof  firmware 12.4 FPGA 11.1  free  takt's emulator\n", radio.addr);
    assert_eq!(text(&out.stdout), wanted);
    let found = json(&radio.takt(&["find", "--json"]));
    assert_eq!((found[0]["serial"].as_str(), found[0]["state"]["kind"].as_str()), (Some("F5A1B2"), Some("free")));
    let out = radio.takt(&["probe"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let said = text(&out.stdout);
    for words in
        ["255 from 0.195312 to 50 MS/s", "SBX", "400 to 4400 MHz", "antennas RX2, TX/RX, CAL", "reference locked"]
    {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let probed: Value = json(&radio.takt(&["probe", "--json"]));
    assert_eq!((&probed["reference_locked"], &probed["rates"]["count"]), (&true.into(), &255.into()));
}

#[test]
fn a_rate_is_streamed_and_counted() {
    for threads in ["1", "2"] {
        let args = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "500ms", "--threads", threads, "--json"];
        // A fifth of the half second.
        let bearable = Duration::from_millis(100);
        judge(bearable, || Run::of(Radio::at(22, &[]), &args), |run| counted(&run.out));
    }
    let radio = Radio::at(22, &[]);
    let out = radio.takt(&["rate", "--rx", "1M", "--wire", "sc8", "--channels", "0,1", "--duration", "300ms"]);
    let said = text(&out.stdout);
    assert!(said.starts_with(if out.status.success() { "Yes: " } else { "No: " }), "{said}");
    assert!(said.contains("sc8, 726 samples a datagram"), "{said}");
    for (channels, why) in [("1", "transmit channel 1 is outside 0 to 0"), ("0,1", "number of transmit channels 2")] {
        let said = refusal(&radio.takt(&["rate", "--tx", "1M", "--tx-channels", channels]));
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn intervals_of_a_rate_add_up_to_its_outcome_and_each_has_a_line() {
    let args = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "500ms", "--interval", "100ms"];
    let radio = Radio::at(24, &[]);
    let outcome = json(&radio.takt(&[&args[..], &["--json"]].concat()));
    let intervals = outcome["intervals"].as_array().expect("a list");
    assert_eq!(intervals[0]["start_s"], 0.0);
    for pair in intervals.windows(2) {
        assert_eq!(pair[0]["end_s"], pair[1]["start_s"]);
    }
    for (of, whole) in [
        ("/rx/samples", "/rx/samples"),
        ("/rx/lost_samples", "/rx/dropped"),
        ("/tx/samples", "/tx/samples"),
        ("/tx/underflows", "/tx/underflows"),
    ] {
        let sum: u64 = intervals.iter().map(|interval| number(interval, of)).sum();
        assert_eq!(sum, number(&outcome, whole), "{of}: {outcome:#}");
    }
    let receives = ["rate", "--rx", "1M", "--duration", "300ms", "--interval", "100ms"];
    let said = text(&radio.takt(&receives).stderr);
    let lines: Vec<&str> = said.lines().filter(|line| line.contains(" s   receive ")).collect();
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.contains("lost ") && !line.contains("transmit")),
        "{said}"
    );
    assert!(lines[0].starts_with("0.00-"), "{said}");
}

#[test]
fn a_reader_that_never_sleeps_asks_far_more_often_than_something_comes() {
    let args = ["rate", "--rx", "1M", "--duration", "300ms", "--busy-poll", "--json"];
    judge(
        Duration::from_millis(60),
        || Run::of(Radio::at(23, &[]), &args),
        |run| {
            let outcome = json(&run.out);
            assert_eq!(outcome["options"]["busy_poll"], true);
            let [asked, came] = ["/rx/receive_calls", "/rx/datagrams"].map(|key| number(&outcome, key));
            untrue(Delayed, &[("it asks again at once", asked > 4 * came), ("samples come", came > 600)])
        },
    );
}

/// Checks half a second at 1 MS/s both ways, and answers what only a delay can explain.
fn counted(out: &Output) -> Vec<Wrong> {
    let outcome = json(out);
    for key in KEYS.split(' ') {
        number(&outcome, key);
    }
    assert!(outcome["cpu"]["host_seconds"].as_f64().is_some_and(|seconds| seconds > 0.0));
    assert!(outcome["cpu"]["threads"].as_array().is_some_and(|threads| threads.len() >= 2));
    let clean = outcome["clean"] == true;
    assert_eq!(out.status.code(), Some(i32::from(!clean)));
    let came = number(&outcome, "/rx/samples") + number(&outcome, "/rx/dropped");
    assert_eq!(number(&outcome, "/tx/samples"), 363 * number(&outcome, "/tx/datagrams"), "{outcome:#}");
    untrue(
        Delayed,
        &[
            ("four fifths came or were lost", came > 400_000),
            ("four fifths were sent", number(&outcome, "/tx/samples") > 400_000),
        ],
    )
}

#[test]
fn what_is_recorded_is_played() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run 1");
    let file = file.to_str().expect("text");
    let radio = Radio::at(31, &[]);
    let other = dir.path().join("other");
    let args =
        ["record", other.to_str().expect("text"), "--rate", "1M", "--channel", "1", "--samples", "1000", "--json"];
    assert_eq!(number(&json(&radio.takt(&args)), "/samples"), 1000);
    let args = ["record", file, "--rate", "1M", "--freq", "900M", "--gain", "10.5", "--samples", "300000", "--json"];
    let out = radio.takt(&args);
    let recorded = json(&out);
    assert_eq!(number(&recorded, "/samples") + number(&recorded, "/lost_samples"), 300_000);
    assert_eq!(recorded["gain_db"], 10.5);
    let meta = std::fs::read_to_string(Path::new(file).with_extension("sigmf-meta")).expect("metadata");
    assert!(meta.contains("takt:tick") && meta.contains("core:datetime"), "{meta}");
    assert!(refusal(&radio.takt(&args)).contains("exists already"));
    let said = text(&radio.takt(&[&args[..args.len() - 1], &["--replace"]].concat()).stdout);
    assert!(said.contains("samples at 1 MS/s") && said.contains("  tuned     900.0"), "{said}");
    let recorded = json(&radio.takt(&[&args[..], &["--replace"]].concat()));
    let out = radio.takt(&["play", file, "--times", "2", "--json"]);
    let played = json(&out);
    assert_eq!(number(&played, "/samples"), 2 * number(&recorded, "/samples"), "{played:#}");
    assert!((played["tuned"]["actual_hz"].as_f64().expect("a number") - 900e6).abs() < 1.0);
    let said = text(&radio.takt(&["play", file]).stdout);
    assert!(
        said.lines().last().is_some_and(|answer| answer.starts_with("Yes: ") || answer.starts_with("No: ")),
        "{said}"
    );
    assert!(said.contains("samples at 1 MS/s") && said.contains("  bursts    "), "{said}");
}

#[test]
fn a_recording_is_made_and_played_on_the_core_and_under_the_policy_that_were_requested() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("placed");
    let file = file.to_str().expect("text");
    let radio = Radio::at(38, &[]);
    let cpu = own_cpus()[0];
    let core = cpu.to_string();
    let granted = matches!(Host::this().attempt_fifo(), Some(Ok(())));
    let (policy, had) = if granted { ("fifo:1", "FIFO 1") } else { ("other", "OTHER") };
    let placed = ["--cores", &core, "--policy", policy, "--json"];
    for command in [&["record", file, "--rate", "1M", "--samples", "100000"][..], &["play", file]] {
        let report = json(&radio.takt(&[command, &placed].concat()));
        assert!(number(&report, "/samples") > 0, "{report:#}");
        assert_eq!(report["cpus"], serde_json::json!([cpu]), "{report:#}");
        assert!(report["policy"].as_str().is_some_and(|policy| policy.starts_with(had)), "{report:#}");
    }
}

#[test] // it said that nothing is missing, with status 0
fn a_recording_that_is_stopped_before_its_length_is_not_answered_with_yes() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("long");
    let radio = Radio::at(32, &[]);
    let name = file.to_str().expect("text");
    let mut record = radio.command(&["record", name, "--rate", "1M", "--duration", "1h"]);
    let mut program = record.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("takt starts");
    let data = file.with_extension("sigmf-data");
    while_running(&mut program, "samples in the file", || data.metadata().is_ok_and(|file| file.len() > 0));
    interrupt(&program);
    let out = program.wait_with_output().expect("a child");
    let said = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.lines().last().is_some_and(|answer| answer.starts_with("No: ")), "{said}");
}
