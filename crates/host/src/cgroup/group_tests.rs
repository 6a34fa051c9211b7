//! Groups on trees that look like hosts of each kind, and on this machine where it lets us.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::*;
use crate::leftovers::{Registry, Run};
use crate::policy::{self, Policy, PolicyError};
use crate::testing::Tree;

const V1: &str = "30 25 0:26 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n\
                  31 25 0:27 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n";
const V2: &str = "32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
const DEADLINE: Policy = Policy::Deadline { runtime_ns: 1_000_000, deadline_ns: 100_000_000, period_ns: 100_000_000 };
const HALF: Limit = Limit { cpus: Some(0.5), period: None, weight: Some(50) };

fn recorded_run() -> (tempfile::TempDir, Run) {
    let records = tempfile::tempdir().unwrap();
    let run = Registry::at(records.path()).begin("test").unwrap();
    (records, run)
}

struct World {
    tree: Tree,
    run: Run,
    records: tempfile::TempDir,
}

impl World {
    fn new(mounts: &str) -> World {
        let tree = Tree::new()
            .with("/proc/self/mountinfo", mounts)
            .with("/proc/7/cgroup", "3:cpuset:/\n2:cpu,cpuacct:/user.slice\n0::/user.slice/x\n")
            .with("/sys/devices/system/cpu/online", "0-3\n")
            .with("/sys/fs/cgroup/cpu/user.slice/cgroup.procs", "7\n")
            .with("/sys/fs/cgroup/cpuset/cpuset.mems", "0\n")
            .with("/sys/fs/cgroup/cpuset/cpuset.sched_load_balance", "1\n")
            .with("/sys/fs/cgroup/cpuset/cgroup.procs", "7\n");
        let (records, run) = recorded_run();
        World { tree, run, records }
    }

    fn unified(controllers: &str, handed_down: &str) -> World {
        let world = World::new(V2);
        world.tree.put("/sys/fs/cgroup/unified/cgroup.controllers", controllers);
        world.tree.put("/sys/fs/cgroup/unified/cgroup.subtree_control", handed_down);
        world.tree.put("/sys/fs/cgroup/unified/user.slice/x/cgroup.procs", "7\n");
        world
    }

    fn borrowed(&self) -> Result<Borrowed, GroupError> {
        Borrowed::create_at(&self.tree.host(), &self.run, "cap", HALF)
    }

    fn set(&self, cpus: &[usize], exclusive: bool) -> Result<CpuSet, GroupError> {
        CpuSet::create_at(&self.tree.host(), &self.run, "set", cpus, exclusive)
    }

    fn text(&self, tree: &str, file: &str) -> String {
        let path = format!("/sys/fs/cgroup/{tree}/{file}").replace("OURS", &format!("takt-{}", std::process::id()));
        self.tree.host().read_opt(&path).unwrap_or_default()
    }

    fn recorded(&self) -> String {
        let files = fs::read_dir(self.records.path()).unwrap().flatten();
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    }
}

#[test]
fn version_1_caps_weighs_and_gives_back_to_where_a_process_came_from() {
    let world = World::new(V1);
    let mut borrowed = world.borrowed().unwrap();
    borrowed.take(7).unwrap();
    assert_eq!(world.text("cpu", "OURS-cap/cpu.cfs_quota_us"), "5000");
    assert_eq!(world.text("cpu", "OURS-cap/cpu.cfs_period_us"), "10000");
    assert_eq!(world.text("cpu", "OURS-cap/cpu.shares"), "512");
    assert_eq!(world.text("cpu", "OURS-cap/0/cgroup.procs"), "7");
    assert!(world.recorded().contains("\"from\":\"/user.slice\""), "before it is taken: {}", world.recorded());
    world.tree.put("/sys/fs/cgroup/cpu/user.slice/cgroup.procs", "");
    drop(borrowed);
    assert_eq!(world.text("cpu", "user.slice/cgroup.procs"), "7");
}

