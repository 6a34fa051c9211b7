//! `takt check` with a radio that is there already: takt's emulator says how late it was itself, wherever it runs; any other
//! radio is taken to be punctual.

use std::net::{Ipv4Addr, SocketAddr};
use std::process::Output;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_base::{Clock, Stop, Tick, WallClock};
use takt_emulator::Device;
use takt_emulator::drive::wall::{BATCH, Driver, Settings};
use takt_emulator::n200::{CLOCK, N200, N200Options, Signals};
use takt_emulator::sink::Null;
use takt_emulator::source::Silence;
use takt_packet::{Config, EngineKind, PortSpec};
use takt_testing::{loopback, wait_for};

use crate::software::{Radio, has, json, text};
use crate::support::{Place, status_of};
use crate::watched::Unless::Delayed;
use crate::watched::{judge, untrue};

/// One round of one rate, which counts whatever else runs on the machine: so slow that the smallest default receive buffer
/// holds what an emulator still sends after a stop.
const SMALL: &str = r#"
question = "Does the host keep up with the radio that is there?"
[rounds]
count = { full = 1, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0, repeats_needed_max = 0 }
[[need]]
model = "n200"
mode = "rx"
rate_sps = 200e3
format = "sc16"
[[part]]
name = "sc16"
factors = { mode = ["rx"], rate_sps = [200e3] }
fixed = { workload = { kind = "rate", duration = "DURATION", warm_up = "100ms" } }
"#;

/// The check of a radio, and where it left its records.
struct Check {
    place: Place,
    arguments: [String; 7],
}

impl Check {
    fn of(addr: &str, duration: &str) -> Check {
        let words = ["check", "--quick", "--file", "small.toml", "--addr", addr, "--json"];
        Check {
            place: Place::with("small.toml", &SMALL.replace("DURATION", duration)),
            arguments: words.map(str::to_owned),
        }
    }

    fn command(&self) -> std::process::Command {
        self.place.command(&self.arguments.each_ref().map(String::as_str))
    }

    fn run(&self) -> Value {
        json(&self.command().output().expect("takt runs"))
    }

    fn record(&self) -> Value {
        let export = json(&self.place.takt(&["experiment", "export", "last", "--format", "json"]));
        export["rounds"][0]["record"].clone()
    }
}

