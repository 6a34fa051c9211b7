//! On this machine, for real: `--fix` and then `--undo` leave every setting that any rule would touch here as it was.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};
use takt_doctor::Setting;
use takt_host::Host;

use takt_testing::{skip, wait_for};

use super::program::{Fact, doctor, entries, fix_all, json, kill_at, text};

/// This machine's settings, for one test at a time, whoever runs it. `None` without root.
pub struct Machine {
    pub state: PathBuf,
    _alone: File,
}

impl Machine {
    pub fn mine() -> Option<Machine> {
        if !rustix::process::geteuid().is_root() {
            skip("changing this machine's settings needs root   (run the tests as root)");
            return None;
        }
        let alone = File::create(std::env::temp_dir().join("takt-doctor-test.lock")).expect("a lock");
        flock(&alone, FlockOperation::LockExclusive).expect("a lock");
        // A place that outlives a killed test: what it left is given back by the next one.
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor-state");
        // The guard of a proof that was killed may be at it yet.
        let left = wait_for("the guard of an earlier test", || {
            let undone = doctor(&state, &["--undo"]).output().expect("takt");
            let busy = String::from_utf8_lossy(&undone.stderr).contains("another takt is changing settings");
            (!busy).then_some(undone)
        });
        assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
        Some(Machine { state, _alone: alone })
    }
}

/// A pair of interfaces whose settings are wrong, so that this machine's own cards are left alone.
struct Pair(String);

impl Pair {
    fn new() -> Option<Pair> {
        let pair = Pair(format!("takt-d{}", std::process::id() % 100_000));
        let ip = |args: &[&str]| Command::new("ip").args(args).status().is_ok_and(|status| status.success());
        let peer = format!("{}p", pair.0);
        if !ip(&["link", "add", &pair.0, "mtu", "1400", "type", "veth", "peer", "name", &peer]) {
            skip("this machine makes no pair of interfaces   (apt-get install iproute2)");
            return None;
        }
        let delay = format!("/sys/class/net/{}/gro_flush_timeout", pair.0);
        fs::write(delay, "200000").expect("a setting of our own interface");
        Some(pair)
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["link", "delete", &self.0]).status();
    }
}

#[test]
fn on_this_machine_every_setting_is_as_before_after_fix_and_undo_and_after_a_kill() {
    let Some(machine) = Machine::mine() else { return };
    let Some(pair) = Pair::new() else { return };
    let seen = json(&doctor(&machine.state, &["--json", "--interface", &pair.0]).output().expect("takt"));
    // Settings that any rule would change here, each with its value now.
    let mut settings: Vec<Setting> = Vec::new();
    let mut rules = BTreeSet::new();
    for diagnosis in seen["diagnoses"].as_array().expect("a list") {
        for change in diagnosis["fix"]["changes"].as_array().into_iter().flatten() {
            settings.push(serde_json::from_value(change["setting"].clone()).expect("a setting"));
            rules.insert(diagnosis["id"].as_str().expect("text"));
        }
    }
    assert!(rules.contains("nic-mtu") && settings.len() >= 2, "{rules:?}");
    let values = || -> Vec<Option<String>> { settings.iter().map(|one| one.get(&Host::this()).ok()).collect() };
    let before = values();
    let args = [&fix_all(&rules)[..], &["--interface", &pair.0]].concat();
    let undo = |after: &str| {
        let undone = doctor(&machine.state, &["--undo"]).output().expect("takt");
        assert!(undone.status.success(), "{after}: {}", text(&undone.stdout));
        assert_eq!(values(), before, "{after}: {settings:?}");
    };
    // A setting that a kernel refuses is left, which is as good for this.
    doctor(&machine.state, &args).output().expect("takt");
    let made = entries(&machine.state, "changes") - entries(&machine.state, "settled");
    assert!(made >= 2, "of its own interfaces it changes two settings at least, not {made}");
    undo("fixed");
    for fact in [Fact::Noted(1), Fact::Made(1), Fact::Noted(made)] {
        if !kill_at(fact, &doctor(&machine.state, &args)) {
            return;
        }
        undo(&format!("{fact:?}"));
    }
}
