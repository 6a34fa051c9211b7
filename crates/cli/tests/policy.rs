//! Kernels and permissions without a policy, seen by every command that asks for one: by a system-call filter that answers
//! in the kernel's place, and by a process that has lost the capability.

#[path = "support/refusing.rs"]
mod refusing;
mod support;

use std::fs;
use std::process::{Command, Output};

use refusing::{Answer, WITHOUT_DEADLINE, WITHOUT_POLICIES, WITHOUT_REAL_TIME};
use serde_json::Value;
use support::{Place, TAKT, has, json, page_of, refusal, report};

const SHORT: [&str; 5] = ["wakeup", "--duration", "100ms", "--warm-up", "10ms"];
const ROUNDS: &str = "[rounds]\ncount = 1\norder = { seed = 1 }\n\
    valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0, excluded_share_max = 1.0, repeats_max = 0 }\n";

fn with(policies: &str, kind: &str) -> Place {
    let text = format!(
        "question = \"?\"\n[factors]\npolicy = {policies}\n[fixed]\n\
         workload = {{ kind = \"{kind}\", duration = \"50ms\", warm_up = \"10ms\" }}\n{ROUNDS}"
    );
    Place::with("x.toml", &text)
}

fn wakeup(policy: &str, answer: Answer) -> Option<Output> {
    refusing::output(Command::new(TAKT).args(SHORT).args(["--policy", policy]), answer)
}

fn kernel() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").expect("every Linux has it").trim().to_owned()
}

fn has_no_deadline() -> String {
    format!("this kernel (Linux {}) has no SCHED_DEADLINE", kernel())
}

#[test]
fn a_kernel_without_deadline_is_named_where_that_policy_is_requested_and_gives_the_others() {
    let Some(refused) = wakeup("deadline:100us", WITHOUT_DEADLINE) else { return };
    has(&refusal(&refused), &["error: the threads can't have that policy", &has_no_deadline(), "fix   use FIFO or RR"]);
    if !may_have_real_time() {
        return takt_testing::skip("FIFO beside it needs CAP_SYS_NICE   (run the tests as root)");
    }
    let given = wakeup("fifo:50", WITHOUT_DEADLINE).expect("as before");
    assert_eq!(given.status.code(), Some(0), "{}", report(&given));
    let doctor = doctor(WITHOUT_DEADLINE);
    assert!(doctor.status.success() && report(&doctor).contains("FIFO is granted"), "{}", report(&doctor));
}

#[test]
fn a_filter_that_forbids_real_time_is_told_from_a_missing_capability() {
    if !may_have_real_time() {
        return takt_testing::skip("who lacks CAP_SYS_NICE gets that error first   (run the tests as root)");
    }
    let Some(refused) = wakeup("fifo:50", WITHOUT_REAL_TIME) else { return };
    has(
        &refusal(&refused),
        &["the system-call filter (seccomp) of this process most likely refuses FIFO 50", "fix   allow sched_setattr"],
    );
    let doctor = doctor(WITHOUT_REAL_TIME);
    assert_eq!(doctor.status.code(), Some(1), "{}", report(&doctor));
    has(&report(&doctor), &["problem  rt-permission", "seccomp"]);
}

#[test]
fn a_kernel_without_the_call_is_named() {
    let Some(refused) = wakeup("rr:50", WITHOUT_POLICIES) else { return };
    let words = format!("this kernel (Linux {}) can't set RR 50: it has no sched_setattr", kernel());
    has(&refusal(&refused), &[&words]);
    has(&report(&doctor(WITHOUT_POLICIES)), &["has no sched_setattr"]);
}

#[test]
fn an_experiment_skips_what_the_kernel_lacks_and_runs_the_rest() {
    for kind in ["wakeup", "deadline"] {
        let place = with("[\"deadline\", \"other\"]", kind);
        let mut command = place.command(&["experiment", "run", "x.toml", "--json"]);
        let Some(done) = refusing::output(&mut command, WITHOUT_DEADLINE) else { return };
        assert_eq!(done.status.code(), Some(0), "{}", report(&done));
        let summary = json(&done);
        assert_eq!(rounds(&summary), [1, 1, 0], "{kind}: {summary:#}");
        assert!(summary["points"].to_string().contains(&has_no_deadline()), "{kind}: {summary:#}");
        assert!(place.processes().is_empty(), "{kind}: {:?}", place.processes());
    }
}

