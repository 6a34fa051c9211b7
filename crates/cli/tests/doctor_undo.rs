//! `takt doctor --fix` and then `--undo` leave every setting that any rule can touch as it was: on a host of files where
//! everything is wrong, killed at any place, and on this machine.
#![allow(clippy::print_stderr, reason = "what is skipped is skipped aloud")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;
use takt_host::Host;
use takt_host::doctor::{Fix, RULES, Setting};

const TAKT: &str = env!("CARGO_BIN_EXE_takt");
/// Longer than any machine needs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Everything a rule can change, each set so that it does.
const WRONG: &[(&str, &str)] = &[
    ("proc/sys/kernel/osrelease", "6.18.0\n"),
    ("proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n"),
    ("proc/sys/net/core/rmem_max", "212992\n"),
    ("proc/sys/net/core/wmem_max", "212992\n"),
    ("proc/sys/net/core/rmem_default", "212992\n"),
    ("proc/sys/net/core/netdev_max_backlog", "1000\n"),
    ("proc/sys/net/core/netdev_budget", "300\n"),
    ("proc/sys/net/core/busy_read", "0\n"),
    ("proc/net/softnet_stat", "00000010 00000001 00000002\n"),
    ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
    ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
    ("proc/sys/kernel/timer_migration", "1\n"),
    ("proc/sys/kernel/numa_balancing", "1\n"),
    ("proc/sys/vm/compaction_proactiveness", "20\n"),
    ("proc/sys/vm/compact_unevictable_allowed", "1\n"),
    ("proc/sys/vm/nr_hugepages", "0\n"),
    ("proc/sys/vm/zone_reclaim_mode", "1\n"),
    ("proc/meminfo", "HugePages_Free: 0\nHugepagesize: 2048 kB\n"),
    ("proc/interrupts", " CPU0 CPU1\n 41: 7 0 eth0-0\n 42: 9 0 eth0-1\n"),
    ("proc/irq/41/smp_affinity_list", "0\n"),
    ("proc/irq/42/smp_affinity_list", "0\n"),
    ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
    ("sys/devices/system/clocksource/clocksource0/available_clocksource", "tsc hpet\n"),
    ("sys/devices/system/cpu/online", "0-1\n"),
    ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
    ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "schedutil\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference", "power\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n"),
    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "2000000\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/latency", "133\n"),
    ("sys/devices/system/cpu/cpu0/cpuidle/state3/disable", "0\n"),
    ("sys/module/pcie_aspm/parameters/policy", "powersave\n"),
    ("sys/kernel/mm/transparent_hugepage/enabled", "always\n"),
    ("sys/kernel/mm/transparent_hugepage/defrag", "always\n"),
    ("sys/kernel/debug/sched/preempt", "(none) full\n"),
    ("sys/kernel/debug/sched/base_slice_ns", "2800000\n"),
    ("sys/class/net/eth0/operstate", "up\n"),
    ("sys/class/net/eth0/mtu", "1400\n"),
    ("sys/class/net/eth0/gro_flush_timeout", "200000\n"),
    ("sys/class/net/eth0/queues/rx-0/rps_cpus", "0\n"),
    ("sys/class/net/eth0/device/uevent", "DRIVER=igb\n"),
    ("sys/class/net/eth0/device/msi_irqs/41", "msix\n"),
    ("sys/class/net/eth0/device/msi_irqs/42", "msix\n"),
    ("ethtool/eth0/rx_ring", "256 4096\n"),
    ("ethtool/eth0/rx_usecs", "250\n"),
    ("ethtool/eth0/rx_pause", "0\n"),
];

/// Rules that change something.
fn changing() -> BTreeSet<&'static str> {
    RULES.iter().filter(|rule| !matches!(rule.fix, Fix::Advice(_))).map(|rule| rule.id).collect()
}

/// A host of files and its journal.
struct Copy(tempfile::TempDir);

impl Copy {
    fn new() -> Copy {
        let copy = Copy(tempfile::tempdir().expect("a folder"));
        for (file, text) in WRONG {
            let path = copy.0.path().join("root").join(file);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
        copy
    }

    fn doctor(&self, more: &[&str]) -> Command {
        let mut command = doctor(&self.0.path().join("state"), more);
        command.arg("--root").arg(self.0.path().join("root"));
        command
    }

    /// All files with what they hold; of a list of choices that in force, since writing leaves only it.
    fn files(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for (file, _) in WRONG {
            let text = fs::read_to_string(self.0.path().join("root").join(file)).expect("a file");
            let chosen = text.split(' ').find_map(|word| word.strip_prefix('(')?.strip_suffix(')'));
            all.insert(PathBuf::from(file), chosen.unwrap_or(text.trim()).to_owned());
        }
        all
    }
}

fn doctor(state: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(TAKT);
    command.arg("doctor").args(more).env("TAKT_STATE_DIR", state).stdin(Stdio::null());
    command
}

/// `--fix` with every rule named that changes something.
fn fix_all(only: &BTreeSet<&str>) -> Vec<String> {
    let named = only.iter().flat_map(|rule| ["--only".to_owned(), (*rule).to_owned()]);
    ["--fix", "--yes", "--json"].map(str::to_owned).into_iter().chain(named).collect()
}

fn json(out: &Output) -> Value {
    let said = || String::from_utf8_lossy(&out.stderr).into_owned();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|error| panic!("{error}\n{}", said()))
}

