//! Nothing is sent to a radio that is not takt's own before the user states that it transmits. The radio here is software that
//! does not say so, as a real one.

use std::fs;

use serde_json::Value;

use crate::software::{Radio, has, json, number, refusal, text};
use crate::support::{Place, report, status_of};

const WAVEFORM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/td-scdma.toml");

/// A check of one rate each way, and of answers; every round counts, whatever else runs on the machine.
const SMALL: &str = r#"
question = "Is anything sent?"
[rounds]
count = { full = 1, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, repeats_max = 0, repeats_needed_max = 0 }
[[need]]
model = "n200"
mode = "duplex"
rate_sps = 1e6
format = "sc16"
[[part]]
name = "sc16"
factors = { mode = ["rx", "duplex"], rate_sps = [1e6] }
fixed = { workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
[[part]]
name = "answer"
factors = { delay = ["5ms"] }
fixed = { rate_sps = 1e6, workload = { kind = "round-trip", duration = "200ms", warm_up = "100ms" } }
"#;

fn hardware(host: u8) -> Radio {
    Radio::at(host, &["--as-hardware"])
}

/// Samples that the radio was sent.
fn sent(radio: Radio) -> u64 {
    number(&radio.summary()["devices"][0], "/tx/samples")
}

#[test]
fn a_rate_is_received_from_hardware_and_sent_to_it_only_with_transmit() {
    let radio = hardware(80);
    assert!(!text(&radio.takt(&["find"]).stdout).contains("takt's emulator"));
    let why = "is not takt's emulator: it would transmit at 2400 MHz, gain 0 dB, antenna TX/RX; boards: SBX";
    for args in [["rate", "--tx", "1M"].as_slice(), &["rate", "--rx", "1M", "--tx", "1M"]] {
        has(&refusal(&radio.takt(args)), &[why, "\n  fix   put an attenuator", "dummy load"]);
    }
    let out = radio.takt(&["rate", "--rx", "1M", "--duration", "100ms", "--json"]);
    assert!(number(&json(&out), "/rx/samples") > 0);
    assert!(!text(&out.stderr).contains("transmits"), "{}", text(&out.stderr));
    assert_eq!(sent(radio), 0);

    let radio = hardware(80);
    let out = radio.takt(&["rate", "--tx", "1M", "--duration", "100ms", "--transmit", "--json"]);
    let said = text(&out.stderr);
    has(&said, &["transmits at 2400 MHz, gain 0 dB, antenna TX/RX; boards: SBX", "N200r4 serial EMU001", &radio.addr]);
    assert!(number(&json(&out), "/tx/samples") > 0);
    assert!(sent(radio) > 0);
}

#[test]
fn a_rate_is_streamed_where_its_flags_tune_the_radio() {
    let radio = hardware(86);
    let tuned = ["--freq", "915M", "--gain", "10", "--duration", "100ms"];
    let refused = refusal(&radio.takt(&[&["rate", "--tx", "1M"], &tuned[..]].concat()));
    has(&refused, &["would transmit at 915 MHz, gain 10 dB, antenna TX/RX"]);
    let out =
        radio.takt(&[&["rate", "--rx", "1M", "--tx", "1M", "--transmit", "--antenna", "RX2"], &tuned[..]].concat());
    has(&text(&out.stderr), &["transmits at 915 MHz, gain 10 dB, antenna TX/RX"]);
    assert!(sent(radio) > 0);
}

#[test]
fn a_recording_is_played_to_hardware_only_with_transmit() {
    let place = Place::with("empty", "");
    let file = place.path("run").to_str().expect("text").to_owned();
    let radio = hardware(81);
    let out = radio.takt(&["record", &file, "--rate", "1M", "--freq", "900M", "--samples", "50000", "--json"]);
    assert!(number(&json(&out), "/samples") > 0);
    let wished = ["play", &file, "--gain", "5.5", "--antenna", "CAL"];
    has(&refusal(&radio.takt(&wished)), &["at 900 MHz, gain 5.5 dB, antenna CAL; boards: SBX", "--transmit"]);
    let played = radio.takt(&[&wished[..], &["--transmit", "--json"]].concat());
    has(&text(&played.stderr), &["transmits at 900 MHz, gain 5.5 dB, antenna CAL; boards: SBX"]);
    assert!(number(&json(&played), "/samples") > 0);
    assert!(sent(radio) > 0);
}

#[test]
fn a_waveform_answers_hardware_only_with_transmit() {
    let radio = hardware(82);
    let run = ["run", WAVEFORM, "--clock", "radio", "--slots", "20"];
    has(&refusal(&radio.takt(&run)), &["would transmit at 2400 MHz", "--transmit"]);
    assert_eq!(sent(radio), 0);
    let radio = hardware(82);
    let out = radio.takt(&[&run[..], &["--transmit", "--json"]].concat());
    has(&text(&out.stderr), &["transmits at 2400 MHz"]);
    assert_eq!(json(&out)["slots"], 20);
}

/// The outcome of the small check of this radio, and what was printed beside it.
fn check(place: &Place, radio: &Radio, more: &[&str]) -> (Value, String) {
    let args = ["check", "--quick", "--file", "small.toml", "--json", "--addr", &radio.addr];
    let out = place.takt(&[&args[..], more].concat());
    let outcome = json(&out);
    assert_eq!(out.status.code(), Some(status_of(&outcome["verdict"]["answer"])), "{}", report(&out));
    (outcome, text(&out.stderr))
}

#[test]
fn a_check_of_hardware_only_receives_and_says_what_it_therefore_does_not_know() {
    let place = Place::with("small.toml", SMALL);
    let radio = hardware(83);
    let (outcome, said) = check(&place, &radio, &[]);
    has(&said, &["Nothing was sent to the radio", "attenuator", "--transmit"]);
    let need = &outcome["verdict"]["needs"][0];
    assert_eq!(need["answer"], "unknown", "{outcome:#}");
    let why = need["why"].as_str().expect("words");
    has(why, &["takt did not measure transmitting", "at 2400 MHz, gain 0 dB, antenna TX/RX", "give --transmit"]);
    let modes: Vec<&str> =
        outcome["rates"].as_array().into_iter().flatten().filter_map(|p| p["mode"].as_str()).collect();
    assert_eq!((modes, outcome["round_trips"].as_array().map(Vec::len)), (vec!["rx"], Some(0)));
    assert!(number(&outcome, "/rates/0/rounds/0/rx_samples") > 0, "{outcome:#}");
    assert!(outcome["left_out"].to_string().contains("takt did not measure transmitting and answers"), "{outcome:#}");
    let again = json(&place.takt(&["report", "last", "--json"]));
    assert_eq!(again, outcome, "judging the records again says the same");
    assert_eq!(sent(radio), 0);

    let radio = hardware(83);
    let (outcome, said) = check(&place, &radio, &["--transmit"]);
    has(&said, &["transmits at 2400 MHz"]);
    assert_eq!(outcome["rates"].as_array().map(Vec::len), Some(2), "{outcome:#}");
    assert_eq!(outcome["setup"]["receive_only"], Value::Null);
    assert!(sent(radio) > 0);
}

#[test]
fn a_check_of_takts_own_radio_goes_both_ways() {
    let place = Place::with("small.toml", SMALL);
    let radio = Radio::at(84, &[]);
    let args = ["check", "--quick", "--file", "small.toml", "--json", "--addr", &radio.addr];
    let out = place.takt(&args);
    let outcome = json(&out);
    assert_eq!(outcome["rates"].as_array().map(Vec::len), Some(2), "{}", report(&out));
    assert!(!text(&out.stderr).contains("transmits"), "{}", report(&out));
    assert!(sent(radio) > 0);
}

#[test]
fn an_experiment_that_would_transmit_is_refused_as_a_whole_and_names_what_only_receives() {
    let place = Place::with("small.toml", SMALL);
    let radio = hardware(85);
    let run = ["experiment", "run", "small.toml", "--quick", "--json", "--addr", &radio.addr];
    let said = refusal(&place.takt(&run));
    has(&said, &["would transmit at 2400 MHz", "--transmit", "--only mode=rx"]);
    assert!(fs::read_dir(place.path("takt-runs")).is_err(), "nothing was run");
    let out = place.takt(&[&run[..], &["--only", "mode=rx"]].concat());
    assert_eq!(json(&out)["points"].as_array().map(Vec::len), Some(1), "{}", report(&out));
    assert_eq!(sent(radio), 0);
}
