//! The commands that know an X310.

use std::time::Duration;

use crate::software::{Radio, has, json, number, refusal, text};
use crate::watched::Unless::Delayed;
use crate::watched::{Wrong, untrue};
use crate::witness::{Run, judge};

#[test]
fn a_radio_is_found_and_described() {
    let radio = Radio::of("x310", 60, &["--serial", "F5A1B3", "--name", "roof"]);
    let found = text(&radio.takt(&["find"]).stdout);
    let wanted = "  X310 serial F5A1B3 name roof  firmware 6.0 FPGA 39.0  free  software radio of takt's\n";
    assert_eq!(found, format!("{}{wanted}", radio.addr));
    let said = text(&radio.takt(&["probe"]).stdout);
    has(
        &said,
        &["X310 serial F5A1B3 name roof", "511 from 0.196078 to 200 MS/s", "2 channels each way", "up to 8000 bytes"],
    );
    assert_eq!(json(&radio.takt(&["probe", "--json"]))["rates"]["master_clock_hz"], 200_000_000);
}

#[test]
fn a_rate_is_streamed_and_counted_on_two_channels() {
    let args = ["rate", "--rx", "2M", "--tx", "2M", "--channels", "0,1", "--duration", "500ms", "--json"];
    // A fifth of the half second.
    judge(
        Duration::from_millis(100),
        || Run::of(Radio::of("x310", 61, &[]), &args),
        |run| {
            let outcome = json(&run.out);
            let clean = outcome["clean"] == true;
            assert_eq!(run.out.status.code(), Some(i32::from(!clean)));
            assert_eq!(outcome["radio"]["model"], "X310");
            // The expected ones are what two channels make in half a second, to the sample.
            assert_eq!(number(&outcome, "/rx/expected_samples"), 2_000_000);
            let accounted = ["samples", "dropped", "unsent_samples"].map(|key| number(&outcome, &format!("/rx/{key}")));
            assert_eq!(accounted.iter().sum::<u64>(), 2_000_000, "{outcome:#}");
            let wrong: Vec<Wrong> = untrue(
                Delayed,
                &[
                    ("four fifths came or were lost", accounted[0] + accounted[1] > 1_600_000),
                    ("four fifths were sent", number(&outcome, "/tx/samples") > 800_000),
                ],
            );
            wrong
        },
    );
}

#[test]
fn what_it_has_not_is_refused() {
    let radio = Radio::of("x310", 62, &[]);
    let refused = |args: &[&str]| refusal(&radio.takt(&[&["rate", "--duration", "100ms"], args].concat()));
    has(&refused(&["--rx", "22M"]), &["can't stream at 22 MS/s"]);
    has(&refused(&["--rx", "1M", "--format", "sc8"]), &["sample format of an X310 `sc8`; there are sc16"]);
    has(&refused(&["--rx", "1M", "--channels", "2"]), &["receive channel 2 is outside 0 to 1"]);
}