#[test]
fn version_2_hands_the_controller_down_and_does_the_same() {
    let world = World::unified("cpu io\n", "io\n");
    let mut borrowed = world.borrowed().unwrap();
    borrowed.take(7).unwrap();
    assert_eq!(world.text("unified", "cgroup.subtree_control"), "+cpu");
    assert_eq!(world.text("unified", "OURS-cap/cpu.max"), "5000 10000");
    assert_eq!(world.text("unified", "OURS-cap/cpu.weight"), "50");
    borrowed.limit(Limit::default()).unwrap();
    assert_eq!(world.text("unified", "OURS-cap/cpu.max"), "max 10000");
    assert_eq!(world.text("unified", "OURS-cap/cpu.weight"), "100");
}

#[test]
fn a_group_that_has_gone_meanwhile_gives_way_to_the_one_above() {
    let world = World::unified("cpu\n", "cpu\n");
    let mut borrowed = world.borrowed().unwrap();
    borrowed.take(7).unwrap();
    fs::remove_dir_all(world.tree.root().join("sys/fs/cgroup/unified/user.slice/x")).unwrap();
    drop(borrowed);
    assert_eq!(world.text("unified", "user.slice/cgroup.procs"), "7");
}

#[test]
fn on_a_hybrid_host_the_tree_that_has_the_controller_is_used() {
    let world = World::new(&format!("{V2}{V1}"));
    world.tree.put("/sys/fs/cgroup/unified/cgroup.controllers", "\n");
    assert_eq!(Hierarchy::with(&world.tree.host(), "cpu").unwrap().version, Version::One);
    let world = World::new(&format!("{V2}{}", V1.lines().next_back().unwrap()));
    world.tree.put("/sys/fs/cgroup/unified/cgroup.controllers", "cpu\n");
    assert_eq!(Hierarchy::with(&world.tree.host(), "cpu").unwrap().version, Version::Two);
    assert_eq!(Hierarchy::with(&world.tree.host(), "cpuset").unwrap().version, Version::One);
}

#[test]
fn a_missing_controller_is_named_with_what_is_mounted() {
    let none = World::new("").borrowed().unwrap_err();
    assert_eq!(none.to_string(), "this needs control groups with the cpu controller; mounted here: none");
    assert!(none.fix().unwrap().contains("mount -t cgroup2"));
    let without = World::unified("io memory\n", "").borrowed().unwrap_err();
    assert_eq!(without.to_string(), "this needs control groups with the cpu controller; mounted here: v2");
    assert!(without.fix().unwrap().contains("cgroup_disable=cpu") && without.is_unavailable());
}

#[test]
fn read_only_and_forbidden_trees_are_told_apart() {
    let of = |kind: std::io::ErrorKind| GroupError::of("/sys/fs/cgroup/x".into(), kind.into());
    let read_only = of(std::io::ErrorKind::ReadOnlyFilesystem);
    assert_eq!(read_only.to_string(), "control groups are read-only here, as in most containers: /sys/fs/cgroup/x");
    assert!(read_only.fix().unwrap().contains("outside the container"));
    let forbidden = of(std::io::ErrorKind::PermissionDenied);
    assert!(forbidden.to_string().contains("belong to root") && forbidden.fix().unwrap().contains("sudo"));
}

#[test]
fn processes_that_are_not_there_or_not_ours_to_move_are_named() {
    let world = World::new(V1);
    let mut borrowed = world.borrowed().unwrap();
    assert!(matches!(borrowed.take(8), Err(GroupError::NoSuchProcess { pid: 8 })));
    world.tree.put("/proc/9/cgroup", "2:cpu:/../outside\n");
    assert!(matches!(borrowed.take(9), Err(GroupError::OutOfReach { pid: 9, .. })));
}

