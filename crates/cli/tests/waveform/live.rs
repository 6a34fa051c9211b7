//! A waveform that runs: looked at, and turned, from outside.

use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use takt_testing::wait_for;

use crate::program::{TAKT, has, refusal, report, takt, text, waveform};
use crate::support::{self, while_running};

/// `takt run` without end, ended on drop.
struct Runner(Child);

impl Runner {
    fn start(more: &[&str]) -> Runner {
        let mut command = Command::new(TAKT);
        command.args(["run", &waveform("bpsk.toml"), "--slot", "5ms", "--policy", "other"]).args(more);
        let mut runner = Runner(command.stdout(Stdio::null()).spawn().expect("takt"));
        let pid = runner.pid();
        let answers = || takt(&["execinfo", "--process", &pid]).status.code() == Some(0);
        while_running(&mut runner.0, "a run that answers", answers);
        runner
    }

    fn pid(&self) -> String {
        self.0.id().to_string()
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-INT", &self.pid()]).status();
        let _ = self.0.wait();
    }
}

#[test]
fn execution_times_and_variables_of_a_running_waveform_are_seen_and_set() {
    let running = Runner::start(&[]);
    let pid = running.pid();
    let seen = asked(&["execinfo", "--process", &pid]);
    assert_eq!((&seen["waveform"], &seen["slot_ns"]), (&"bpsk".into(), &5_000_000.into()));
    // A worker that is not at a slot edge within two seconds says nothing.
    let value = || {
        wait_for("a value", || {
            let all = asked(&["variable", "--process", &pid]);
            let all = all.as_array().expect("a list").clone();
            let one = all.into_iter().find(|one| one["component"] == "channel" && one["variable"] == "ebn0_db");
            one.expect("the channel has it")["value"].as_f64()
        })
    };
    assert_eq!(value(), 200.0);
    asked(&["variable", "channel.ebn0_db=3", "--process", &pid]);
    assert_eq!(value(), 3.0);
    let said = text(&answered(&["variable", "channel.ebn0_db=1e6", "--process", &pid]).stderr);
    assert!(said.contains("a number from -20 to 200 dB"), "{said}");
    has(&text(&answered(&["variable", "channel.loud=1", "--process", &pid]).stderr), &["no variable channel.loud"]);
}

/// Answer of a run to a request; repeated if the run did not get round to an answer within two seconds.
fn answered(args: &[&str]) -> Output {
    wait_for("an answer of the run", || {
        let out = takt(args);
        (!text(&out.stderr).contains("can't be reached")).then_some(out)
    })
}

fn asked(args: &[&str]) -> Value {
    let out = answered(&[args, &["--json"]].concat());
    assert_eq!(out.status.code(), Some(0), "takt {args:?}: {}", report(&out));
    support::json(&out)
}

#[test]
fn a_running_waveform_goes_over_to_a_mapping_and_one_without_cores_of_its_own_does_not() {
    let cores = takt_host::affinity::own_cpus();
    let (first, pid) = (cores[0].to_string(), |runner: &Runner| runner.pid());
    let placed = Runner::start(&["--cores", &first]);
    let file = waveform("bpsk.toml");
    let apply =
        |runner: &Runner| answered(&["map", &file, "--slot", "5ms", "--apply", "--process", &pid(runner), "--json"]);
    let out = apply(&placed);
    assert_eq!(out.status.code(), Some(0), "{}", report(&out));
    assert_eq!(support::json(&out)["applied"], true);
    let executions = || asked(&["execinfo", "--process", &pid(&placed)])["components"][0]["executions"].as_u64();
    let before = executions();
    wait_for("slots under the new mapping", || (executions() > before).then_some(()));
    let anywhere = Runner::start(&[]);
    has(&text(&apply(&anywhere).stderr), &["no mapping suits", "not tied to cores", "--cores 0,1"]);
}

#[test]
fn a_process_that_runs_nothing_is_reported() {
    has(&refusal(&["execinfo", "--process", "1"]), &["process 1 can't be reached"]);
}
