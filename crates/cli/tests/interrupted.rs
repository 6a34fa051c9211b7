//! Signals that ask the program to end: those that come together are one request, a later one ends it at once.

mod support;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use support::{Ended, TAKT, while_running};
use takt_host::ending::ONE_REQUEST;
use takt_testing::loopback;

const PAGE_BYTES: usize = 4096;

fn send(signal: Signal, to: &Child) {
    kill_process(Pid::from_child(to), signal).expect("our own child");
}

/// Whether the program has a handler of its own for SIGINT (proc_pid_status(5), `SigCgt`).
fn handles_sigint(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    mask >> (Signal::INT.as_raw() - 1) & 1 == 1
}

/// `timeout` signals its child and the child's group: two signals, microseconds apart.
#[test]
fn two_signals_at_once_end_it_in_good_order() {
    let address = loopback(1).to_string();
    let (mut radio, _stdout, _line) = Ended::ready(Command::new(TAKT).args(["emulate", "n200", "--addr", &address]));
    send(Signal::INT, &radio.0);
    send(Signal::TERM, &radio.0);
    assert_eq!(radio.0.wait().expect("a child").code(), Some(0));
}

#[test]
fn one_that_hangs_is_ended_by_a_later_signal() {
    // Its first line finds no room in a pipe that nobody reads.
    let (_reader, mut pipe) = std::io::pipe().expect("a pipe");
    rustix::pipe::fcntl_setpipe_size(&pipe, PAGE_BYTES).expect("a page is the least there is");
    pipe.write_all(&[b'\n'; PAGE_BYTES]).expect("it holds a page");
    let address = loopback(2).to_string();
    let mut command = Command::new(TAKT);
    command.args(["emulate", "n200", "--addr", &address]).stdout(pipe).stderr(Stdio::null());
    let mut radio = Ended(command.spawn().expect("takt starts"));
    let id = radio.0.id();
    while_running(&mut radio.0, "its handlers", || handles_sigint(id));
    send(Signal::INT, &radio.0);
    sleep(ONE_REQUEST + Duration::from_millis(100));
    assert!(radio.0.try_wait().expect("a child").is_none(), "it hangs");
    send(Signal::INT, &radio.0);
    assert_eq!(radio.0.wait().expect("a child").code(), Some(128 + Signal::INT.as_raw()));
}
