//! The programs under test and the software radio between them.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A software radio at an address of its own, ended on drop.
pub struct Radio {
    child: Child,
    pub addr: &'static str,
    stdout: BufReader<ChildStdout>,
}

impl Radio {
    pub fn at(addr: &'static str, more: &[&str]) -> Radio {
        let mut command = Command::new(TAKT);
        command.args(["emulate", "n200", "--json", "--addr", addr]).args(more);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("takt");
        let mut stdout = BufReader::new(child.stdout.take().expect("piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it says where it is");
        assert_eq!(line.trim(), format!("ready n200 {addr}"));
        Radio { child, addr, stdout }
    }

    /// Runs a command with this radio's address.
    pub fn takt(&self, args: &[&str]) -> Output {
        takt(&[args, &["--addr", self.addr]].concat())
    }

    /// Takes its power away.
    pub fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child");
    }

    /// Ends it; its summary.
    pub fn summary(mut self) -> Value {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
        let mut text = String::new();
        self.stdout.read_to_string(&mut text).expect("text");
        serde_json::from_str(&text).expect("one document")
    }
}

impl Drop for Radio {
    fn drop(&mut self) {
        let _ended_already = self.child.kill();
        let _ = self.child.wait();
    }
}

pub fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).output().expect("takt")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

pub fn json(out: &Output) -> Value {
    let said = || format!("{}\n{}", text(&out.stdout), text(&out.stderr));
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said()))
}

pub fn number(document: &Value, key: &str) -> u64 {
    document.pointer(key).and_then(Value::as_u64).unwrap_or_else(|| panic!("no {key} in {document:#}"))
}

/// What a refused command says, and that it ended with 2.
pub fn refusal(out: &Output) -> String {
    let said = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{said}{}", text(&out.stdout));
    assert!(said.starts_with("error: ") && said.contains("\n  fix   "), "{said}");
    said
}

/// Says aloud that a test did not run; fails where everything must.
#[allow(clippy::print_stderr)] // a test that is skipped says so
pub fn skip(test: &str, missing: &str) {
    let required = std::env::var_os("TAKT_REQUIRE_PEERS").is_some_and(|value| value != "0");
    assert!(!required, "{test}: {missing} is missing, and TAKT_REQUIRE_PEERS is set");
    eprintln!("SKIPPED {test}: {missing} is missing");
}
