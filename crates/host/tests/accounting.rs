//! CPU accounting as its users see it: what was burnt is found, and found with the right owner.

use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use takt_host::accounting::{Snapshot, Usage};

/// Burns CPU until the calling thread has used `ns` more of it, by its own clock.
fn burn(ns: u64) {
    let used = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
        text.split_whitespace().next().unwrap().parse::<u64>().unwrap()
    };
    let end = used() + ns;
    while used() < end {
        std::hint::black_box((0..10_000u64).fold(0u64, u64::wrapping_add));
    }
}

#[test]
fn a_threads_work_is_found_under_its_name_and_in_its_process() {
    const BURNT_NS: u64 = 200_000_000;
    let (done, wait_done) = mpsc::channel();
    let (release, wait_release) = mpsc::channel::<()>();
    let before = Snapshot::take().unwrap();
    let worker = thread::Builder::new()
        .name("takt-burner".to_owned())
        .spawn(move || {
            burn(BURNT_NS);
            done.send(()).unwrap();
            let _ = wait_release.recv();
        })
        .unwrap();
    wait_done.recv().unwrap();
    let usage = Snapshot::take().unwrap().since(&before);
    drop(release);
    worker.join().unwrap();

    let thread = usage.process.threads.iter().find(|t| t.name == "takt-burner").expect("the thread lives");
    assert!(thread.cpu_ns >= BURNT_NS, "{thread:?}");
    assert!(usage.process.cpu_ns >= thread.cpu_ns);
    assert!(usage.process.user_ns + usage.process.system_ns >= BURNT_NS);
    assert!(usage.machine.total_ns() > 0);
    assert_eq!(usage.cpus.len(), std::fs::read_to_string("/proc/stat").unwrap().matches("\ncpu").count());
}

struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_companions_work_is_found_and_one_that_ended_is_left_out() {
    let child = Killed(Command::new("sh").args(["-c", "while :; do :; done"]).stdin(Stdio::null()).spawn().unwrap());
    let pid = child.0.id();
    let before = Snapshot::take_with(&[pid]).unwrap();
    // By the child's own clock, so that a busy machine changes nothing.
    let usage = takt_testing::wait_for("100 ms of the child's", || {
        let usage = Snapshot::take_with(&[pid]).unwrap().since(&before);
        (usage.companions[0].cpu_ns > 100_000_000).then_some(usage)
    });
    drop(child);
    let companion = &usage.companions[0];
    assert_eq!((companion.pid, usage.companions.len()), (pid, 1));
    assert!(usage.machine.busy_ns() > 0);

    let gone = Snapshot::take_with(&[pid]).unwrap().since(&before);
    assert!(gone.companions.is_empty(), "a process that ended is left out");
}

#[test]
fn usage_survives_json_with_units_in_its_keys() {
    let before = Snapshot::take().unwrap();
    let usage = Snapshot::take().unwrap().since(&before);
    let json = serde_json::to_value(&usage).unwrap();
    for key in ["wall_ns", "foreign_cpu_ns", "process", "machine", "cpus", "companions"] {
        assert!(json.get(key).is_some(), "{key} in {json}");
    }
    assert!(json["process"]["threads"][0]["run_delay_ns"].is_u64());
    assert!(json["cpus"][0]["softirq_ns"].is_u64());
    assert_eq!(serde_json::from_value::<Usage>(json).unwrap(), usage);
}
