//! `takt run --clock radio`, with the software radio that it starts where none is named. How much a busy machine misses is not
//! these tests' affair; that every slot is accounted for is.

use serde_json::Value;

use crate::program::{has, refusal, takt, text, waveform};
use crate::support;

fn run(more: &[&str]) -> Value {
    let file = waveform("td-scdma.toml");
    let out = takt(&[&["run", &file, "--clock", "radio", "--json"], more].concat());
    assert!(matches!(out.status.code(), Some(0 | 1)), "{}", text(&out.stderr));
    let run = support::json(&out);
    let results = results(&run, "transmit");
    let whole = run["broken_packets"] == 0 && run["dropped_packets"] == 0;
    let clean = whole && run["misses"] == 0 && results["late"] == 0 && results["radio_late"] == 0;
    assert_eq!(out.status.code(), Some(i32::from(!clean)), "the status says what was missed or late: {run}");
    run
}

fn results(run: &Value, component: &str) -> Value {
    let components = run["components"].as_array().expect("a list");
    components.iter().find(|c| c["name"] == component).expect("there")["results"].clone()
}

fn count(value: &Value) -> i64 {
    value.as_i64().unwrap_or_else(|| panic!("{value} is no count"))
}

#[test]
fn every_subframe_of_a_software_radio_is_answered_or_its_loss_reported() {
    let run = run(&["--slots", "150"]);
    assert_eq!((&run["slots"], &run["clock"], &run["radio"]["software"]), (&150.into(), &"radio".into(), &true.into()));
    let (decode, transmit) = (results(&run, "decode"), results(&run, "transmit"));
    assert_eq!(decode["nacks"], 0, "15 dB: whatever is whole is decoded: {decode}");
    assert!(count(&transmit["answers"]) <= count(&decode["acks"]));
    assert!(count(&transmit["answers"]) + count(&transmit["missed"]) <= 150);
    if count(&decode["acks"]) > 0 {
        // The downlink's own noise, and what lies beyond the samples' band.
        assert!(decode["mean_snr_db"].as_f64().is_some_and(|db| (5.0..16.0).contains(&db)), "{decode}");
    }
    if count(&transmit["answers"]) > 0 {
        for stage in ["air_us", "transfer_us", "wakeup_us", "processing_us", "answer_us", "total_us", "ahead_us"] {
            assert_eq!(transmit[stage].as_array().map(Vec::len), Some(3), "{stage}: {transmit}");
        }
    }
}

#[test]
fn a_waveform_and_a_clock_that_do_not_go_together_are_refused() {
    let (exchange, bpsk) = (waveform("td-scdma.toml"), waveform("bpsk.toml"));
    has(&refusal(&["run", &exchange, "--slots", "1"]), &["can't use a radio with --clock wall", "give --clock radio"]);
    has(&refusal(&["run", &bpsk, "--slots", "1", "--addr", "127.0.64.1"]), &["--addr names a radio", "--clock radio"]);
    has(&refusal(&["run", &bpsk, "--slots", "1", "--clock", "radio"]), &["`radio-receive`", "--clock wall"]);
    let said = refusal(&["run", &exchange, "--slots", "1", "--clock", "radio", "--addr", "127.0.64.1"]);
    assert!(said.contains("no radio at 127.0.64.1"), "{said}");
    let said = refusal(&["run", &exchange, "--slots", "1", "--clock", "radio", "--slot", "5003us"]);
    assert!(said.contains("6250 samples in a slot") && said.contains("items ="), "{said}");
    let said = refusal(&["run", &exchange, "--slots", "1", "--clock", "radio", "--set", "receive.source=bpsk.toml"]);
    assert!(said.contains("exactly one file-sink"), "{said}");
}
