//! `takt paper linux-rt` as a user calls it, with as little as it can do, and what a killed one leaves. Figures depend on the
//! machine; what is asserted is that the accounts agree.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use takt_testing::{skip, wait_for};

use crate::support::{Place, json, page_of, report, status_of};

const PARTS: &str = r#"
[[part]]
name = "cases"
factors = { disturbance = ["none", "busy:1+timers:1"] }
fixed = { policy = "other", scheduled = "interface", codes = 2, workload = { kind = "deadline", duration = "100ms", warm_up = "20ms" } }
[[part]]
name = "best"
fixed = { disturbance = "busy:2x", codes = 2, workload = { kind = "deadline", duration = "100ms", warm_up = "20ms" } }
"#;

/// Parts that take more than every host has: a core that can be kept free, CPUs for DEADLINE alone.
const DEMANDING: &str = r#"
[[part]]
name = "measures"
factors = { cores = ["any", "isolated"] }
fixed = { disturbance = "busy:1", workload = { kind = "deadline", duration = "100ms", warm_up = "20ms" } }
[[part]]
name = "policies"
fixed = { policy = "deadline", disturbance = "busy:1", workload = { kind = "deadline", duration = "100ms", warm_up = "20ms" } }
"#;

#[test]
fn the_study_measures_and_its_status_is_its_answer() {
    let place = Place::with_study("linux-rt", 2, PARTS);
    let output = place.takt(&["paper", "linux-rt", "--quick", "--file", "small.toml", "--json"]);
    let outcome = json(&output);
    assert_eq!(output.status.code(), Some(status_of(&outcome["answer"])), "{outcome:#}");
    assert_eq!(outcome["rounds"]["valid"], 6, "{:#}", outcome["records"]);
    let cases = outcome["cases"].as_array().expect("cases");
    assert_eq!(cases.len(), 3);
    for case in cases {
        assert!(case["all"]["value"].is_f64() && case["excluded"]["value"].is_f64(), "{case:#}");
        // On a machine that is stopped all the time nothing may be left of 40 subframes.
        if let (Some(left), Some(bound)) = (case["bound"]["trials"].as_u64(), case["bound"]["up_to"].as_f64()) {
            assert!((1..=40).contains(&left) && case["bound"]["ratio"].as_f64() <= Some(bound), "{case:#}");
        }
        let used = case["disturbance_cpus"]["value"].as_f64();
        assert_eq!(used.is_some_and(|cpus| cpus > 0.0), case["settings"]["disturbance"] != "none", "{case:#}");
    }
    assert_eq!(cases[0]["paper"], 0.00024);
    let (cores, loops) = (outcome["host"]["cores"].as_u64(), cases[2]["loops"].as_u64());
    assert_eq!(loops, cores.map(|cores| 2 * cores), "two for each core of the machine: {:#}", cases[2]);
    let page = page_of(&place, &outcome);
    assert!(page.contains("0.024") && page.contains("Where the time goes"), "the paper's figures and the budget");
    assert!(place.processes().is_empty(), "{:?}", place.processes());
}

#[test]
fn what_a_host_lacks_is_left_out_with_its_reason_and_never_measured_as_something_else() {
    let place = Place::with_study("linux-rt", 2, DEMANDING);
    let output = place.takt(&["paper", "linux-rt", "--quick", "--file", "small.toml", "--json"]);
    let outcome = json(&output);
    let cases = outcome["cases"].as_array().expect("cases");
    let [any, isolated, deadline] = cases.as_slice() else { panic!("{cases:#?}") };
    assert!(any["failure"]["value"].is_f64(), "{any:#}");
    let cores = outcome["host"]["cores"].as_u64().expect("a count");
    // The radio's is one of them.
    assert_eq!(isolated["skipped"].is_null(), cores > 2, "{isolated:#}");
    assert_eq!(isolated["failure"]["value"].is_f64(), cores > 2, "{isolated:#}");
    if cores <= 2 {
        let why = isolated["skipped"].as_str().expect("a reason");
        assert!(why.starts_with("the processes need their own core") && why.contains("fix: use three cores"), "{why}");
        assert_eq!(outcome["measures_not_had"], serde_json::json!(["isolation"]), "{:#}", outcome["measures_not_had"]);
    }
    let (ran, skipped) = (deadline["failure"]["value"].is_f64(), deadline["skipped"].as_str());
    assert!(ran != skipped.is_some(), "{deadline:#}");
    let why = skipped.unwrap_or_default();
    assert!(ran || why.contains("SCHED_DEADLINE") && why.contains("(fix: "), "{why}");
    assert!(place.processes().is_empty(), "{:?}", place.processes());
}

#[test]
fn a_study_killed_under_load_leaves_nothing_that_clean_does_not_find() {
    let long = "[[part]]\nname = \"cases\"\nfixed = { disturbance = \"busy:2\", cap = 50, workload = { kind = \"deadline\", \
                duration = \"60s\" } }\n";
    let place = Place::with_study("linux-rt", 2, long);
    let mut lab = place.command(&["paper", "linux-rt", "--quick", "--file", "small.toml"]);
    let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("takt");
    let name = format!("takt-{}-disturbance", lab.id());
    let mut errors = lab.stderr.take().expect("piped");
    let group = wait_for("a control group with two processes", || {
        let group = group_of(&name)
            .filter(|group| fs::read_to_string(group.join("cgroup.procs")).is_ok_and(|all| all.lines().count() == 2));
        let ended = lab.try_wait().expect("a child").is_some();
        (group.is_some() || ended).then_some(group)
    });
    let Some(group) = group else {
        let mut said = String::new();
        errors.read_to_string(&mut said).expect("text");
        assert!(said.contains("control groups") || said.contains("controller"), "it ended by itself: {said}");
        return skip(format!("no control group can be made   (run the tests as root): {said}"));
    };
    lab.kill().expect("it runs");
    lab.wait().expect("a child");
    let clean = place.takt(&["clean"]);
    assert!(clean.status.success(), "{}", report(&clean));
    assert!(!group.exists() && place.processes().is_empty(), "{group:?} {:?}", place.processes());
}

/// The group of that name in a hierarchy with the cpu controller.
fn group_of(name: &str) -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let tops = mounts.lines().filter(|line| line.contains(" cgroup")).filter_map(|line| line.split(' ').nth(1));
    tops.map(|top| Path::new(top).join(name)).find(|group| group.exists())
}
