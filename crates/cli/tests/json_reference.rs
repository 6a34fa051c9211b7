//! The documents that the program prints have the keys and types of `docs/reference/json.md`.
//!
//! Documents that take long, change the machine or need a cluster are not read here: those of a self-test, a study, a proof, a run
//! on a cluster, and its nodes.

#[path = "support/json_page.rs"]
mod json_page;
mod support;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufReader, Read};
use std::path::Path;
use std::process::{ChildStdout, Command, Stdio};

use json_page::{PAGE, agrees, anchor};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Ended, Place, SMALL_CHECK, TAKT, json, takt, while_running};
use takt_testing::loopback;

const COMMANDS: &str = include_str!("../../../docs/reference/cli.md");
const BPSK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/bpsk.toml");

fn place() -> Place {
    Place::with("empty", "")
}

fn printed(args: &[&str]) -> Value {
    json(&takt(&[args, &["--json"]].concat()))
}

fn printed_in(place: &Place, args: &[&str]) -> Value {
    json(&place.takt(&[args, &["--json"]].concat()))
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON")
}

fn first_cpu() -> String {
    takt_host::affinity::own_cpus()[0].to_string()
}

fn interrupt(program: &Ended) {
    kill_process(Pid::from_child(&program.0), Signal::INT).expect("our own child");
}

/// A program that prints `ready ...` and, once it ends, its document.
struct Server {
    program: Ended,
    stdout: BufReader<ChildStdout>,
    addr: String,
}

impl Server {
    /// A command is asked again at most so often: it waits for a third of a second, which a busy machine may let pass.
    const TRIES: usize = 20;

    /// `host` tells the addresses of this file apart.
    fn start(args: &[&str], host: u8) -> Server {
        let addr = loopback(host).to_string();
        let mut command = Command::new(TAKT);
        command.args(args).args(["--addr", &addr, "--json"]).stderr(Stdio::null());
        let (program, stdout, line) = Ended::ready(&mut command);
        assert!(line.starts_with("ready "), "{line}");
        Server { program, stdout, addr }
    }

    /// The document of a command that asks it.
    fn asked(&self, args: &[&str]) -> Value {
        let ask = || printed(&[args, &["--addr", &self.addr]].concat());
        let is_answer = |answer: &Value| answer.get("error").is_none() && *answer != Value::Array(Vec::new());
        (0..Server::TRIES).map(|_| ask()).find(is_answer).unwrap_or_else(ask)
    }

    /// Interrupts it; its document.
    fn ended(self) -> Value {
        interrupt(&self.program);
        self.document()
    }

    /// The document that it prints when it ends by itself.
    fn document(mut self) -> Value {
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("text");
        serde_json::from_str(&text).expect("one document")
    }
}

#[test]
fn each_command_has_a_section() {
    let headings: BTreeSet<String> = PAGE.lines().filter(|line| line.starts_with('#')).map(anchor).collect();
    // The documents of all studies have one section.
    let is_missing = |command: &&str| !headings.contains(&anchor(command)) && !command.starts_with("takt paper ");
    let commands = COMMANDS.lines().filter_map(|line| line.strip_prefix("## "));
    assert_eq!(commands.filter(is_missing).collect::<Vec<&str>>(), Vec::<&str>::new());
}

#[test]
fn a_failed_command() {
    agrees(&["errors"], &[printed(&["stops", "--duration", "50ms", "--cores", "100000"])]);
}

#[test]
fn a_check_and_its_report() {
    let place = Place::with("small.toml", SMALL_CHECK);
    let outcome = printed_in(&place, &["check", "--quick", "--file", "small.toml"]);
    let report = printed_in(&place, &["report", "last"]);
    let run = outcome["run"].as_str().expect("a run");
    let file = read(&place.path("takt-runs").join(run).join("outcome.json"));
    agrees(&["takt-check", "a-run"], &[outcome, report, file]);
}

#[test]
fn radios_found_and_described_a_stream_and_the_summary_of_each() {
    let [n200, x310] = [("n200", 1), ("x310", 2)].map(|(model, host)| Server::start(&["emulate", model], host));
    agrees(&["takt-find"], &[n200.asked(&["find"]), x310.asked(&["find"])]);
    agrees(&["takt-probe"], &[n200.asked(&["probe"]), x310.asked(&["probe"])]);
    let stream = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "200ms", "--warm-up", "50ms"];
    let by_interval = [&stream[..], &["--interval", "100ms"]].concat();
    agrees(&["takt-rate"], &[n200.asked(&stream), x310.asked(&by_interval)]);
    agrees(&["takt-emulate"], &[n200.ended(), x310.ended()]);
}

