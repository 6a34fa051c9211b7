//! On this machine, for real: `--fix` and then `--undo` leave every setting that any rule would touch here as it was.
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::fs::{FlockOperation, flock};
use takt_host::Host;
use takt_host::doctor::Setting;

use crate::program::{doctor, fix_all, json, kill_after};

/// This machine's settings, for one test at a time, whoever runs it. `None` without root.
pub struct Machine {
    pub state: PathBuf,
    _alone: File,
}

impl Machine {
    pub fn mine() -> Option<Machine> {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: changing this machine's settings needs root");
            return None;
        }
        let alone = File::create(std::env::temp_dir().join("takt-doctor-test.lock")).expect("a lock");
        flock(&alone, FlockOperation::LockExclusive).expect("a lock");
        // A place that outlives a killed test: what it left is given back by the next one.
        let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join("doctor-state");
        let left = doctor(&state, &["--undo"]).output().expect("takt");
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
            eprintln!("skipped: this machine makes no pair of interfaces");
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
    // What any rule would change here, and for each the value now.
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
    let args = fix_all(&rules);
    let args: Vec<&str> = args.iter().map(String::as_str).chain(["--interface", &pair.0]).collect();
    for kill in [None, Some(1), Some(3)] {
        let child = doctor(&machine.state, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt");
        match kill {
            // What a kernel refuses ends it early, which is as good for this.
            None => drop(child.wait_with_output().expect("takt")),
            Some(changes) => kill_after(child, &machine.state, changes),
        }
        let undone = doctor(&machine.state, &["--undo"]).output().expect("takt");
        assert!(undone.status.success(), "{kill:?}: {}", String::from_utf8_lossy(&undone.stdout));
        assert_eq!(values(), before, "{kill:?}: {settings:?}");
    }
}