#[test]
fn limits_out_of_range_are_refused() {
    let world = World::new(V1);
    let mut borrowed = world.borrowed().unwrap();
    for limit in [
        Limit { cpus: Some(0.0), ..Limit::default() },
        Limit { cpus: Some(f64::NAN), ..Limit::default() },
        Limit { weight: Some(0), ..Limit::default() },
        Limit { period: Some(Duration::from_secs(2)), ..Limit::default() },
    ] {
        assert!(matches!(borrowed.limit(limit), Err(GroupError::OutOfRange { .. })), "{limit:?}");
    }
}

#[test]
fn exclusive_cpus_of_version_1_are_set_apart_and_given_back() {
    let world = World::new(V1);
    let set = world.set(&[2], true).unwrap();
    assert_eq!(world.text("cpuset", "OURS-set/cpuset.cpus"), "2");
    assert_eq!(world.text("cpuset", "OURS-set/cpuset.mems"), "0");
    assert_eq!(world.text("cpuset", "OURS-set/cpuset.cpu_exclusive"), "1");
    assert_eq!(world.text("cpuset", "OURS-set-rest/cpuset.cpus"), "0-1,3");
    assert_eq!(world.text("cpuset", "OURS-set-rest/cgroup.procs"), "7");
    assert_eq!(world.text("cpuset", "cpuset.sched_load_balance"), "0");
    assert!(world.recorded().contains("load_balancer"));
    drop(set);
    assert_eq!(world.text("cpuset", "cpuset.sched_load_balance"), "1");
    assert_eq!(world.text("cpuset", "cgroup.procs"), "7");
}

#[test]
fn exclusive_cpus_of_version_2_are_a_partition() {
    let world = World::unified("cpuset\n", "cpuset\n");
    let _set = world.set(&[1, 2], true).unwrap();
    assert_eq!(world.text("unified", "OURS-set/cpuset.cpus"), "1-2");
    assert_eq!(world.text("unified", "OURS-set/cpuset.cpus.partition"), "root");
    let _shared = World::unified("cpuset\n", "cpuset\n").set(&[1], false).unwrap();
}

#[test]
fn cpus_that_are_not_there_or_all_of_them_are_refused() {
    let world = World::new(V1);
    assert!(matches!(world.set(&[], false), Err(GroupError::NoSuchCpus { .. })));
    assert!(matches!(world.set(&[4], false), Err(GroupError::NoSuchCpus { .. })));
    assert!(matches!(world.set(&[0, 1, 2, 3], true), Err(GroupError::NotExclusive { .. })));
}

/// A process that counts, or sleeps, and what it starts; all killed when dropped.
struct Process(Child);

impl Process {
    fn running(script: &str) -> Process {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // A process group of its own, to be ended as a whole.
        Process(command.process_group(0).spawn().unwrap())
    }

    fn cpu_group(&self) -> String {
        Hierarchy::with(&Host::this(), "cpu").unwrap().group_of(self.0.id()).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        let _ = self.0.wait();
    }
}

/// Value of a step that this machine allows; `None`, on record, if it does not.
fn allowed<T>(result: Result<T, GroupError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            assert!(error.is_unavailable(), "{error}");
            takt_testing::skip(error);
            None
        }
    }
}

#[test]
fn a_strangers_process_is_capped_and_goes_home_alive_with_its_children() {
    let (_records, run) = recorded_run();
    let Some(mut borrowed) = allowed(Borrowed::create(&run, "borrowed-live", Limit { cpus: Some(0.2), ..HALF })) else {
        return;
    };
    let mut stranger = Process::running("while :; do :; done & wait");
    let home = stranger.cpu_group();
    borrowed.take(stranger.0.id()).unwrap();
    borrowed.take(stranger.0.id()).unwrap();
    let mut late = Process::running("while :; do :; done");
    borrowed.take(late.0.id()).unwrap();
    takt_testing::wait_for("the cap to be felt three times", || (borrowed.throttled().times >= 3).then_some(()));
    borrowed.give_back().unwrap();
    assert_eq!((stranger.cpu_group(), late.cpu_group()), (home.clone(), home));
    assert!(stranger.0.try_wait().unwrap().is_none() && late.0.try_wait().unwrap().is_none());
}

