//! The commands that know an X310.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::Duration;

use takt_testing::loopback;

use crate::software::{Radio, TAKT, has, interrupt, json, number, refusal, takt, text};
use crate::support::{Ended, Place, report, status_of};
use crate::watched::Unless::Delayed;
use crate::watched::{self, Watched, Wrong, untrue, watched};
use crate::witness::{Run, judge};

#[test]
fn a_radio_is_found_and_described() {
    let radio = Radio::of("x310", 60, &["--serial", "F5A1B3", "--name", "roof"]);
    let found = text(&radio.takt(&["find"]).stdout);
    let wanted = "  X310 serial F5A1B3 name roof  firmware 6.0 FPGA 39.0  free  takt's emulator\n";
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
    let channels = ["--channels", "0,1", "--tx-channels", "0,1"];
    let args = [&["rate", "--rx", "2M", "--tx", "2M", "--duration", "500ms", "--json"], &channels[..]].concat();
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
                    ("four fifths were sent", number(&outcome, "/tx/samples") > 1_600_000),
                    (
                        "both channels were played",
                        [0, 1].iter().all(|n| number(run.device(), &format!("/tx/{n}/samples")) > 800_000),
                    ),
                ],
            );
            wrong
        },
    );
}

#[test]
fn with_the_image_of_another_release_of_uhd_it_is_found_and_streams() {
    for (host, uhd) in [(140, "4.10"), (141, "4.11"), (142, "auto")] {
        let radio = Radio::of("x310", host, &["--uhd", uhd]);
        has(&text(&radio.takt(&["find"]).stdout), &["firmware 6.1 FPGA 39.3  free"]);
        let outcome = json(&radio.takt(&["rate", "--rx", "1M", "--tx", "1M", "--duration", "500ms", "--json"]));
        assert!(number(&outcome, "/rx/samples") > 0 && number(&outcome, "/tx/samples") > 0, "{uhd}: {outcome:#}");
        assert_eq!(number(&radio.summary(), "/devices/0/control/unserved_hosts"), 0, "{uhd}");
    }
}

#[test]
fn it_says_at_start_what_it_announces_and_to_which_releases_of_uhd() {
    let addr = loopback(143).to_string();
    let mut command = Command::new(TAKT);
    command.args(["emulate", "x310", "--uhd", "4.11", "--addr", &addr]).stderr(Stdio::piped());
    let (mut program, _stdout, _ready) = Ended::ready(&mut command);
    interrupt(&program.0);
    let mut said = String::new();
    program.0.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    let announced = "announces RFNoC 2.0, radio block 1.0, FPGA 39.3, firmware 6.1: for UHD 4.11 (--uhd names another)";
    has(&said, &[&format!("x310 {addr} {announced}")]);
}

#[test]
fn a_release_of_uhd_that_it_has_not_is_refused_and_an_n200_has_none() {
    let unknown = takt(&["emulate", "x310", "--uhd", "4.2"]);
    assert_eq!(unknown.status.code(), Some(2));
    has(&text(&unknown.stderr), &["`4.2` is neither a UHD release from 4.3 to 4.11 nor auto"]);
    let said = refusal(&takt(&["emulate", "n200", "--addr", &loopback(144).to_string(), "--uhd", "4.11"]));
    has(&said, &["an n200 has no --uhd 4.11", "omit --uhd 4.11, or emulate another model"]);
}

#[test]
fn a_radio_that_plays_what_it_holds_takes_nothing_for_a_while() {
    // It reports room every eighth of 2 MiB, which last for 66 ms, and a call is worth 191 ms.
    let args = ["rate", "--tx", "1M", "--duration", "1s", "--json"];
    judge(
        Duration::from_millis(200),
        || Run::of(Radio::of("x310", 66, &[]), &args),
        |run| {
            let timeouts = number(&json(&run.out), "/tx/timeouts");
            let wrong: Vec<Wrong> = untrue(Delayed, &[("it takes what it is given", timeouts == 0)]);
            wrong
        },
    );
}

#[test]
fn with_socket_it_streams_on_after_an_outage_that_takes_all_credit() {
    it_streams_on_after_an_outage_that_takes_all_credit("socket", 67);
}

#[test]
fn with_mmsg_it_streams_on_after_an_outage_that_takes_all_credit() {
    it_streams_on_after_an_outage_that_takes_all_credit("mmsg", 68);
}

