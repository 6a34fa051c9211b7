//! The program under test, with a journal of its own.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

pub use crate::support::{TAKT, json, text};

pub fn doctor(state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(TAKT);
    command.arg("doctor").args(more).env("TAKT_STATE_DIR", state).stdin(Stdio::null());
    command
}

/// `--fix` with every rule named that changes something.
pub fn fix_all<'a>(only: &BTreeSet<&'a str>) -> Vec<&'a str> {
    ["--fix", "--yes", "--json"].into_iter().chain(only.iter().flat_map(|rule| ["--only", *rule])).collect()
}

/// How many entries of a kind (`changes`, `settled`) a journal has.
pub fn entries(state: &Path, kind: &str) -> usize {
    fs::read_to_string(state.join("journal.jsonl")).unwrap_or_default().matches(&format!("\"{kind}\"")).count()
}

/// Point in its changes at which a program is killed. The journal notes a change, syncs its file, and then the change
/// is made.
#[derive(Clone, Copy, Debug)]
pub enum Fact {
    /// So many changes are noted, the last of them not made.
    Noted(usize),
    /// So many changes are made, and no other noted.
    Made(usize),
}

/// Runs a program that makes changes, and has it killed at that very place, by strace(1): no time is involved. `false`, on
/// record, where there is no strace.
#[track_caller]
pub fn kill_at(fact: Fact, program: &Command) -> bool {
    let (call, number) = match fact {
        Fact::Noted(changes) => ("fsync", changes),
        // An entry begins with cutting off what was never finished.
        Fact::Made(changes) => ("ftruncate", changes + 1),
    };
    if Command::new("strace").arg("-V").output().is_err() {
        takt_testing::skip("programs are killed at a system call by strace   (apt-get install strace)");
        return false;
    }
    let mut envs = program.get_envs().filter_map(|(name, value)| Some((name, value?)));
    let state = envs.find(|(name, _)| *name == "TAKT_STATE_DIR").map(|(_, state)| Path::new(state));
    let journal = state.expect("a journal of its own").join("journal.jsonl");
    let mut strace = Command::new("strace");
    // Calls on the journal alone: a host made of files syncs each of them too.
    strace.args(["-qq", "-o", "/dev/null", "-P", &journal.to_string_lossy(), "-e", &format!("trace={call}")]);
    strace.args(["-e", &format!("inject={call}:signal=KILL:when={number}")]);
    strace.arg(program.get_program()).args(program.get_args()).stdin(Stdio::null());
    strace.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ended = strace.output().expect("strace runs");
    // It ends as what it traces did.
    assert_eq!(ended.status.signal(), Some(9), "{fact:?}: {}", text(&ended.stderr));
    true
}
