//! `takt link`: both ends and the air between them, and what is said when the link does not come up.

mod support;

use support::{Place, json, report};

fn demo(args: &[&str]) -> std::process::Output {
    let place = Place::with("nothing", "");
    place.takt(&[&["link", "demo"][..], args].concat())
}

/// So slowly that a busy machine holds it.
#[test]
fn a_link_comes_up_and_carries_everything() {
    let output = demo(&["--speed", "0.15", "--time", "500ms", "--pings", "3", "--json"]);
    let document = json(&output);
    assert!(document["attach_s"].as_f64().is_some_and(|after_s| after_s < 5.0), "{document:#}");
    for way in ["down", "up"] {
        let load = &document[way];
        assert!(load["sent"].as_u64() > Some(15) && load["sent"] == load["received"], "{way}: {load:#}");
    }
    assert_eq!(document["pings_ms"].as_array().map(Vec::len), Some(3));
    assert_eq!((document["speed"].as_f64(), document["link"].as_str()), (Some(0.15), Some("attached")));
    // Late samples make it "no"; without any, nothing is known of real time.
    let late = |end: &str| ["late", "underflows", "lost_samples"].iter().any(|key| document[end][key] != 0);
    let expected = if late("station") || late("terminal") { 1 } else { 2 };
    assert_eq!(output.status.code(), Some(expected), "{}", report(&output));
}

#[test]
fn a_link_that_does_not_come_up_says_how_far_it_got() {
    let output = demo(&["--speed", "0.5", "--snr", "-30", "--patience", "400ms"]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{}", report(&output));
    assert!(said.contains("No: the link did not come up: no synchronisation signal was found"), "{said}");
}

#[test]
fn a_wrong_flag_is_named_with_its_range() {
    for (args, parts) in [
        (&["--prb", "24"][..], &["24", "6, 15, 25, 50, 75 or 100"][..]),
        (&["--cell", "504"], &["504", "0 to 503"]),
        (&["--three-quarters"], &["at least 25 resource blocks", "--prb 25"]),
        (&["--fading", "EVA 7"], &["EVA 7", "5, 70, 200 or 300 Hz"]),
        (&["--mode", "tm"], &["am", "um"]),
        (&["--packet", "1501"], &["1501", "1500"]),
    ] {
        let output = demo(args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", report(&output));
        assert!(parts.iter().all(|part| said.contains(part)), "{args:?}: {said}");
    }
}

#[test]
fn an_end_without_a_radio_leaves_no_interface() {
    let place = Place::with("nothing", "");
    let output = place.takt(&["link", "ue", "--addr", "127.0.0.99", "--tun", "takt-test-ue"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{}", report(&output));
    assert!(said.contains("127.0.0.99") || said.contains("takt-test-ue"), "{said}");
    let devices = std::fs::read_to_string("/proc/net/dev").unwrap();
    assert!(!devices.contains("takt-test-ue"), "{devices}");
}
