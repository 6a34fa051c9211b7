//! `takt doctor --prove` on this machine: what it measures, and that whatever ends it, the setting is as before.
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use takt_host::Host;
use takt_host::doctor::Setting;

use crate::machine::Machine;
use crate::program::{PATIENCE, doctor, entries, json, kill_after, text, wait_for};

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

    /// `None`, and told, where the setting is another one, or may not be changed.
    fn where_(setting: Setting, wrong: impl Fn(&str) -> bool) -> Option<Patient> {
        let machine = Machine::mine()?;
        let value = setting.get(&Host::this()).ok();
        let Some(was) = value.clone().filter(|value| wrong(value)) else {
            eprintln!("skipped: {setting} is {value:?} here, so there is nothing to prove");
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

    /// Starts a proof that takes far longer than its test.
    fn long_proof(&self, more: &[&str]) -> Child {
        let args = [&["--prove", "timer-migration", "--pairs", "1000", "--round", "20ms"], more].concat();
        let mut command = doctor(self.state(), &args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt")
    }
}

#[test]
fn a_change_whose_effect_is_sure_is_found_to_help_and_is_given_back_or_kept_as_asked() {
    let Some(patient) = Patient::with_small_buffers() else { return };
    let prove = ["--prove", "socket-buffer-small", "--pairs", "4", "--round", "500ms"];
    for keep in [false, true] {
        let kept = if keep { &["--json", "--keep"][..] } else { &["--json"] };
        let out = doctor(patient.state(), &[&prove, kept].concat()).output().expect("takt");
        let proof = json(&out);
        assert_eq!((&proof["gain"]["answer"], out.status.code()), (&"helps".into(), Some(0)), "{proof:#}");
        assert_eq!((&proof["unit"], &proof["kept"]), (&"share".into(), &keep.into()));
        let pairs = proof["pairs"].as_array().expect("a list");
        assert_eq!(pairs.len(), 4);
        // While its reader pauses for a fifth of the round, the small buffer holds little of what comes.
        for pair in pairs {
            assert!(
                pair["without"].as_f64() > Some(0.05) && pair["with"].as_f64() < pair["without"].as_f64(),
                "{pair}"
            );
        }
        let high = proof["gain"]["estimate"]["high"].as_f64().expect("an interval");
        assert!(high < -0.001, "{proof:#}");
        assert_eq!(patient.is_as_before(), !keep);
    }
    let undone = doctor(patient.state(), &["--undo"]).output().expect("takt");
    assert!(undone.status.success() && patient.is_as_before(), "{}", text(&undone.stdout));
}

#[test]
fn a_proof_that_is_killed_is_given_back_by_its_guard() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    kill_after(patient.long_proof(&[]), patient.state(), 1);
    let since = Instant::now();
    while !patient.is_as_before() {
        assert!(since.elapsed() < PATIENCE, "{:?}", patient.value());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_proof_that_is_killed_together_with_its_guard_is_given_back_by_undo() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    let mut proof = patient.long_proof(&[]);
    wait_for(&mut proof, patient.state(), 1);
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", proof.id())).expect("it runs");
    let guards: Vec<Pid> = children.split(' ').filter_map(|id| Pid::from_raw(id.trim().parse().ok()?)).collect();
    assert_eq!(guards.len(), 1, "{children:?}");
    kill_process(guards[0], Signal::KILL).expect("our own child's child");
    // A proof without its guard goes on; it dies while its change is in force.
    while patient.value().as_ref() == Some(&patient.was) {
        assert!(proof.try_wait().expect("a child").is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(1));
    }
    proof.kill().expect("our own child");
    proof.wait().expect("a child");
    let undone = doctor(patient.state(), &["--undo"]).output().expect("takt");
    assert!(undone.status.success() && patient.is_as_before(), "{}", text(&undone.stdout));
}

#[test]
fn a_proof_that_is_interrupted_is_given_back_and_says_so() {
    let Some(patient) = Patient::with_wandering_timers() else { return };
    let mut proof = patient.long_proof(&["--keep"]);
    wait_for(&mut proof, patient.state(), 1);
    kill_process(Pid::from_child(&proof), Signal::INT).expect("our own child");
    let out = proof.wait_with_output().expect("takt");
    assert_eq!(out.status.signal(), None, "it ends in good order");
    let said = text(&[out.stdout, out.stderr].concat());
    assert!(said.contains("stopped") && patient.is_as_before(), "{said}");
}
