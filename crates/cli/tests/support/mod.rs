//! A place of its own for a test that calls the program as a user does.
#![allow(dead_code, reason = "no test needs all of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The program.
pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A folder to call it in, with records of its own of what was made, so that nobody else's run is touched.
pub struct Place(tempfile::TempDir);

impl Place {
    /// With this file in it.
    pub fn with(name: &str, text: &str) -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        fs::write(place.path(name), text).expect("it is ours");
        place
    }

    /// The folder itself.
    pub fn folder(&self) -> &Path {
        self.0.path()
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Any program, called here.
    pub fn call(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder());
        command.env("TAKT_STATE_DIR", self.path("state")).env("TAKT_RUN_DIR", self.path("run"));
        command
    }

    /// takt, called here.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.call(TAKT);
        command.args(arguments);
        command
    }

    /// What takt said, called here.
    pub fn takt(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("takt runs")
    }

    /// Processes that were given the folder of its records, by their folders below `/proc`.
    pub fn processes(&self) -> Vec<String> {
        let mark = format!("TAKT_RUN_DIR={}", self.path("run").display());
        let given = |process: &PathBuf| {
            let words = fs::read(process.join("environ")).unwrap_or_default();
            words.split(|byte| *byte == 0).any(|word| word == mark.as_bytes())
        };
        let all = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
        all.filter(given).map(|process| process.display().to_string()).collect()
    }
}

/// How a call ended and all it said, for a failure.
pub fn told(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    format!("{:?}\n--- stdout\n{out}\n--- stderr\n{err}", output.status)
}

/// The document that it said.
pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

/// The exit status that goes with the answer of a study or a check.
pub fn status_of(answer: &Value) -> i32 {
    match answer.as_str() {
        Some("holds") => 0,
        Some("fails") => 1,
        _ => 2,
    }
}
