//! Processes and memory end with the program that started them.

use std::process::{Command, Stdio};

use takt_base::Stop;
use takt_graph::Latency;
use takt_runtime::SessionOptions;

use super::setup::{all_sorts, assign, children, children_of, open, options};

pub(super) const TESTS: super::Tests = tests![nothing_is_left_behind, a_program_that_is_killed_ends_its_processes_too];

fn nothing_is_left_behind() {
    let graph = all_sorts(&["meter", "source"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let session = open(&graph, &plan, options(100));
    assert_eq!(children().len(), 2);
    drop(session);
    assert_eq!(children(), [], "a session that never ran");
    let report = open(&graph, &plan, options(100)).run(&Stop::new()).expect("starts");
    assert_eq!((report.slots, children().len()), (100, 0));
    let files = std::fs::read_dir("/proc/self/fd").expect("Linux");
    let shared = files.filter_map(|file| std::fs::read_link(file.ok()?.path()).ok());
    assert!(!shared.into_iter().any(|path| path.to_string_lossy().contains("takt-isolated")), "the shared memory");
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    assert!(!maps.contains("takt-isolated"), "its mapping");
}

/// A program of its own that runs until it is killed.
#[expect(clippy::print_stdout, reason = "for its parent")]
pub(super) fn endless() {
    let graph = all_sorts(&["meter", "average"]);
    let plan = assign(&graph, &[0; 6], Latency::Compact);
    let running =
        open(&graph, &plan, SessionOptions { slots: None, ..options(0) }).start(&Stop::new()).expect("starts");
    println!("running");
    let _ = running.join();
}

fn a_program_that_is_killed_ends_its_processes_too() {
    let mut program = Command::new("/proc/self/exe").arg("endless").stdout(Stdio::piped()).spawn().expect("starts");
    let mut line = String::new();
    let out = program.stdout.take().expect("piped");
    std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line).expect("a line");
    assert_eq!(line, "running\n");
    let its: Vec<u32> = children_of(program.id()).into_iter().map(|(id, _)| id).collect();
    assert_eq!(its.len(), 2);
    program.kill().expect("ours");
    program.wait().expect("gone");
    let runs = |id: &u32| {
        let status = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // Gone, or dead and waiting for init to notice.
        !status.is_empty() && !status.contains(") Z ")
    };
    takt_testing::wait_for("the end of its processes", || (!its.iter().any(runs)).then_some(()));
}
