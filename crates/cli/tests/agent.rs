//! `takt agent` as a child: it does not outlive the one who started it.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");

#[test]
fn it_answers_and_ends_with_its_input() {
    let mut child = Command::new(TAKT).arg("agent").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("takt");
    let mut to = child.stdin.take().expect("piped");
    let mut from = BufReader::new(child.stdout.take().expect("piped"));
    to.write_all(b"{\"do\":\"hello\"}\n").expect("it listens");
    let mut line = String::new();
    from.read_line(&mut line).expect("it answers");
    assert!(line.contains(r#""reply":"hello""#), "{line}");
    drop(to);
    let mut rest = String::new();
    from.read_to_string(&mut rest).expect("its output ends");
    assert_eq!((rest.as_str(), child.wait().expect("it ends").code()), ("", Some(0)));
}

/// A shell plays the program that is killed. The agent's input stays open, so that what ends it is the signal it requested
/// the kernel for.
#[test]
fn it_dies_with_a_parent_that_is_killed() {
    let mut parent = Command::new("bash")
        .args(["-c", &format!("exec 3<&0; {TAKT} agent <&3 & echo $!; wait")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("bash");
    let _held_open = parent.stdin.take();
    let mut line = String::new();
    BufReader::new(parent.stdout.take().expect("piped")).read_line(&mut line).expect("its number");
    let agent = format!("/proc/{}", line.trim());
    // It is past its first steps when it has a second thread, which listens.
    while std::fs::read_dir(format!("{agent}/task")).expect("it lives").count() < 2 {
        std::thread::yield_now();
    }
    parent.kill().expect("ours");
    parent.wait().expect("ours");
    while alive(Path::new(&agent)) {
        std::thread::yield_now();
    }
}

/// A process that has ended and waits for its parent to take note of it counts as ended.
fn alive(process: &Path) -> bool {
    std::fs::read_to_string(process.join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Answers of an agent with so much memory to these requests.
fn lent(mib: &str, requests: &[&str]) -> Vec<String> {
    let mut child = Command::new(TAKT)
        .args(["agent", "--lent", "--memory", mib])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("takt");
    let mut to = child.stdin.take().expect("piped");
    requests.iter().for_each(|request| writeln!(to, "{request}").expect("it listens"));
    let from = BufReader::new(child.stdout.take().expect("piped"));
    let replies = from.lines().take(requests.len()).map(|line| line.expect("text")).collect();
    drop(to);
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
    replies
}

#[test]
fn one_that_was_lent_takes_no_more_memory_than_the_quota_leaves_and_does_nothing_that_is_not_listed() {
    let waveform = r#""waveform":"chain","components":2,"slot":{"secs":0,"nanos":1000000},"slots":{"count":3}"#;
    let replies = lent(
        "64",
        &[
            r#"{"number":1,"do":"run","workload":"interface","options":{"packet_bytes":33554432,"count":10}}"#,
            &format!(
                r#"{{"number":2,"do":"run","workload":"waveform","options":{{{waveform},"packet":{{"items":16777216}}}}}}"#
            ),
            r#"{"number":3,"do":"run","workload":"rate","options":{"addr":"127.0.0.1","tx_sps":1000000,"transmit":true}}"#,
            r#"{"number":4,"do":"run","workload":"rate","options":{"engine":"xdp-generic"}}"#,
            r#"{"number":5,"do":"run","workload":"rate","options":{"force":true}}"#,
            r#"{"number":6,"do":"run","workload":"interface","options":{"packet_bytes":1000,"count":10}}"#,
        ],
    );
    for (at, says) in [
        (0, "may not take 256 MiB for `packet_bytes` of workload `interface`: it was granted 64 MiB"),
        (1, "at most 67108864 are allowed"),
        (2, "may not take `transmit = true` of workload `rate`"),
        (3, "give socket, mmsg or uring"),
        (4, "another host may be using that radio"),
    ] {
        assert!(replies[at].contains(r#""reply":"failed""#) && replies[at].contains(says), "{}", replies[at]);
    }
    assert!(replies[5].contains(r#""number":6,"reply":"done""#), "{}", replies[5]);
}
