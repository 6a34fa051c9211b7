//! Radios whose time passes slower than the host's: all of their samples come, every result says how slow, and none says yes.

use takt_testing::loopback;

use crate::software::{Radio, has, json, number, takt, text};

/// A radio of this model at a tenth of real time.
fn slow(model: &str, host: u8) -> Radio {
    Radio::of(model, host, &["--speed", "0.1"])
}

#[test]
fn a_slow_radio_says_so_when_it_is_probed_and_when_it_ends() {
    for (model, host) in [("n200", 145), ("x310", 146)] {
        let radio = slow(model, host);
        assert_eq!(json(&radio.takt(&["probe", "--json"]))["radio_speed"], 0.1, "{model}");
        has(&text(&radio.takt(&["probe"]).stdout), &["at 0.1 of real time"]);
        let summary = radio.summary();
        assert_eq!((&summary["speed"], &summary["devices"][0]["speed"]), (&0.1.into(), &0.1.into()), "{model}");
    }
    let radio = Radio::at(147, &[]);
    assert_eq!(json(&radio.takt(&["probe", "--json"]))["radio_speed"], 1.0);
    assert!(!text(&radio.takt(&["probe"]).stdout).contains("real time"));
}

/// A tenth of a second of the radio's, in a second of the host's: 100 000 samples each way, to the sample.
#[test]
fn all_samples_of_a_slow_radio_are_counted_and_the_rate_is_not_held() {
    let args = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "100ms", "--warm-up", "20ms"];
    for (model, host) in [("n200", 148), ("x310", 149)] {
        let radio = slow(model, host);
        let out = radio.takt(&[&args[..], &["--json"]].concat());
        let outcome = json(&out);
        assert_eq!((&outcome["radio_speed"], &outcome["radio_speed_at_end"]), (&0.1.into(), &0.1.into()), "{model}");
        assert_eq!(number(&outcome, "/rx/expected_samples"), 100_000, "{model}");
        let accounted = ["samples", "dropped", "unsent_samples"].map(|key| number(&outcome, &format!("/rx/{key}")));
        assert_eq!(accounted.iter().sum::<u64>(), 100_000, "{outcome:#}");
        let clean = outcome["clean"] == true;
        assert_eq!(out.status.code(), Some(if clean { 2 } else { 1 }), "{outcome:#}");
        let said = text(&radio.takt(&args).stdout);
        assert!(!said.contains("Yes"), "{said}");
        has(&said, &["at 0.1 of real time"]);
    }
}

#[test]
fn a_recording_of_a_slow_radio_has_all_samples_and_says_how_slow_it_was() {
    let radio = slow("n200", 152);
    let folder = tempfile::tempdir().expect("a folder");
    let args = |name: &str| {
        let file = folder.path().join(name).display().to_string();
        ["record", &file, "--rate", "1M", "--samples", "20000"].map(str::to_owned)
    };
    let record = |name: &str, more: &[&str]| {
        let args = args(name);
        let args: Vec<&str> = args.iter().map(String::as_str).chain(more.iter().copied()).collect();
        radio.takt(&args)
    };
    let recorded = json(&record("one", &["--json"]));
    assert_eq!(recorded["radio_speed"], 0.1);
    assert_eq!(number(&recorded, "/samples") + number(&recorded, "/lost_samples"), 20_000, "{recorded:#}");
    let said = text(&record("two", &[]).stdout);
    assert!(!said.contains("Yes"), "{said}");
}

#[test]
fn a_search_for_the_speed_begins_slow() {
    let radio = Radio::at(150, &["--speed", "auto"]);
    assert_eq!(json(&radio.takt(&["probe", "--json"]))["radio_speed"], 0.1, "no samples flow");
    assert_eq!(radio.summary()["speed"], 0.1);
}

#[test]
fn what_is_no_speed_and_what_passes_for_hardware_is_refused() {
    let addr = loopback(151).to_string();
    let refused = |more: &[&str]| {
        let out = takt(&[&["emulate", "n200", "--addr", &addr], more].concat());
        assert_eq!(out.status.code(), Some(2));
        text(&out.stderr)
    };
    for speed in ["0", "-1", "0.0009", "101", "fast", "nan"] {
        let given = format!("--speed={speed}");
        has(&refused(&[&given]), &["is not a speed", "0.001 to 100"]);
    }
    has(&refused(&["--as-hardware", "--speed", "0.1"]), &["--as-hardware"]);
}