#[test]
fn a_radio_shared_and_its_state() {
    let (place, radio) = (place(), Server::start(&["emulate", "n200"], 7));
    let file = place.path("shared.toml");
    let [first, second] = [8, 9].map(loopback);
    let text = format!(
        "[front_end]\nrate = 1e6\nfrequency = 900e6\n[[radio]]\nname = \"first\"\naddr = \"{first}\"\nrate = 250e3\n"
    );
    fs::write(&file, text).expect("ours");
    let run = place.path("run");
    let mut command = Command::new(TAKT);
    command
        .env("TAKT_RUN_DIR", &run)
        .args(["share", "--addr", &radio.addr, "--block", "1ms", "--json", "--radios"])
        .arg(&file);
    let (program, stdout, line) = Ended::ready(command.stderr(Stdio::null()));
    assert!(line.starts_with("ready "), "{line}");
    let process = program.0.id().to_string();
    let ask = |args: &[&str]| {
        let mut command = Command::new(TAKT);
        command.env("TAKT_RUN_DIR", &run).arg("share").args(args).args(["--process", &process, "--json"]);
        json(&command.output().expect("takt"))
    };
    let add = format!("name=second,addr={second},rate=250e3");
    agrees(&["takt-share-add"], &[ask(&["add", "--radio", &add])]);
    let record = place.path("recording").display().to_string();
    let record = ["record", &record, "--rate", "250k", "--samples", "500", "--freq", "900M", "--addr"];
    printed(&[&record[..], &[&first.to_string()]].concat());
    agrees(&["takt-share-status"], &[ask(&["status"])]);
    ask(&["remove", "second"]);
    interrupt(&program);
    let mut documents = String::new();
    let mut stdout = stdout;
    stdout.read_to_string(&mut documents).expect("text");
    let document = documents.lines().filter(|line| !line.starts_with("ready ")).collect::<Vec<_>>().join("\n");
    agrees(&["takt-share"], &[serde_json::from_str(&document).expect("one document")]);
}

#[test]
fn a_recording_made_and_played() {
    let (place, radio) = (place(), Server::start(&["emulate", "n200"], 3));
    let file = place.path("recording").display().to_string();
    let record = ["record", &file, "--rate", "1M", "--samples", "5000", "--freq", "900M", "--gain", "10", "--replace"];
    agrees(&["takt-record"], &[radio.asked(&record)]);
    agrees(&["takt-play"], &[radio.asked(&["play", &file])]);
}

#[test]
fn a_front_end_calibrated() {
    let (place, radio) = (place(), Server::start(&["emulate", "n200", "--imperfect", "7"], 6));
    let out = place.path("calibration").display().to_string();
    let sweep = ["radio", "calibrate", "--start", "900M", "--stop", "900M", "--out", &out];
    agrees(&["takt-radio-calibrate"], &[radio.asked(&sweep)]);
}

#[test]
fn a_server_of_load_and_the_results_of_its_clients() {
    let server = Server::start(&["udp", "serve"], 4);
    let send = ["udp", "send", "--bitrate", "5M", "--duration", "100ms"];
    let sent = [server.asked(&send), server.asked(&[&send[..], &["--bidir"]].concat())];
    agrees(&["takt-udp-send", "load-one-way"], &sent);
    let search =
        ["udp", "search", "--max-pps", "1k", "--trial", "50ms", "--confirm", "0", "--repeats", "2", "--bursts"];
    agrees(&["takt-udp-search"], &[server.asked(&search)]);
    agrees(&["takt-udp-serve"], &[server.ended()]);
}

#[test]
fn a_waveform_run_its_execution_times_its_mapping_and_its_costs() {
    let (place, cpu) = (place(), first_cpu());
    let run = printed_in(&place, &["run", BPSK, "--slots", "20", "--clock", "free"]);
    fs::write(place.path("run.json"), run.to_string()).expect("ours");
    agrees(&["takt-run"], &[run]);
    agrees(&["takt-execinfo"], &[printed_in(&place, &["execinfo", "run.json"])]);
    agrees(&["takt-map"], &[printed_in(&place, &["map", BPSK, "--cores", &cpu, "--save-costs", "costs.json"])]);
    agrees(&["costs"], &[read(&place.path("costs.json"))]);
}

