//! Programs in namespaces, in containers and in guests are clients of one shared radio: each connects, receives its own band and sends.
//! The radios' time passes at a tenth of the wall's, so that a machine of two cores that has other work carries a front end of 25 MS/s.
//! No time is judged. Tests that need root, runc, QEMU or a kernel say so.

mod support;

use serde_json::Value;
use support::{Place, json, report, root_for};
use takt_testing::{not_judged, skip};

/// Seconds of the radios in a second of the host.
const SPEED: &str = "0.1";

/// The record of the only round of so many programs in an environment; `None`, on record, where it can't be had.
#[track_caller]
fn round(place: &Place, environment: &str, programs: usize, front_end: &str) -> Option<Value> {
    let parts = format!(
        "[[part]]\nname = \"{environment}\"\n[part.fixed]\nenvironment = \"{environment}\"\nprograms = {programs}\n\
         front_end = \"{front_end}\"\nworkload = {{ kind = \"programs\", mode = \"duplex\", rate_sps = 500e3, duration = \"500ms\", \
         warm_up = \"200ms\", look = \"100ms\", speed = \"{SPEED}\" }}\n"
    );
    let head = "question = \"?\"\n[rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n\
                valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }\n";
    std::fs::write(place.path("share.toml"), format!("{head}{parts}")).expect("ours");
    let ran = place.takt(&["experiment", "run", "share.toml"]);
    assert!(ran.status.code().is_some(), "{}", report(&ran));
    let exported = place.takt(&["experiment", "export", "last", "--format", "json"]);
    let round = json(&exported)["rounds"][0].clone();
    if round["state"] == "skipped" {
        skip(round["why"].as_str().unwrap_or("no reason"));
        return None;
    }
    assert_ne!(round["state"], "failed", "{}\n{round:#}", report(&ran));
    Some(round["record"]["result"].clone())
}

fn number(value: &Value, pointer: &str) -> f64 {
    value.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}: {value:#}"))
}

/// Each program has received and sent, the tone is where it belongs, and hardly anything of it is elsewhere.
fn each_has_its_own_band(result: &Value, programs: usize) {
    assert_eq!(result["programs"].as_array().map(Vec::len), Some(programs), "{result:#}");
    // It is how the result is known to say nothing about real time.
    let speed: f64 = SPEED.parse().expect("a number");
    assert_eq!(number(result, "/radio_speed"), speed);
    // On a machine that is too slow a program may send nothing, and what is missing is silence, so the tone is weaker.
    let share = |pointer| result.pointer(pointer).and_then(Value::as_f64).unwrap_or_default();
    let lost =
        ["/share/front_end_lost_share", "/rx_lost_share", "/tx_lost_share"].map(share).into_iter().fold(0.0, f64::max);
    if lost > 0.01 {
        return not_judged(format!("{:.0} % of the samples were lost", lost * 100.0));
    }
    for program in 0..programs {
        for count in ["rx", "tx"] {
            assert!(number(result, &format!("/programs/{program}/rate/{count}/samples")) > 0.0, "{program} {count}");
            assert_eq!(number(result, &format!("/programs/{program}/rate/radio_speed")), speed);
        }
    }
    // A tone of 0.9.
    let tone_dbfs = number(result, "/tone_dbfs");
    assert!((-3.0..=0.0).contains(&tone_dbfs), "{tone_dbfs} dB of full scale");
    if programs > 1 {
        let below_db = number(result, "/neighbour_below_full_scale_db");
        assert!(below_db > 80.0, "{below_db} dB below full scale");
    }
}

fn place() -> Place {
    Place::with("share.toml", "")
}

#[test]
fn two_programs_with_networks_of_their_own_share_a_radio_or_have_one_each() {
    if root_for("a network namespace").is_none() {
        return;
    }
    let place = place();
    for front_end in ["shared", "own"] {
        let Some(result) = round(&place, "native", 2, front_end) else { return };
        each_has_its_own_band(&result, 2);
        assert_eq!(result.get("share").is_some(), front_end == "shared", "{result:#}");
    }
}

#[test]
fn two_programs_in_containers_share_a_radio() {
    let place = place();
    let Some(result) = round(&place, "container", 2, "shared") else { return };
    each_has_its_own_band(&result, 2);
    assert!(number(&result, "/share/report/front_end/samples") > 0.0);
}

#[test]
fn a_program_in_a_guest_uses_a_shared_radio() {
    let place = place();
    let Some(result) = round(&place, "vm", 1, "shared") else { return };
    each_has_its_own_band(&result, 1);
}
