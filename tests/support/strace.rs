//! The system calls of a program's real-time threads, as strace sees them.

use std::path::Path;
use std::process::Command;

/// A traced program goes slowly. One that could not be judged, since the machine is slow as well, is begun anew.
const NOT_JUDGED: &str = "NOT JUDGED";
const ATTEMPTS: usize = 3;

/// Runs this binary again with these arguments, and answers for each thread whose name begins so all its calls. `None`
/// where there is no strace, or the machine was too slow to judge by it.
pub fn calls_of(threads: &[&str], arguments: &[&str]) -> Option<Vec<(String, Vec<String>)>> {
    if Command::new("strace").arg("-V").output().is_err() {
        takt_testing::skip("strace is not installed   (apt-get install strace)");
        return None;
    }
    let log = std::env::temp_dir().join(format!("takt-quiet-{}.strace", std::process::id()));
    let mut strace = Command::new("strace");
    strace.args(["-f", "-qq", "-o"]).arg(&log).arg(std::env::current_exe().expect("this binary")).args(arguments);
    // The outcome is this test's, not that of the one that runs again.
    strace.arg("--nocapture").env_remove("TAKT_TEST_RECORD");
    let mut run = || {
        let run = strace.output().expect("strace runs");
        (
            run.status.success(),
            String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr),
        )
    };
    let (mut passed, mut said) = run();
    for _ in 1..ATTEMPTS {
        if passed && said.contains(NOT_JUDGED) {
            (passed, said) = run();
        }
    }
    let calls = of_threads(threads, &log);
    let _ = std::fs::remove_file(&log);
    assert!(passed, "{said}");
    if let Some(why) = said.lines().find(|line| line.contains(NOT_JUDGED)) {
        takt_testing::not_judged(format!("under strace: {why}"));
        return None;
    }
    assert!(calls.len() >= threads.len(), "{} threads seen", calls.len());
    Some(calls)
}

/// Those from the first sleep on the clock to the last.
pub fn between_sleeps(calls: &[String]) -> &[String] {
    let sleeps = |call: &String| call.contains("clock_nanosleep");
    let first = calls.iter().position(sleeps).unwrap_or(0);
    let last = calls.iter().rposition(sleeps).unwrap_or(0);
    calls.get(first..last).unwrap_or_default()
}

fn of_threads(names: &[&str], log: &Path) -> Vec<(String, Vec<String>)> {
    let text = std::fs::read_to_string(log).expect("strace wrote");
    let mut threads: Vec<(String, String)> = Vec::new();
    let named = |line: &&str| line.contains("PR_SET_NAME") && names.iter().any(|name| line.contains(name));
    for line in text.lines().filter(named) {
        let (thread, call) = line.split_once(' ').expect("a thread and a call");
        threads.push((thread.to_owned(), call.trim().to_owned()));
    }
    let all = |(thread, name): (String, String)| {
        let own = text.lines().filter_map(|line| line.split_once(' ')).filter(|(id, _)| *id == thread);
        // A signal is no call, and one that is ignored reaches a thread only because it is traced.
        let calls = own.map(|(_, call)| call.trim()).filter(|call| !call.starts_with("--- "));
        (name, calls.map(str::to_owned).collect())
    };
    threads.into_iter().map(all).collect()
}