#[test]
fn a_link_and_one_that_does_not_come_up() {
    let quick = ["link", "demo", "--speed", "0.25", "--time", "200ms", "--pings", "1"];
    let up = printed(&quick);
    let down = printed(&[&quick[..], &["--snr", "-30", "--patience", "300ms"]].concat());
    assert!(up["attach_s"].is_number() && down["attach_s"].is_null(), "{up:#} {down:#}");
    agrees(&["takt-link-demo"], &[up, down]);
}

#[test]
fn the_variables_of_a_waveform_that_runs() {
    let mut command = Command::new(TAKT);
    command.args(["run", BPSK, "--slot", "5ms", "--policy", "other"]).stdout(Stdio::null());
    let mut running = Ended(command.spawn().expect("takt"));
    let process = running.0.id().to_string();
    let mut answer = Value::Null;
    while_running(&mut running.0, "a run that answers", || {
        answer = printed(&["variable", "--process", &process]);
        answer.is_array()
    });
    agrees(&["takt-variable"], &[answer]);
    // So that it takes its socket away.
    interrupt(&running);
    running.0.wait().expect("a child");
}

#[test]
fn the_speed_of_a_core() {
    agrees(&["takt-calibrate"], &[printed(&["calibrate", "--cores", &first_cpu()])]);
}

#[test]
fn components_listed_and_one_run() {
    agrees(&["takt-component-list"], &[printed(&["component", "list"])]);
    let place = Place::with("bits.u8", &"\0".repeat(100));
    let run = ["component", "run", "bpsk-modulate", "--in", "bits.u8", "--out", "samples.i16"];
    agrees(&["takt-component-run"], &[printed_in(&place, &run)]);
}

/// A run that takes no time and no network.
const LINK: &str = "question = \"Which keys has an experiment?\"\n[rounds]\ncount = 2\norder = { seed = 1 }\n\
                    valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }\n[[part]]\nname = \"link\"\n\
                    fixed = { packet_bytes = 4096, count = 100, workload = { kind = \"interface\" } }\n";

#[test]
fn experiments_run_shown_listed_and_compared() {
    let place = Place::with("link.toml", LINK);
    let run = || printed_in(&place, &["experiment", "run", "link.toml"]);
    agrees(&["takt-experiment-run"], &[run(), run(), printed_in(&place, &["experiment", "show", "last"])]);
    let list = printed_in(&place, &["experiment", "list"]);
    let [first, second] = [0_usize, 1].map(|n| list[n]["id"].as_str().expect("a run").to_owned());
    agrees(&["takt-experiment-list"], &[list]);
    let compared = printed_in(&place, &["experiment", "compare", &first, &second]);
    agrees(&["takt-experiment-compare"], &[compared]);
    agrees(&["takt-experiment-factors"], &[printed(&["experiment", "factors"])]);
}

/// On a host of files with a small receive buffer, and on this one.
#[test]
fn problems_found_fixed_and_given_back() {
    let place = place();
    for (file, text) in [
        ("proc/sys/kernel/osrelease", "6.12.0\n"),
        ("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n"),
        ("proc/sys/net/core/rmem_max", "212992\n"),
        ("proc/sys/net/core/wmem_max", "212992\n"),
    ] {
        let path = place.path("host").join(file);
        fs::create_dir_all(path.parent().expect("below the root")).expect("ours");
        fs::write(path, text).expect("ours");
    }
    let doctor = |more: &[&str]| printed_in(&place, &[&["doctor", "--root", "host"][..], more].concat());
    let before = doctor(&[]);
    agrees(&["takt-doctor---fix"], &[doctor(&["--fix", "--yes", "--only", "socket-buffer-small"])]);
    agrees(&["takt-doctor"], &[before, doctor(&[]), printed_in(&place, &["doctor"])]);
    agrees(&["takt-doctor---undo"], &[doctor(&["--undo"])]);
    agrees(&["takt-doctor---explain"], &[printed(&["doctor", "--explain", "governor"])]);
}

#[test]
fn stops_wake_ups_and_leftovers() {
    let (place, cpu) = (place(), first_cpu());
    agrees(&["takt-stops"], &[printed(&["stops", "--duration", "200ms", "--need", "n200:1M"])]);
    let wakeup = ["wakeup", "--duration", "100ms", "--warm-up", "10ms", "--cores", &cpu];
    agrees(&["takt-wakeup"], &[printed(&wakeup)]);
    agrees(&["takt-clean"], &[printed_in(&place, &["clean"])]);
}

#[cfg(feature = "cluster")]
#[test]
fn certificates_of_a_cluster() {
    let place = place();
    let made = printed_in(&place, &["node", "certificates", "--out", "cluster", "a"]);
    agrees(&["takt-node-certificates"], &[made]);
}
