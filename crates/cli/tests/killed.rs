//! `kill -9` of any program, at a moment when it has much to lose: the next start works and finished work is there.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).output().expect("takt")
}

fn json(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|error| panic!("{error}\n{}", String::from_utf8_lossy(&out.stderr)))
}

/// A program that is killed, at the latest when the test ends.
struct Doomed(Child);

impl Doomed {
    /// Starts one and waits for its first line, `ready ...`.
    fn ready(args: &[&str]) -> Doomed {
        let mut child = Command::new(TAKT).args(args).stdout(Stdio::piped()).spawn().expect("takt");
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().expect("piped")).read_line(&mut line).expect("it speaks");
        assert!(line.starts_with("ready "), "{args:?}: {line}");
        Doomed(child)
    }

    fn start(args: &[&str]) -> Doomed {
        Doomed(Command::new(TAKT).args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt"))
    }

    /// Kills it when `enough` has happened; it must not have ended before.
    fn kill_when(mut self, enough: impl Fn() -> bool) {
        while !enough() {
            assert!(self.0.try_wait().expect("a child").is_none(), "it ended before it was killed");
            std::thread::yield_now();
        }
        drop(self);
    }
}

impl Drop for Doomed {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The radio is in somebody's hands: another host is turned away.
fn in_use(addr: &str) -> bool {
    json(&takt(&["find", "--addr", addr, "--json"]))[0]["state"]["kind"] == "in_use"
}

#[test]
fn a_driver_that_dies_gives_the_radio_back() {
    let addr = "127.0.8.1";
    let _radio = Doomed::ready(&["emulate", "n200", "--addr", addr]);
    for way in [["--rx", "1M"], ["--tx", "1M"]] {
        Doomed::start(&["rate", way[0], way[1], "--duration", "1h", "--addr", addr]).kill_when(|| in_use(addr));
        let next = takt(&["rate", way[0], way[1], "--duration", "200ms", "--addr", addr, "--json"]);
        assert!(json(&next)["rx"]["samples"].as_u64() > Some(0) || json(&next)["tx"]["samples"].as_u64() > Some(0));
    }
}

#[test]
fn a_recording_that_was_killed_is_played() {
    let addr = "127.0.8.2";
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("killed");
    let data = file.with_extension("sigmf-data");
    let written = || std::fs::metadata(&data).is_ok_and(|data| data.len() > 1_000_000);
    let file = file.to_str().expect("text");
    let _radio = Doomed::ready(&["emulate", "n200", "--addr", addr]);
    Doomed::start(&["record", file, "--rate", "1M", "--addr", addr]).kill_when(written);
    let played = json(&takt(&["play", file, "--addr", addr, "--json"]));
    assert!(played["samples"].as_u64() >= Some(250_000), "{played:#}");
}

#[test]
fn a_radio_that_dies_ends_the_driver_and_comes_back_at_once() {
    let addr = "127.0.8.3";
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
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    assert!(!Path::new(&eeprom).exists() || std::fs::metadata(&eeprom).expect("a file").len() == 1024);
    drop(Doomed::ready(&args));
}

#[test]
fn a_load_generator_or_its_server_that_dies_leaves_nothing() {
    let serve = ["udp", "serve", "--addr", "127.0.8.4", "--port", "5201"];
    let send = ["udp", "send", "--addr", "127.0.8.4", "--port", "5201", "--size", "64", "--pps", "1k"];
    let server = Doomed::ready(&serve);
    let long = [&send[..], &["--duration", "1h"]].concat();
    let short = [&send[..], &["--duration", "200ms", "--json"]].concat();
    let mut sender = Doomed::start(&long);
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert!(sender.0.try_wait().expect("a child").is_none(), "it ended before it was killed");
    drop(sender);
    assert_eq!(json(&takt(&short))["sent"]["datagrams"], 200);
    drop(server);
    let _server = Doomed::ready(&serve);
    assert_eq!(json(&takt(&short))["sent"]["datagrams"], 200);
}
