//! `takt component`.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::program::{TAKT, file, has, json, refusal, takt, text};

/// Runs a component on standard input; what comes out of standard output.
pub fn piped(args: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(TAKT);
    child.args(["component", "run"]).args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = child.spawn().expect("takt");
    child.stdin.take().expect("piped").write_all(input).expect("it reads");
    let out = child.wait_with_output().expect("it ends");
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    out.stdout
}

#[test]
fn every_component_is_listed_with_its_ports_and_parameters() {
    let all = json(&["component", "list"]);
    let all = all.as_array().expect("a list");
    assert!(all.len() >= 15);
    for component in all {
        assert!(component["summary"].as_str().is_some_and(|text| text.ends_with('.')), "{component}");
        for param in component["params"].as_array().expect("a list") {
            assert!(param["doc"].as_str().is_some_and(|doc| !doc.is_empty()), "{component}");
        }
    }
    let said = text(&takt(&["component", "list", "awgn"]).stdout);
    assert!(said.contains("A number from -20 to 200 dB") && said.contains("can be set while running"), "{said}");
    has(&refusal(&["component", "list", "awng"]), &["did you mean awgn?"]);
}

#[test]
fn a_component_runs_on_a_pipe() {
    let samples = piped(&["bpsk-modulate", "--param", "amplitude=100"], &[0, 1, 1]);
    let samples: Vec<i16> = samples.chunks_exact(2).map(|pair| i16::from_le_bytes([pair[0], pair[1]])).collect();
    assert_eq!(samples, [100, -100, -100]);
    let bytes: Vec<u8> = samples.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    assert_eq!(piped(&["bpsk-demodulate"], &bytes), [0, 1, 1]);
}

#[test]
fn packed_bits_are_eight_a_byte_the_first_in_the_highest_place() {
    assert_eq!(piped(&["bpsk-modulate", "--packed", "--param", "amplitude=1"], &[0b1000_0000])[..4], [255, 255, 1, 0]);
    let same = ["bit-source", "--param", "items=16"];
    let bits = piped(&same, b"");
    let packed = piped(&[&same[..], &["--packed"]].concat(), b"");
    let unpacked: Vec<u8> = packed.iter().flat_map(|byte| (0..8).rev().map(move |place| byte >> place & 1)).collect();
    assert_eq!(unpacked, bits);
}

#[test]
fn a_file_is_one_packet_by_default_and_what_is_counted_is_reported() {
    let (folder, path) = file(&[1; 10]);
    let out = folder.path().join("out");
    let out = out.to_str().expect("text");
    let whole = json(&["component", "run", "bpsk-modulate", "--in", &path, "--out", out]);
    assert_eq!([&whole["slots"], &whole["items_in"]["in"], &whole["items_out"]["out"]], [1, 10, 10]);
    let once = std::fs::read(out).expect("written");
    let cut = json(&["component", "run", "bpsk-modulate", "--in", &format!("in={path}"), "--out", out, "--items", "3"]);
    assert_eq!(cut["slots"], 4);
    assert_eq!(std::fs::read(out).expect("written"), once, "however it is cut");
    let source = json(&["component", "run", "bit-source", "--param", "items=7", "--slots", "3", "--out", out]);
    assert_eq!(source["items_out"]["out"], 21);
}

#[test]
fn what_a_component_can_not_take_is_refused_with_the_fix() {
    let (_folder, path) = file(&[0, 1, 2, 0, 1]);
    let said = refusal(&["component", "run", "bpsk-modulate", "--in", &path, "--out", "/dev/null"]);
    assert!(said.contains("byte 2 of") && said.contains("--packed"), "{said}");
    let said = refusal(&["component", "run", "bpsk-demodulate", "--in", &path, "--out", "/dev/null"]);
    assert!(said.contains("ends within an item, after 1 of its 2 bytes"), "{said}");
    let said = refusal(&["component", "run", "awgn", "--param", "ebn0_db=1000", "--in", &path]);
    assert!(said.contains("a number from -20 to 200 dB"), "{said}");
    has(&refusal(&["component", "run", "awgn", "--param", "ebn0=1", "--in", &path]), &["has no parameter `ebn0`"]);
    has(&refusal(&["component", "run", "awgn", "--param", "ebn0", "--in", &path]), &["--param NAME=VALUE"]);
    has(&refusal(&["component", "run", "awng", "--in", &path]), &["did you mean awgn?"]);
    let said = refusal(&["component", "run", "bpsk-modulate", "--in", "/nowhere/at/all", "--out", "/dev/null"]);
    assert!(said.contains("/nowhere/at/all") && said.contains("No such file"), "{said}");
    let said = refusal(&["component", "run", "bpsk-modulate", "--in", &path, "--json"]);
    assert!(said.contains("can't both go to standard output"), "{said}");
    has(&refusal(&["component", "run", "bit-source", "--in", &path, "--out", "/dev/null"]), &["omit --in"]);
}
