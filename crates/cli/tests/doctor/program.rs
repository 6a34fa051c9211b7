//! The program under test, with a journal of its own.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use takt_host::doctor::{Fix, RULES};

pub const TAKT: &str = env!("CARGO_BIN_EXE_takt");
/// Longer than any machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Rules that change something.
pub fn changing() -> BTreeSet<&'static str> {
    RULES.iter().filter(|rule| !matches!(rule.fix, Fix::Advice(_))).map(|rule| rule.id).collect()
}

pub fn doctor(state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(TAKT);
    command.arg("doctor").args(more).env("TAKT_STATE_DIR", state).stdin(Stdio::null());
    command
}

/// `--fix` with every rule named that changes something.
pub fn fix_all(only: &BTreeSet<&str>) -> Vec<String> {
    let named = only.iter().flat_map(|rule| ["--only".to_owned(), (*rule).to_owned()]);
    ["--fix", "--yes", "--json"].map(str::to_owned).into_iter().chain(named).collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("text")
}

pub fn json(out: &Output) -> Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}\n{}", text(&out.stderr)))
}

/// How many entries of a kind (`changes`, `settled`) a journal has.
pub fn entries(state: &Path, kind: &str) -> usize {
    fs::read_to_string(state.join("journal.jsonl")).unwrap_or_default().matches(&format!("\"{kind}\"")).count()
}

/// Waits until the journal tells of so many changes, or the program has ended.
pub fn wait_for(child: &mut Child, state: &Path, changes: usize) {
    let since = Instant::now();
    while child.try_wait().expect("a child").is_none() && entries(state, "changes") < changes {
        assert!(since.elapsed() < PATIENCE, "{changes} changes never came");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// The same, and then kills it.
pub fn kill_after(mut child: Child, state: &Path, changes: usize) {
    wait_for(&mut child, state, changes);
    let _ = child.kill();
    child.wait().expect("a child");
}