/// Waits until the journal tells of so many changes, or the program has ended; then kills it.
fn kill_after(mut child: Child, state: &Path, changes: usize) {
    let since = Instant::now();
    loop {
        let text = fs::read_to_string(state.join("journal.jsonl")).unwrap_or_default();
        let ended = child.try_wait().expect("a child").is_some();
        if ended || text.matches("\"changes\"").count() >= changes {
            break;
        }
        assert!(since.elapsed() < PATIENCE, "{changes} changes never came:\n{text}");
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    child.wait().expect("a child");
}

#[test]
fn where_everything_is_wrong_every_rule_changes_something_and_undo_gives_all_of_it_back() {
    let copy = Copy::new();
    let before = copy.files();
    let args = fix_all(&changing());
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let fixed = json(&copy.doctor(&args).output().expect("takt"));
    let made: BTreeSet<&str> =
        fixed["made"].as_array().expect("a list").iter().filter_map(|made| made["rule"].as_str()).collect();
    assert_eq!(made, changing());
    assert_ne!(copy.files(), before);
    let undone = copy.doctor(&["--undo"]).output().expect("takt");
    assert!(undone.status.success(), "{}", String::from_utf8_lossy(&undone.stderr));
    assert_eq!(copy.files(), before);
}

#[test]
fn killed_between_any_two_changes_undo_gives_all_of_it_back() {
    for changes in [1, 2, 7, 19] {
        let copy = Copy::new();
        let before = copy.files();
        let args = fix_all(&changing());
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let child = copy.doctor(&args).stdout(Stdio::null()).spawn().expect("takt");
        kill_after(child, &copy.0.path().join("state"), changes);
        let undone = copy.doctor(&["--undo"]).output().expect("takt");
        assert!(undone.status.success(), "{changes}: {}", String::from_utf8_lossy(&undone.stdout));
        assert_eq!(copy.files(), before, "{changes}");
    }
}

/// This machine's settings, for one test at a time, whoever runs it. `None` without root.
struct Machine {
    state: PathBuf,
    _alone: File,
}

impl Machine {
    fn mine() -> Option<Machine> {
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

#[test]
fn a_proof_that_is_killed_is_given_back_by_its_guard() {
    let Some(machine) = Machine::mine() else { return };
    let setting = Setting::Sysctl("kernel.timer_migration".to_owned());
    let value = || setting.get(&Host::this()).ok();
    if value().as_deref() != Some("1") {
        eprintln!("skipped: {setting} is {:?} here, so there is nothing to prove", value());
        return;
    }
    let journal = machine.state.join("journal.jsonl");
    let _ = fs::remove_file(&journal);
    let args = ["--prove", "timer-migration", "--pairs", "100", "--round", "20ms"];
    let child = doctor(&machine.state, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt");
    kill_after(child, &machine.state, 1);
    let since = Instant::now();
    let standing = || {
        let text = fs::read_to_string(&journal).unwrap_or_default();
        text.matches("\"changes\"").count() - text.matches("\"settled\"").count()
    };
    while standing() > 0 || value().as_deref() != Some("1") {
        assert!(since.elapsed() < PATIENCE, "{:?}, {}", value(), standing());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_proof_that_is_interrupted_is_given_back_and_says_so() {
    let Some(machine) = Machine::mine() else { return };
    let setting = Setting::Sysctl("kernel.timer_migration".to_owned());
    let Some("1") = setting.get(&Host::this()).ok().as_deref() else {
        eprintln!("skipped: {setting} is not 1 here, so there is nothing to prove");
        return;
    };
    let _ = fs::remove_file(machine.state.join("journal.jsonl"));
    let args = ["--prove", "timer-migration", "--pairs", "1000", "--round", "20ms", "--keep"];
    let child = doctor(&machine.state, &args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("takt");
    let since = Instant::now();
    while !fs::read_to_string(machine.state.join("journal.jsonl")).unwrap_or_default().contains("\"changes\"") {
        assert!(since.elapsed() < PATIENCE, "no change came");
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("our own child");
    let out = child.wait_with_output().expect("takt");
    assert_eq!(out.status.signal(), None, "it ends in good order");
    assert_eq!(setting.get(&Host::this()).ok().as_deref(), Some("1"));
    let said = String::from_utf8_lossy(&[out.stdout, out.stderr].concat()).into_owned();
    assert!(said.contains("stopped"), "{said}");
}
