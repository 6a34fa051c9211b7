//! `takt doctor --prove` on this machine: what it measures, and that whatever ends it, the setting is as before.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_doctor::Setting;
use takt_host::Host;
use takt_testing::{not_judged, run_delay, skip, wait_for};

use super::machine::Machine;
use super::program::{doctor, entries, json, text};
use crate::support::while_running;

/// A machine on which a rule has something to change: `setting` has the value `was`.
struct Patient {
    machine: Machine,
    setting: Setting,
    was: String,
}

impl Patient {
    /// Its timers wander from CPU to CPU.
    fn with_wandering_timers() -> Option<Patient> {
        let setting = Setting::Sysctl("kernel.timer_migration".to_owned());
        Patient::where_(setting, |value| value == "1")
    }

    /// Its socket buffers hold less than a pause of 0.1 s at 25 MS/s.
    fn with_small_buffers() -> Option<Patient> {
        let setting = Setting::Sysctl("net.core.rmem_max".to_owned());
        Patient::where_(setting, |value| value.parse::<u64>().is_ok_and(|bytes| bytes <= 4 << 20))
    }

    /// `None`, on record, where the setting is another one, or may not be changed.
    fn where_(setting: Setting, wrong: impl Fn(&str) -> bool) -> Option<Patient> {
        let machine = Machine::mine()?;
        let value = setting.get(&Host::this()).ok();
        let Some(was) = value.clone().filter(|value| wrong(value)) else {
            skip(format!("{setting} is {value:?} here, so there is nothing to prove   (takt doctor --undo)"));
            return None;
        };
        let _none_yet = fs::remove_file(machine.state.join("journal.jsonl"));
        Some(Patient { machine, setting, was })
    }

    fn state(&self) -> &PathBuf {
        &self.machine.state
    }

    fn value(&self) -> Option<String> {
        self.setting.get(&Host::this()).ok()
    }

    /// Nothing of takt's stands.
    fn is_as_before(&self) -> bool {
        entries(self.state(), "changes") == entries(self.state(), "settled") && self.value().as_ref() == Some(&self.was)
    }

    /// Starts a proof that ends long after its test, and answers once it is about to change the setting.
    fn long_proof(&self, more: &[&str]) -> Child {
        let args = [&["--prove", "timer-migration", "--pairs", "1000", "--round", "20ms"], more].concat();
        let mut command = doctor(self.state(), &args);
        let mut proof = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
        while_running(&mut proof, "a change of the proof's", || entries(self.state(), "changes") > 0);
        proof
    }
}

#[test]
fn a_change_whose_effect_is_sure_is_found_to_help_and_is_kept_as_requested_until_undone() {
    let Some(patient) = Patient::with_small_buffers() else { return };
    let prove = ["--prove", "socket-buffer-small", "--pairs", "4", "--round", "500ms", "--json", "--keep"];
    let begun = Instant::now();
    let proof = doctor(patient.state(), &prove).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
    let (out, waited) = witnessed(proof);
    let share = waited / begun.elapsed().as_secs_f64();
    let proof = json(&out);
    assert_eq!((&proof["unit"], &proof["kept"]), (&"share".into(), &true.into()), "{proof:#}");
    assert!(!patient.is_as_before());
    let pairs = proof["pairs"].as_array().expect("a list");
    assert_eq!(pairs.len(), 4);
    // While its reader pauses for a fifth of the round, the small buffer holds little of what comes.
    let helped =
        |pair: &Value| pair["without"].as_f64() > Some(0.05) && pair["with"].as_f64() < pair["without"].as_f64();
    let sure = proof["gain"]["answer"] == "helps" && out.status.code() == Some(0) && pairs.iter().all(helped);
    if sure {
        let high = proof["gain"]["estimate"]["high"].as_f64().expect("an interval");
        assert!(high < -0.001, "{proof:#}");
    } else {
        assert!(share > HELD_UP_MAX, "its threads waited {share:.3} of the time for a processor: {proof:#}");
        not_judged(format!("the proof's threads waited {share:.3} of the time for a processor"));
    }
    let undone = doctor(patient.state(), &["--undo"]).output().expect("takt");
    assert!(undone.status.success() && patient.is_as_before(), "{}", text(&undone.stdout));
}

/// More than this and a sender does not offer what its reader is to lose.
const HELD_UP_MAX: f64 = 0.1;

/// How a program ended and what it printed, and for how many seconds its threads waited for a processor.
fn witnessed(mut program: Child) -> (Output, f64) {
    let mut waited = Duration::ZERO;
    wait_for("the end of a proof", || {
        waited = run_delay(program.id()).map_or(waited, |delay| delay.max(waited));
        program.try_wait().expect("a child")
    });
    (program.wait_with_output().expect("takt"), waited.as_secs_f64())
}

#[test]
fn a_proof_that_is_killed_is_given_back_by_its_guard() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    let mut proof = patient.long_proof(&[]);
    proof.kill().expect("our own child");
    proof.wait().expect("a child");
    wait_for("the guard", || patient.is_as_before().then_some(()));
}

#[test]
fn a_proof_that_is_killed_together_with_its_guard_is_given_back_by_undo() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    let mut proof = patient.long_proof(&[]);
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", proof.id())).expect("it runs");
    let guards: Vec<Pid> = children.split(' ').filter_map(|id| Pid::from_raw(id.trim().parse().ok()?)).collect();
    assert_eq!(guards.len(), 1, "{children:?}");
    kill_process(guards[0], Signal::KILL).expect("our own child's child");
    // A proof without its guard goes on; it is halted, and dies if its change is in force then.
    wait_for("a change in force", || {
        assert!(proof.try_wait().expect("a child").is_none(), "it ended by itself");
        kill_process(Pid::from_child(&proof), Signal::STOP).expect("our own child");
        let in_force = patient.value().as_ref() != Some(&patient.was);
        kill_process(Pid::from_child(&proof), if in_force { Signal::KILL } else { Signal::CONT })
            .expect("our own child");
        in_force.then_some(())
    });
    proof.wait().expect("a child");
    assert!(!patient.is_as_before(), "nobody has given it back");
    let undone = doctor(patient.state(), &["--undo"]).output().expect("takt");
    assert!(undone.status.success() && patient.is_as_before(), "{}", text(&undone.stdout));
}

#[test]
fn a_proof_that_is_interrupted_is_given_back_and_says_so() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    let proof = patient.long_proof(&["--keep"]);
    kill_process(Pid::from_child(&proof), Signal::INT).expect("our own child");
    let out = proof.wait_with_output().expect("takt");
    assert_eq!(out.status.signal(), None, "it ends in good order");
    let said = text(&[out.stdout, out.stderr].concat());
    assert!(said.contains("stopped") && patient.is_as_before(), "{said}");
}
