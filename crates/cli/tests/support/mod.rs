//! A place of its own for a test that calls the program as a user does.
#![allow(dead_code, reason = "no test needs all of it")]

#[cfg(feature = "cluster")]
pub mod cluster;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use takt_host::testing::TestRun;

pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");

/// A folder to call it in, with records of its own of what was made, so that nobody else's run is touched.
pub struct Place {
    folder: tempfile::TempDir,
    /// The test's own, in which what it starts is marked: `takt clean` ends that where the test is killed.
    pub run: TestRun,
}

impl Place {
    /// With this file in it.
    pub fn with(name: &str, text: &str) -> Place {
        let place = Place { folder: tempfile::tempdir().expect("a folder"), run: TestRun::new() };
        fs::write(place.path(name), text).expect("it is ours");
        place
    }

    /// With a study of these parts as `small.toml`, which takes seconds: so many rounds, each of which counts, whatever else
    /// runs on the machine.
    pub fn with_study(name: &str, rounds: u32, parts: &str) -> Place {
        let head = format!(
            r#"
question = "Does the study work?"
[study]
name = "{name}"
[rounds]
count = {{ full = {rounds}, quick = {rounds} }}
order = {{ seed = 1 }}
valid = {{ foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }}
"#
        );
        Place::with("small.toml", &(head + parts))
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn call(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.folder());
        command.env("TAKT_STATE_DIR", self.path("state")).env("TAKT_RUN_DIR", self.path("run"));
        // Whatever is called calls takt in the end.
        self.run.mark(&mut command, Path::new(TAKT));
        command
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.call(TAKT);
        command.args(arguments);
        command
    }

    /// takt as an ordinary user calls it: by root, as one who can reach the program and owns the folder.
    pub fn command_of_a_user(&self, arguments: &[&str]) -> Command {
        if !rustix::process::geteuid().is_root() {
            return self.command(arguments);
        }
        let program = self.path("takt");
        let copied = Command::new("cp").arg("--reflink=auto").arg(TAKT).arg(&program).status();
        assert!(copied.expect("cp is of every system").success(), "room for a copy");
        rustix::fs::chown(self.folder(), Some(rustix::fs::Uid::from_raw(65_534)), None).expect("root may");
        let mut command = self.call("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program).args(arguments);
        self.run.mark(&mut command, &program);
        command
    }

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

/// Two sizes of the check: one datagram size, one rate; every round counts, whatever else runs on the machine.
pub const SMALL_CHECK: &str = r#"
question = "Does the check work?"
[rounds]
count = { full = 2, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0, repeats_needed_max = 0 }
[[need]]
model = "n200"
mode = "duplex"
rate_sps = 1e6
format = "sc16"
[[part]]
name = "udp"
factors = { payload_bytes = [64] }
fixed = { direction = "to-host", workload = { kind = "udp", duration = "200ms", warm_up = "0s" } }
[[part]]
name = "sc16"
factors = { mode = { full = ["rx", "duplex"], quick = ["duplex"] }, rate_sps = [1e6] }
fixed = { workload = { kind = "rate", duration = "300ms", warm_up = "100ms" } }
"#;

/// Runs takt, where nobody can answer it.
pub fn takt(args: &[&str]) -> Output {
    Command::new(TAKT).args(args).stdin(Stdio::null()).output().expect("takt starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

/// Fails unless all these words are in the text.
#[track_caller]
pub fn has(said: &str, words: &[&str]) {
    for words in words {
        assert!(said.contains(words), "{words}\n{said}");
    }
}

/// Message of a refused command, which ended with 2.
#[track_caller]
pub fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", report(output));
    text(&output.stderr)
}

/// `None`, on record, where this is not root; what it is needed for.
#[track_caller]
pub fn root_for(what: &str) -> Option<()> {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        takt_testing::skip(format!("{what} needs root   (run the tests as root)"));
    }
    is_root.then_some(())
}

/// The page of a run, by the document of a check or a study.
pub fn page_of(place: &Place, outcome: &Value) -> String {
    let run = outcome["run"].as_str().expect("a run");
    fs::read_to_string(place.path("takt-runs").join(run).join("report.html")).expect("a page")
}

/// A program that is ended on drop.
pub struct Ended(pub Child);

impl Ended {
    /// Starts a program and waits for the first line of its output.
    pub fn ready(command: &mut Command) -> (Ended, BufReader<ChildStdout>, String) {
        let mut child = command.stdout(Stdio::piped()).spawn().expect("it starts");
        let (mut stdout, mut line) = (BufReader::new(child.stdout.take().expect("piped")), String::new());
        stdout.read_line(&mut line).expect("it says where it is");
        (Ended(child), stdout, line)
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        let _ended_already = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits for something that happens while a program runs; the program must not end before.
#[track_caller]
pub fn while_running(program: &mut Child, what: &str, mut happened: impl FnMut() -> bool) {
    takt_testing::wait_for(what, || {
        assert!(program.try_wait().expect("a child").is_none(), "it ended by itself");
        happened().then_some(())
    });
}

/// All that a program prints to its end, whose standard error is being read already. Both are read at once: a result may be longer
/// than a pipe holds, and its writer would wait for ever.
pub fn to_the_end(program: Child, mut errors: impl Read + Send) -> (Output, String) {
    std::thread::scope(|scope| {
        let said = scope.spawn(move || {
            let mut said = String::new();
            errors.read_to_string(&mut said).map(|_| said)
        });
        let done = program.wait_with_output().expect("a child");
        (done, said.join().expect("it reads").expect("text"))
    })
}

/// How a call ended and all it printed, for a failure.
pub fn report(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    format!("{:?}\n--- stdout\n{out}\n--- stderr\n{err}", output.status)
}

pub fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", report(output)))
}

/// The exit status that goes with the answer of a study or a check.
pub fn status_of(answer: &Value) -> i32 {
    match answer.as_str() {
        Some("holds") => 0,
        Some("fails") => 1,
        _ => 2,
    }
}
