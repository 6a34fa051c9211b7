//! `kill -9` of any program, at a moment when it has much to lose: the next start works and finished work is there.

mod support;

use std::io::BufReader;
use std::path::Path;
use std::process::{ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use support::{Ended, TAKT, json, refusal, takt, while_running};
use takt_testing::{loopback, wait_for};

/// A program that is killed, at the latest when the test ends.
struct Doomed {
    program: Ended,
    /// Open as long as it lives.
    _stdout: Option<BufReader<ChildStdout>>,
}

impl Doomed {
    /// Starts one and waits for its first line, `ready ...`.
    fn ready(args: &[&str]) -> Doomed {
        Doomed::ready_with_notes(args, Stdio::inherit())
    }

    /// The same, with what it has to note on the way written there.
    fn ready_with_notes(args: &[&str], notes: impl Into<Stdio>) -> Doomed {
        let (program, stdout, line) = Ended::ready(Command::new(TAKT).args(args).stderr(notes));
        assert!(line.starts_with("ready "), "{args:?}: {line}");
        Doomed { program, _stdout: Some(stdout) }
    }

    fn start(args: &[&str]) -> Doomed {
        let mut command = Command::new(TAKT);
        let child = command.args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt");
        Doomed { program: Ended(child), _stdout: None }
    }

    /// Kills it when `enough` has happened; it must not have ended before.
    fn kill_when(mut self, enough: impl Fn() -> bool) {
        while_running(&mut self.program.0, "the moment to kill it", enough);
        drop(self);
    }

    /// How often its threads have been given a processor.
    fn turns(&self) -> u64 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.program.0.id())).expect("it lives");
        let texts =
            threads.flatten().filter_map(|thread| std::fs::read_to_string(thread.path().join("schedstat")).ok());
        texts.filter_map(|text| text.split_whitespace().nth(2)?.parse::<u64>().ok()).sum()
    }
}

/// Another host has the radio, and whoever comes next is turned away.
fn in_use(addr: &str) -> bool {
    json(&takt(&["find", "--addr", addr, "--json"]))[0]["state"]["kind"] == "in_use"
}

/// The document of a command that ends when its samples have passed; again where the radio did not get round to an answer in
/// the time that the command waits.
fn passed(args: &[&str]) -> Value {
    let document = wait_for("an answer of the radio", || {
        let out = takt(args);
        (!String::from_utf8_lossy(&out.stderr).contains("no radio answers")).then(|| json(&out))
    });
    assert!(document["samples"].as_u64() > Some(0), "{args:?}: {document:#}");
    document
}

#[test]
fn a_driver_that_dies_gives_the_radio_back() {
    let addr = &loopback(1).to_string();
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("next");
    let file = file.to_str().expect("text");
    let _radio = Doomed::ready(&["emulate", "n200", "--addr", addr]);
    let record = ["record", file, "--rate", "1M", "--samples", "10000", "--addr", addr, "--json"];
    let play = ["play", file, "--addr", addr, "--json"];
    for (way, next) in [("--rx", &record[..]), ("--tx", &play)] {
        Doomed::start(&["rate", way, "1M", "--duration", "1h", "--addr", addr]).kill_when(|| in_use(addr));
        passed(next);
    }
}

#[test]
fn a_recording_that_was_killed_is_played() {
    let addr = &loopback(2).to_string();
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("killed");
    let data = file.with_extension("sigmf-data");
    let written = || std::fs::metadata(&data).is_ok_and(|data| data.len() > 1_000_000);
    let file = file.to_str().expect("text");
    let _radio = Doomed::ready(&["emulate", "n200", "--addr", addr]);
    Doomed::start(&["record", file, "--rate", "1M", "--addr", addr]).kill_when(written);
    let played = passed(&["play", file, "--addr", addr, "--json"]);
    assert!(played["samples"].as_u64() >= Some(250_000), "{played:#}");
}

#[test]
fn a_radio_that_dies_ends_the_driver_and_comes_back_at_once() {
    let addr = &loopback(3).to_string();
    let dir = tempfile::tempdir().expect("a directory");
    let eeprom = dir.path().join("eeprom");
    let args = ["emulate", "n200", "--addr", addr, "--eeprom", eeprom.to_str().expect("text")];
    let radio = Doomed::ready(&args);
    let driver = Command::new(TAKT)
        .args(["rate", "--rx", "1M", "--tx", "1M", "--duration", "1h", "--addr", addr])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("takt");
    radio.kill_when(|| in_use(addr));
    let out = driver.wait_with_output().expect("it ends by itself");
    let said = refusal(&out);
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    assert!(!Path::new(&eeprom).exists() || std::fs::metadata(&eeprom).expect("a file").len() == 1024);
    drop(Doomed::ready(&args));
}

#[test]
fn a_load_generator_or_its_server_that_dies_leaves_nothing() {
    let addr = &loopback(4).to_string();
    let serve = ["udp", "serve", "--addr", addr, "--port", "5201"];
    let send = ["udp", "send", "--addr", addr, "--port", "5201", "--size", "64", "--pps", "1k"];
    let dir = tempfile::tempdir().expect("a directory");
    let notes = dir.path().join("notes");
    let server = Doomed::ready_with_notes(&serve, std::fs::File::create(&notes).expect("a file"));
    let long = [&send[..], &["--duration", "1h"]].concat();
    let short = [&send[..], &["--duration", "200ms", "--json"]].concat();
    let sender = Doomed::start(&long);
    wait_for("the load to begin", || std::fs::read_to_string(&notes).ok()?.contains(" began").then_some(()));
    // It sleeps from datagram to datagram.
    let begun = sender.turns();
    wait_for("a hundred datagrams", || (sender.turns() >= begun + 100).then_some(()));
    sender.kill_when(|| true);
    whole(&takt(&short));
    drop(server);
    let _server = Doomed::ready(&serve);
    whole(&takt(&short));
}

/// Each of the 200 datagrams of a fifth of a second was sent, or was not because its time was over.
fn whole(out: &Output) {
    let report = json(out);
    let (sent, unsent) = (report["sent"]["datagrams"].as_u64(), report["unsent"].as_u64());
    assert!(sent > Some(0) && sent.zip(unsent).map(|(sent, unsent)| sent + unsent) == Some(200), "{report:#}");
}