#[test]
fn with_uring_it_streams_on_after_an_outage_that_takes_all_credit() {
    it_streams_on_after_an_outage_that_takes_all_credit("uring", 69);
}

/// 2 MiB to be played are 105 ms, and 4 MiB on their way to the host 210. It is looked after 0.7 s after the last word.
fn it_streams_on_after_an_outage_that_takes_all_credit(engine: &str, host: u8) {
    let args = ["rate", "--rx", "5M", "--tx", "5M", "--duration", "3s", "--engine", engine, "--json"];
    judge(
        Duration::from_millis(200),
        || Run::of(Radio::of("x310", host, &["--fault", "stall:all,at=+500ms,for=400ms"]), &args),
        |run| {
            let outcome = json(&run.out);
            assert_eq!(run.out.status.code(), Some(1), "{outcome:#}");
            let streamed = ["/rx/samples", "/tx/samples"].map(|key| number(&outcome, key));
            let wrong: Vec<Wrong> = untrue(
                Delayed,
                &[
                    ("half of three seconds were received", streamed[0] > 7_500_000),
                    ("half of three seconds were sent", streamed[1] > 7_500_000),
                    ("no datagram is taken for damaged", number(&outcome, "/rx/bad_datagrams") == 0),
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
    has(&refused(&["--rx", "1M", "--wire", "sc8"]), &["has no sample format `sc8`; it has sc16"]);
    has(&refused(&["--rx", "1M", "--channels", "2"]), &["receive channel 2 is outside 0 to 1"]);
    has(&refused(&["--tx", "1M", "--tx-channels", "2"]), &["transmit channel 2 is outside 0 to 1"]);
    for (flag, value, what) in
        [("--freq", "900M", "frequency"), ("--gain", "10", "gain"), ("--antenna", "RX2", "antenna")]
    {
        has(&refused(&["--rx", "1M", flag, value]), &[&format!("can't set their {what}"), "leave frequency, gain and"]);
    }
}

#[test]
fn what_is_recorded_is_played_at_a_rate_that_only_it_has() {
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("run");
    let file = file.to_str().expect("text");
    let radio = Radio::of("x310", 63, &[]);
    // 200 MHz over 150, which a clock of 100 MHz does not make.
    let args = ["record", file, "--rate", "1.333333333M", "--samples", "200000", "--json"];
    let recorded = json(&radio.takt(&args));
    assert_eq!(number(&recorded, "/samples") + number(&recorded, "/lost_samples"), 200_000, "{recorded:#}");
    let meta = std::fs::read_to_string(std::path::Path::new(file).with_extension("sigmf-meta")).expect("metadata");
    has(&meta, &["X310 serial", "\"takt:tick_hz\": 200000000"]);
    let played = json(&radio.takt(&["play", file, "--json"]));
    assert_eq!(number(&played, "/samples"), number(&recorded, "/samples"), "{played:#}");
    let refused = refusal(&radio.takt(&["record", file, "--replace", "--rate", "1M", "--freq", "900M"]));
    has(&refused, &["can't set their frequency", "leave frequency, gain and antenna as they are"]);
}

/// One round of a stream, one of answers and one of another engine, all of which count.
const CHECK: &str = r#"
question = "Does the host keep up with an X310?"
[rounds]
count = { full = 1, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0, repeats_needed_max = 0 }
[[need]]
model = "n200"
mode = "rx"
rate_sps = 1e6
format = "sc16"
[[part]]
name = "n200"
factors = { mode = ["rx"], rate_sps = [1e6] }
fixed = { workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
[[part]]
name = "x310"
factors = { mode = ["rx"], rate_sps = [2e6] }
fixed = { model = "x310", workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
[[part]]
name = "engines"
factors = { engine = ["mmsg", "socket"] }
fixed = { model = "x310", mode = "rx", rate_sps = 2e6, workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
[[part]]
name = "answer"
factors = { delay = ["20ms"] }
fixed = { model = "x310", rate_sps = 2e6, workload = { kind = "round-trip", duration = "300ms", warm_up = "100ms" } }
"#;

/// A check in a place of its own, and what a witness saw meanwhile.
struct Small {
    place: Place,
    watched: Watched,
}

impl Small {
    fn run() -> Small {
        let place = Place::with("small.toml", CHECK);
        let check = place.command(&["check", "--quick", "--file", "small.toml", "--need", "x310:2M:rx", "--json"]);
        Small { watched: watched(check, &[]), place }
    }

    /// Why a round may not count: the software radio did not read in time, or threads that were ready had no processor for
    /// longer than a radio or its host waits for an answer.
    fn disturbed(&self) -> Option<String> {
        const PATIENCE: Duration = Duration::from_secs(1);
        let late = number(&json(&self.watched.out), "/rounds/emulator_late");
        let waited = (self.watched.waited > PATIENCE).then(|| format!("threads waited {:?}", self.watched.waited));
        (late > 0).then(|| format!("the radio was late in {late}")).or(waited)
    }
}

#[test]
fn a_check_is_about_the_radio_that_is_needed() {
    watched::judge(
        Small::run,
        |small| {
            let counted = json(&small.watched.out)["rounds"]["valid"] == 4;
            if counted {
                is_about_the_radio_that_is_needed(small);
            }
            untrue(Delayed, &[("all four rounds count", counted)])
        },
        |small, _| small.disturbed(),
        |small| report(&small.watched.out),
    );
}

fn is_about_the_radio_that_is_needed(Small { place, watched }: &Small) {
    let outcome = json(&watched.out);
    assert_eq!(watched.out.status.code(), Some(status_of(&outcome["verdict"]["answer"])), "{outcome:#}");
    assert_eq!(outcome["setup"]["radio"]["model"], "x310");
    let rates = outcome["rates"].as_array().expect("rates");
    assert_eq!((rates.len(), rates[0]["rate_sps"].as_f64()), (1, Some(2e6)), "the N200's part is not run");
    let engines = outcome["engines"].as_array().expect("engines");
    assert!(engines.len() == 2 && engines[0]["over_first"].is_null(), "{engines:#?}");
    assert!(outcome["round_trips"][0]["rounds"][0]["answers"].as_u64() > Some(1), "{outcome:#}");
    let export = json(&place.takt(&["experiment", "export", "last", "--format", "json"]));
    let rounds = export["rounds"].as_array().expect("rounds");
    let streamed = rounds.iter().find(|round| round["part"] == "x310").expect("the part");
    let record = &streamed["record"];
    assert_eq!(record["result"]["radio"]["model"], "X310");
    assert_eq!(record["emulator"]["devices"][0]["clock_hz"], 200_000_000);
    assert_eq!(
        record["result"]["rx"]["samples_per_datagram"], 1996,
        "8000 bytes less the header of a packet with a time"
    );
    has(&text(&place.takt(&["report", "last"]).stdout), &["X310"]);
}

#[test]
fn a_check_of_two_radios_at_once_or_of_another_one_is_refused() {
    let place = Place::with("small.toml", CHECK);
    let two = place.takt(&["check", "--need", "x310:2M:rx", "--need", "n200:1M:rx"]);
    has(&refusal(&two), &["one check measures one radio", "check each radio by itself"]);
    let radio = Radio::of("x310", 64, &[]);
    // Without a need the check is about the radio that is there.
    let found = place.takt(&["check", "--quick", "--file", "small.toml", "--addr", &radio.addr, "--json"]);
    let outcome = json(&found);
    assert_eq!(outcome["verdict"]["needs"][0]["need"]["model"], "x310", "{outcome:#}");
    let other =
        place.takt(&["check", "--quick", "--file", "small.toml", "--addr", &radio.addr, "--need", "n200:1M:rx"]);
    has(&text(&other.stderr), &["is an X310, not an N200"]);
}

#[test]
fn a_need_that_the_radio_has_not_is_refused_with_what_it_has() {
    let place = Place::with("small.toml", CHECK);
    has(
        &text(&place.takt(&["check", "--need", "n200:100M"]).stderr),
        &["an N200 can't stream at 100 MS/s", "--need n200:50M   (100 MHz / 2)"],
    );
    has(&text(&place.takt(&["check", "--need", "x310:25M:rx:sc8"]).stderr), &["an X310 has no sc8 on the wire"]);
    let wrong = CHECK.replacen("model = \"x310\", workload", "workload", 1).replace("[2e6]", "[100e6]");
    std::fs::write(place.path("wrong.toml"), wrong).expect("a file");
    let wrong = place.takt(&["check", "--file", "wrong.toml"]);
    assert_eq!(wrong.status.code(), Some(2));
    has(&text(&wrong.stderr), &["wrong.toml", "an N200 has no rate of 100 MS/s", "rate_sps"]);
}
