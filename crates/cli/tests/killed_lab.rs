//! `kill -9` of the lab at any moment of a run: `takt clean` takes away what is left, `--resume` finishes the run, and the
//! store is sound. Three times in the fast suite; `TAKT_LONG_TESTS=1` makes it fifty, and lets virtual machines be killed too.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use support::{Place, json, told};

/// Everything that a site is made of: a cable, a switch, a router with a hop in user space, a container, perhaps a guest.
const FILE: &str = r#"
question = "Is anything left?"
[factors]
path        = ["direct", "switch", "router-hw"]
environment = ENVIRONMENTS
[fixed]
payload_bytes = 256
direction     = "from-host"
workload      = { kind = "udp", offered = 1000, duration = "50ms", warm_up = "0s" }
[rounds]
count = { full = 2, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }
"#;

/// What a run may leave on this machine: namespaces, interfaces, mounts and control groups with takt's name, and processes that
/// were given the folder of its records.
fn traces(of: u32, place: &Place) -> BTreeSet<String> {
    let ours = format!("takt-{of}-");
    let mut all: BTreeSet<String> = place.processes().into_iter().collect();
    let names = |folder: &str| -> Vec<String> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    all.extend(names("/run/netns").into_iter().filter(|name| name.starts_with(&ours)));
    all.extend(names("/sys/class/net").into_iter().filter(|name| name.contains(&ours)));
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    all.extend(mounts.lines().filter(|line| line.contains(&ours)).map(str::to_owned));
    groups(Path::new("/sys/fs/cgroup"), &ours, 4, &mut all);
    all
}

fn groups(folder: &Path, ours: &str, depth: usize, into: &mut BTreeSet<String>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(ours) {
            into.insert(format!("control group {name}"));
        }
        if depth > 0 {
            groups(&entry.path(), ours, depth - 1, into);
        }
    }
}

#[test]
fn a_lab_that_is_killed_at_any_moment_leaves_nothing_and_loses_nothing() {
    // A guest takes seconds to come up.
    let (kills, longest_ms, environments) = match std::env::var_os("TAKT_LONG_TESTS") {
        Some(_) => (50, 8_000, r#"["native", "container", "vm"]"#),
        None => (3, 4_000, r#"["native", "container"]"#),
    };
    let place = Place::with("kill.toml", &FILE.replace("ENVIRONMENTS", environments));
    let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
    let mut rounds = 0;
    for kill in 0..kills {
        let mut lab = place.command(&["experiment", "run", "kill.toml", "--resume"]);
        let mut lab = lab.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt");
        let pid = lab.id();
        std::thread::sleep(Duration::from_millis(random.random_range(20..longest_ms)));
        let _ended_already = lab.kill();
        lab.wait().expect("a child");
        let clean = place.takt(&["clean"]);
        assert!(clean.status.success(), "{}", told(&clean));
        let left = traces(pid, &place);
        assert!(left.is_empty(), "kill {kill}: {left:#?}");
        let there = rounds_of(&place);
        assert!(there >= rounds, "kill {kill}: {rounds} rounds were there, now {there}");
        rounds = there;
    }
    let out = place.takt(&["experiment", "run", "kill.toml", "--resume", "--json"]);
    let summary = json(&out);
    assert_eq!(summary["complete"], true, "{}", told(&out));
    let counts = &summary["rounds"];
    let of = |name: &str| counts[name].as_u64().unwrap_or_default();
    // Every point has its two rounds, or says why it can't have them here.
    let points = summary["points"].as_array().map_or(0, |points| points.len() as u64);
    assert!(points >= 6, "{summary:#}");
    assert_eq!(of("valid") + of("skipped"), 2 * points, "{summary:#}");
    sound(&place.path("takt-runs/takt.db"));
}

/// Rounds in the store; opening it looks whether it is sound.
fn rounds_of(place: &Place) -> u64 {
    let out = place.takt(&["experiment", "list", "--json"]);
    assert!(out.status.success(), "{}", told(&out));
    json(&out).as_array().into_iter().flatten().filter_map(|run| run["rounds"].as_u64()).sum()
}

/// SQLite's own thorough check.
fn sound(file: &Path) {
    let store = rusqlite::Connection::open(file).expect("a store");
    let found: String = store.query_row("PRAGMA integrity_check", [], |row| row.get(0)).expect("an answer");
    assert_eq!(found, "ok");
    let orphans: i64 = store
        .query_row("SELECT count(*) FROM records WHERE round NOT IN (SELECT id FROM rounds)", [], |row| row.get(0))
        .expect("an answer");
    assert_eq!(orphans, 0);
}
