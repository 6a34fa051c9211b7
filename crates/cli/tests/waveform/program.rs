//! The program under test, and the files it reads.

use std::path::PathBuf;

use serde_json::Value;

use crate::support;
pub use crate::support::{TAKT, has, report, takt, text};

pub fn waveform(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../waveforms").join(name).to_str().expect("text").to_owned()
}

/// Outputs of others' programs that components are held against.
pub fn vectors(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dsp/tests/vectors").join(name).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

pub fn number(vector: &Value, key: &str) -> usize {
    vector[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {vector}")) as usize
}

pub fn bytes(hex: &Value) -> Vec<u8> {
    let hex = hex.as_str().expect("hex");
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex digits")).collect()
}

/// The first bit is the highest of its byte.
pub fn bits(hex: &Value, count: usize) -> Vec<u8> {
    let packed = bytes(hex);
    (0..count).map(|i| packed[i / 8] >> (7 - i % 8) & 1).collect()
}

pub fn json(args: &[&str]) -> Value {
    let out = takt(&[args, &["--json"]].concat());
    assert_eq!(out.status.code(), Some(0), "takt {args:?}: {}", report(&out));
    support::json(&out)
}

pub fn refusal(args: &[&str]) -> String {
    support::refusal(&takt(args))
}

/// A waveform in a file of its own: a chain of components, each with its type and its parameters, a line each.
pub fn chain(name: &str, slot: &str, components: &[(&str, &str, &str)]) -> (tempfile::TempDir, String) {
    file(chain_text(name, slot, components).as_bytes())
}

pub fn chain_text(name: &str, slot: &str, components: &[(&str, &str, &str)]) -> String {
    let names: Vec<&str> = components.iter().map(|(name, ..)| *name).collect();
    let head = format!("name = {name:?}\nslot = {slot:?}\nchain = {names:?}\n");
    let one = |(name, kind, params): &(&str, &str, &str)| format!("[component.{name}]\ntype = {kind:?}\n{params}\n");
    components.iter().map(one).fold(head, |text, one| text + &one)
}

/// The path of a file that is not there yet, in a folder of its own.
pub fn free(name: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(name).to_str().expect("text").to_owned();
    (folder, path)
}

pub fn file(content: &[u8]) -> (tempfile::TempDir, String) {
    let (folder, path) = free("file.toml");
    std::fs::write(&path, content).expect("written");
    (folder, path)
}