/// Text of the report.
fn words(check: &Check) -> String {
    let shown = check.place.takt(&["report", "last"]);
    // Broken where the page ends.
    text(&shown.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_emulator_that_is_there_already_says_how_late_it_was() {
    let radio = Radio::at(70, &["--serial", "F70"]);
    let check = Check::of(&radio.addr, "300ms");
    let outcome = check.run();
    assert_eq!(outcome["setup"]["radio"]["emulator"], true, "{outcome:#}");
    assert!(outcome["rates"][0]["rounds"][0]["emulator_lag_max_us"].is_number(), "{outcome:#}");
    let record = check.record();
    let said = &record["emulator"];
    assert_eq!(said["lag"]["limit_us"], 1000, "{said:#}");
    let of_round = said["devices"][0]["lag"]["late_spans"].as_array().expect("spans").clone();
    let known = said["devices"][0]["datagrams"]["receive_buffer_drops"].is_number();
    assert!(known && said["devices"][0]["clock_offset_ticks"].is_u64(), "{said:#}");
    let words = words(&check);
    assert!(words.contains(&format!("radio at {} (takt's emulator), serial F70", radio.addr)), "{words}");
    assert!(!words.contains("not takt's"), "{words}");
    // Its own summary has the same spans; the last may have become longer when all was over.
    let summary = radio.summary();
    let all = summary["devices"][0]["lag"]["late_spans"].as_array().expect("spans");
    let begins = |spans: &[Value]| spans.iter().map(|span| span["from_ns"].as_u64()).collect::<Vec<_>>();
    assert!(begins(&of_round).iter().all(|begin| begins(all).contains(begin)), "{of_round:?} of {all:?}");
}

#[test]
fn a_reference_of_the_radio_is_requested_while_it_streams() {
    let radio = Radio::at(97, &[]);
    let check = Check::of(&radio.addr, "300ms");
    let ran = check.command().args(["--reference", "external"]).output().expect("takt runs");
    assert_eq!(json(&ran)["rates"][0]["rounds"][0]["reference_locked"], true);
    assert_eq!(check.record()["settings"]["workload"]["reference"], "external");
}

/// Runs a radio that has the ports of an N200 and no other, until `then` has ended.
fn with_bare_radio<R>(addr: Ipv4Addr, then: impl FnOnce() -> R) -> R {
    let born = Tick(CLOCK.ticks_in_ns(u128::from(WallClock.now().0)).0);
    let signals = Signals { sources: [Box::new(Silence), Box::new(Silence)], sink: Box::new(Null) };
    let device = N200::new(N200Options { address: addr, born, ..N200Options::default() }, signals).expect("a radio");
    let ports = device.ports().to_vec();
    let specs = ports.iter().map(|port| PortSpec { bind: SocketAddr::from((addr, port.0)), peer: None });
    let config = Config { batch: BATCH, max_payload_bytes: 9000, ..Config::new(specs.collect()) };
    let engine = takt_packet::open(EngineKind::Mmsg, &config).expect("its ports");
    let mut driver = Driver::new(device, CLOCK, engine, ports, Settings::default());
    let (stop, (_questions, asked)) = (Stop::new(), std::sync::mpsc::channel());
    thread::scope(|scope| {
        let stopped = &stop;
        scope.spawn(move || driver.run(stopped, &asked).expect("it runs until it is stopped"));
        let result = then();
        stop.request();
        result
    })
}

#[test]
fn a_radio_that_is_not_takts_is_taken_to_be_punctual() {
    let addr = loopback(71);
    let check = Check::of(&addr.to_string(), "300ms");
    let outcome = with_bare_radio(addr, || check.run());
    assert_eq!(outcome["setup"]["radio"]["emulator"], false, "{outcome:#}");
    assert_eq!(outcome["rates"][0]["rounds"][0]["emulator_lag_max_us"], Value::Null, "{outcome:#}");
    assert_eq!(check.record()["emulator"], Value::Null);
    has(&outcome["verdict"]["does_not_say"].to_string(), &[&format!("The radio at {addr} is not takt's emulator")]);
}

/// A check in whose round the radio's process stood still.
struct Stopped {
    check: Check,
    out: Output,
}

impl Stopped {
    /// For longer than what an emulator still sends when it is late: the first samples of the stop are lost for good.
    const STOP: Duration = Duration::from_millis(300);
    /// Opening a session takes some 230, the whole stream 1700: behind the warm-up, and long before the end.
    const BEGUN_DATAGRAMS: u64 = 700;

    fn run(host: u8) -> Stopped {
        let radio = Radio::at(host, &[]);
        let check = Check::of(&radio.addr, "3s");
        let process = Pid::from_raw(i32::try_from(radio.process()).expect("a process")).expect("not 0");
        let out = thread::scope(|scope| {
            scope.spawn(|| {
                wait_for("samples", || radio.sent_datagrams().filter(|&sent| sent > Stopped::BEGUN_DATAGRAMS));
                kill_process(process, Signal::STOP).expect("our own child");
                thread::sleep(Stopped::STOP);
                kill_process(process, Signal::CONT).expect("our own child");
            });
            check.command().output().expect("takt runs")
        });
        Stopped { check, out }
    }

    fn round(&self) -> Value {
        json(&self.out)["rates"][0]["rounds"][0].clone()
    }
}

#[test]
fn what_an_emulator_elsewhere_missed_is_not_blamed_on_this_host() {
    judge(
        || Stopped::run(72),
        |stopped| {
            let (outcome, round) = (json(&stopped.out), stopped.round());
            assert_eq!(stopped.out.status.code(), Some(status_of(&outcome["verdict"]["answer"])), "{outcome:#}");
            let why = outcome["verdict"]["needs"][0]["why"].as_str().unwrap_or_default();
            let spans = stopped.check.record()["emulator"]["devices"][0]["lag"]["late_spans"].clone();
            let longest =
                spans.as_array().into_iter().flatten().map(|span| {
                    span["to_ns"].as_u64().unwrap_or_default() - span["from_ns"].as_u64().unwrap_or_default()
                });
            untrue(
                Delayed,
                &[
                    ("the radio says that it stood still", longest.max() >= Some(Stopped::STOP.as_nanos() as u64 / 2)),
                    ("samples were lost in the stop", round["clean"] == false && round["excluded_faults"] != 0),
                    ("none of them by this host", round["own_clean"] == true),
                    ("the answer is not known", outcome["verdict"]["answer"] == "unknown"),
                    ("and it says why", why.contains("only while the emulator itself was late")),
                ],
            )
        },
        |stopped, _| {
            let round = stopped.round();
            // The verdict then gives that for its reason, before it looks at what was lost.
            if let Some(share) = round["excluded_share"].as_f64().filter(|&share| share > 0.5) {
                return Some(format!("{share} of the round is excluded: the radio was late beyond its stop"));
            }
            let dropped = round["lost_by_place"]["receive_buffer"].as_u64().filter(|&dropped| dropped > 0);
            dropped.map(|dropped| {
                format!("{dropped} datagrams found the receive buffer full: the reader did not get to read")
            })
        },
        |stopped| format!("{}\n{:#}", text(&stopped.out.stdout), stopped.check.record()),
    );
}
