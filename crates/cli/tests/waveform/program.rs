//! The program under test, and the files it reads.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A waveform of the repository.
pub fn waveform(name: &str) -> String {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../waveforms").join(name).to_str().expect("text").to_owned()
}

/// Outputs of others' programs that components are held against.
pub fn vectors(name: &str) -> Value {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../dsp/tests/vectors").join(name).with_extension("json");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("JSON")
}

/// Runs `takt`.
pub fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).stdin(Stdio::null()).output().expect("takt starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// The JSON document of a command that was done.
pub fn json(args: &[&str]) -> Value {
    let out = takt(&[args, &["--json"]].concat());
    assert_eq!(out.status.code(), Some(0), "takt {args:?}: {}{}", text(&out.stdout), text(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("takt {args:?}: {error}"))
}

/// What a command says that can't be done.
pub fn refusal(args: &[&str]) -> String {
    let out = takt(args);
    assert_eq!(out.status.code(), Some(2), "takt {args:?}: {}{}", text(&out.stdout), text(&out.stderr));
    text(&out.stderr)
}

/// A folder with a file in it.
pub fn file(content: &[u8]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("file.toml");
    std::fs::write(&path, content).expect("written");
    let path = path.to_str().expect("text").to_owned();
    (folder, path)
}