#[test]
fn an_experiment_of_nothing_else_ends_with_the_reason_and_measures_nothing() {
    let place = with("[\"deadline\"]", "wakeup");
    let Some(done) = refusing::output(&mut place.command(&["experiment", "run", "x.toml"]), WITHOUT_DEADLINE) else {
        return;
    };
    assert_eq!(done.status.code(), Some(1), "{}", report(&done));
    has(&report(&done), &["skipped, ", &has_no_deadline(), "(fix: use FIFO or RR", "0 rounds count; 1 skipped"]);
}

/// The part is called as that of the study, so that its table is the study's.
#[test]
fn the_study_says_which_of_its_policies_are_not_there() {
    let part = "question = \"?\"\n[study]\nname = \"linux-rt\"\n[[part]]\nname = \"policies\"\n\
                factors = { policy = [\"other\", \"deadline\"] }\n\
                fixed = { codes = 2, workload = { kind = \"deadline\", duration = \"100ms\", warm_up = \"20ms\" } }\n";
    let place = Place::with("small.toml", &format!("{part}{ROUNDS}"));
    let mut command = place.command(&["paper", "linux-rt", "--file", "small.toml", "--json"]);
    let Some(done) = refusing::output(&mut command, WITHOUT_DEADLINE) else { return };
    let outcome = json(&done);
    assert_eq!([&outcome["rounds"]["valid"], &outcome["rounds"]["skipped"]], [1, 1], "{outcome:#}");
    let cases = outcome["cases"].as_array().expect("cases");
    for case in cases {
        let (is_deadline, skipped) = (case["settings"]["policy"] == "deadline", case["skipped"].as_str());
        assert_eq!(skipped.is_some_and(|why| why.contains(&has_no_deadline())), is_deadline, "{case:#}");
    }
    let page = page_of(&place, &outcome);
    assert!(page.contains("Not run: ") && page.contains(&has_no_deadline()), "the page has the reason");
}

/// No filter here: the kernel's own answer to a root that has lost the capability.
#[test]
fn without_the_capability_rounds_of_real_time_are_skipped_with_the_fix() {
    let place = with("[\"fifo\", \"other\"]", "wakeup");
    let lost = ["--rtprio=0:0", "setpriv", "--bounding-set=-sys_nice", "--inh-caps=-all", TAKT];
    let call = |arguments: &[&str]| place.call("prlimit").args(lost).args(arguments).output();
    let done = match call(&["experiment", "run", "x.toml", "--json"]) {
        Ok(done) if !done.stdout.is_empty() => done,
        refused => {
            return takt_testing::skip(format!("needs prlimit and setpriv   (run the tests as root): {refused:?}"));
        }
    };
    let summary = json(&done);
    assert_eq!(rounds(&summary), [1, 1, 0], "{summary:#}");
    has(&summary["points"].to_string(), &["FIFO 50 needs CAP_SYS_NICE", "(fix: run this command with sudo"]);
    let doctor = call(&["doctor", "--only", "rt-permission"]).expect("as before");
    assert_eq!(doctor.status.code(), Some(1), "{}", report(&doctor));
    assert!(report(&doctor).contains("FIFO 1 needs CAP_SYS_NICE, or RLIMIT_RTPRIO"), "{}", report(&doctor));
}

/// Those that count, those skipped, those failed.
fn rounds(summary: &Value) -> [u64; 3] {
    ["valid", "skipped", "failed"].map(|state| summary["rounds"][state].as_u64().expect("a count"))
}

fn doctor(answer: Answer) -> Output {
    let mut command = Command::new(TAKT);
    refusing::output(command.args(["doctor", "--only", "rt-permission"]), answer).expect("a filter could be set before")
}

fn may_have_real_time() -> bool {
    // The rule rt-permission asks for this; the policies here want less.
    matches!(takt_host::Host::this().attempt_fifo_of(80), Some(Ok(())))
}