#[test]
fn what_a_killed_run_held_is_given_back_by_clean_and_not_killed() {
    let (records, run) = recorded_run();
    let Some(mut borrowed) = allowed(Borrowed::create(&run, "borrowed-dead", HALF)) else { return };
    let mut stranger = Process::running("sleep 600 & wait");
    let home = stranger.cpu_group();
    borrowed.take(stranger.0.id()).unwrap();
    assert_ne!(stranger.cpu_group(), home);
    // A kill does this: nothing is undone, and the record is locked no more. That of a copy never was.
    std::mem::forget(borrowed);
    let killed = tempfile::tempdir().unwrap();
    let name = record_name(records.path());
    fs::copy(records.path().join(&name), killed.path().join(&name)).unwrap();
    let cleaned = Registry::at(killed.path()).clean().unwrap();
    assert!(cleaned.kept.is_empty() && cleaned.removed.len() == 2, "{cleaned:?}");
    assert_eq!(stranger.cpu_group(), home);
    assert!(stranger.0.try_wait().unwrap().is_none(), "a stranger is never killed");
}

fn record_name(folder: &std::path::Path) -> std::ffi::OsString {
    let names = fs::read_dir(folder).unwrap().flatten().map(|file| file.file_name());
    names.into_iter().find(|name| name.to_string_lossy().ends_with(".jsonl")).unwrap()
}

#[test]
fn a_process_in_a_set_runs_on_its_cpus() {
    let (_records, run) = recorded_run();
    let last = *crate::affinity::own_cpus().last().unwrap();
    let Some(set) = allowed(CpuSet::create(&run, "set-live", &[last], false)) else { return };
    let process = Process::running("sleep 600");
    set.add(process.0.id()).unwrap();
    assert_eq!(crate::affinity::cpus(process.0.id()).unwrap(), [last]);
    // A thread that may run on one CPU of a domain of several can't have DEADLINE, and gets the reason.
    if crate::affinity::own_cpus().len() > 1 {
        let refused = policy::set_policy(process.0.id(), DEADLINE).unwrap_err();
        let lacks = matches!(refused, PolicyError::NotPermitted { .. } | PolicyError::UserNamespace { .. });
        assert!(lacks || matches!(refused, PolicyError::Pinned { .. }), "{refused}");
    }
    drop(set);
    assert_eq!(Hierarchy::with(&Host::this(), "cpuset").unwrap().group_of(process.0.id()).unwrap(), "/");
}

#[test]
#[ignore = "moves every process of the machine off a CPU for a moment: run it alone, with --ignored"]
fn exclusive_cpus_admit_deadline_and_everything_is_as_before_afterwards() {
    let (_records, run) = recorded_run();
    let cpus = crate::affinity::own_cpus();
    let (Some(&last), true) = (cpus.last(), cpus.len() > 1) else {
        return takt_testing::skip("one CPU can't be set apart   (a machine with two)");
    };
    let hierarchy = Hierarchy::with(&Host::this(), "cpuset");
    let balanced = hierarchy.as_ref().map(|tree| tree.get("/", "cpuset.sched_load_balance")).unwrap_or_default();
    let Some(set) = allowed(CpuSet::create(&run, "set-alone", &[last], true)) else { return };
    let process = Process::running("sleep 600");
    set.add(process.0.id()).unwrap();
    policy::set_policy(process.0.id(), DEADLINE).unwrap();
    assert_eq!(policy::policy(process.0.id()).unwrap(), DEADLINE);
    assert!(!crate::affinity::own_cpus().contains(&last), "we are everybody, too");
    drop(process);
    drop(set);
    assert_eq!(crate::affinity::own_cpus(), cpus);
    assert_eq!(hierarchy.unwrap().get("/", "cpuset.sched_load_balance"), balanced);
}
