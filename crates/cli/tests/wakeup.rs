//! `takt wakeup` as a person runs it: output, exit status, errors.

mod support;

use std::process::{Command, Output};

use serde_json::Value;
use support::{TAKT, has, json, refusal, report, takt, text};

/// Short, and no slower where the machine is: ticks are due when they are due.
const SHORT: [&str; 5] = ["wakeup", "--duration", "100ms", "--warm-up", "10ms"];

fn wakeup(more: &[&str]) -> Output {
    Command::new(TAKT).args(SHORT).args(more).output().expect("takt")
}

fn first_cpu() -> String {
    takt_host::affinity::own_cpus()[0].to_string()
}

#[test]
fn every_tick_is_accounted_for_whatever_the_timer() {
    for timer in ["nanosleep", "timerfd", "hybrid:20us", "spin"] {
        let done = wakeup(&["--cores", &first_cpu(), "--timer", timer, "--json"]);
        assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
        let document = json(&done);
        assert_eq!(document["ticks"], 100, "{timer}");
        assert_eq!(document["threads"].as_array().map(Vec::len), Some(1));
        // A thread that sleeps over the beat has all of it as late, and none sampled.
        assert_eq!(document["lateness_ns"]["count"], 100, "{timer}: {document}");
        assert!(document["unsampled"].as_u64().is_some_and(|unsampled| unsampled <= 100), "{timer}: {document}");
        let us = |key: &str| document["lateness"][key].as_f64().unwrap_or_else(|| panic!("{key}: {document}"));
        assert!(us("min_us") <= us("max_us"), "{timer}: {document}");
        assert_eq!(document["within_limit"], Value::Null);
    }
}

#[test]
fn the_limit_decides_the_exit_status_and_the_last_line() {
    let good = wakeup(&["--cores", &first_cpu(), "--limit", "50s"]);
    assert_eq!(good.status.code(), Some(0));
    assert!(text(&good.stdout).starts_with("Yes: none of 100 ticks"), "{}", text(&good.stdout));
    // A sleep never ends at its very nanosecond.
    let bad = wakeup(&["--cores", &first_cpu(), "--limit", "1ns", "--load", "1", "--histogram"]);
    assert_eq!(bad.status.code(), Some(1));
    assert!(text(&bad.stdout).contains("\n  from µs"), "{}", text(&bad.stdout));
    assert!(text(&bad.stdout).starts_with("No: "), "{}", text(&bad.stdout));
}

#[test]
fn coarse_ticks_make_the_beat_late_and_are_reported() {
    // Ticks at 0, 10, 20 ms ...; the beat of 4 ms is due between them most of the time, wherever it began.
    let done = wakeup(&["--cores", &first_cpu(), "--interval", "4ms", "--tick-hz", "100", "--json"]);
    let document = json(&done);
    assert!(document["lateness"]["p99_us"].as_f64().is_some_and(|us| us > 1000.0), "{document}");
    assert!(document["notes"].to_string().contains("100 Hz"), "{document}");
}

#[test]
fn what_cannot_be_had_is_reported_with_its_fix() {
    for (flags, says) in [
        (["--cores", "8000"], "error: a thread can't have that CPU"),
        (["--interval", "1us"], "fix   give --interval 1ms"),
        (["--duration", "1us"], "fix   give --duration 10s --interval 1ms"),
        (["--tick-hz", "0"], "a clock tick of 0 Hz is not within 1 to 1000000 Hz"),
        (["--policy", "fifo"], "`fifo` is not a policy; expected: other, other:NICE"),
        (["--timer", "sleep"], "`sleep` is not a timer; expected: nanosleep"),
    ] {
        // The last of a flag given twice counts, but clap wants it once.
        let done = takt(&[&["wakeup"][..], &flags].concat());
        assert!(done.status.code() == Some(2) && text(&done.stderr).contains(says), "{flags:?}: {}", report(&done));
    }
    let spins = wakeup(&["--timer", "spin", "--tick-hz", "100"]);
    has(&text(&spins.stderr), &["fix   give --timer nanosleep, or omit --tick-hz"]);
}

#[test]
fn a_policy_that_is_not_permitted_names_the_capability_and_the_fix() {
    let nobody = ["--reuid", "65534", "--regid", "65534", "--clear-groups", "--inh-caps=-all", "--bounding-set=-all"];
    let done = Command::new("setpriv").args(nobody).arg(TAKT).args(SHORT).args(["--policy", "fifo:50"]).output();
    let done = match done {
        Ok(done) if !text(&done.stderr).contains("setpriv:") => done,
        _ => return takt_testing::skip("needs setpriv, and a program that others may run   (run the tests as root)"),
    };
    let ways = "--policy fifo:50\n  or    echo \"$USER - rtprio 95\"";
    has(&refusal(&done), &["FIFO 50 needs CAP_SYS_NICE, or RLIMIT_RTPRIO of its priority", ways]);
}

#[test]
fn a_deadline_thread_that_is_tied_to_a_cpu_is_refused_with_the_reason() {
    let permitted = takt_host::capability::own().contains(takt_host::capability::CapabilitySet::SYS_NICE);
    let of_the_machine = takt_host::capability::in_user_namespace(&takt_host::Host::this()) == Some(false);
    if !permitted || !of_the_machine || takt_host::affinity::own_cpus().len() < 2 {
        return takt_testing::skip("needs CAP_SYS_NICE of the machine and two CPUs   (run the tests as root)");
    }
    let tied = wakeup(&["--policy", "deadline:100us", "--cores", &first_cpu()]);
    let fix = "fix   omit --cores, or --policy fifo:50";
    has(&refusal(&tied), &["the kernel refuses DEADLINE to a thread tied to CPUs", fix]);
}
