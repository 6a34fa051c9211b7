//! `kill -9` of the lab at any moment of a run: `takt clean` takes away what is left, `--resume` finishes the run, and the
//! store is sound. Three times in the fast suite; `TAKT_LONG_TESTS=1` makes it fifty, and lets virtual machines be killed too.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use support::{Place, json, report, root_for};
use takt_testing::{skip, wait_for};

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
count = { full = 1, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }
"#;

/// Traces that a run may leave on this machine. They are namespaces, interfaces, mounts and control groups with takt's
/// name, and processes that were given the folder of its records.
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

/// Lines in the record of a whole run of native points and containers: before much is measured, while more is created and
/// measured, and then while things are released. A run with guests has more.
const TURNS: [RangeInclusive<usize>; 3] = [1..=9, 10..=27, 28..=54];

#[test]
fn a_lab_that_is_killed_at_any_moment_leaves_nothing_and_loses_nothing() {
    let Some(()) = root_for("cables and containers") else { return };
    let (kills, environments) = match std::env::var_os("TAKT_LONG_TESTS") {
        Some(_) => (50, r#"["native", "container", "vm"]"#),
        None => (3, r#"["native", "container"]"#),
    };
    let place = Place::with("kill.toml", &FILE.replace("ENVIRONMENTS", environments));
    let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
    let points = 3 * environments.split(',').count() as u64;
    let mut rounds = 0;
    for kill in 0..kills {
        // Early, in the middle and late by turns, in what is left of the last run; a new one where nothing is.
        let lines = random.random_range(TURNS[kill % TURNS.len()].clone());
        let left = points - rounds_of(&place).last().copied().unwrap_or(0);
        let of_rest = lines * left as usize / points as usize;
        if left == 0 || !killed_after(&place, of_rest.max(1), true) {
            assert!(killed_after(&place, lines, false), "kill {kill}: a whole run has {lines} lines");
        }
        let there = rounds_of(&place).iter().sum();
        assert!(there >= rounds, "kill {kill}: {rounds} rounds were there, now {there}");
        rounds = there;
    }
    let out = place.takt(&["experiment", "run", "kill.toml", "--resume", "--json"]);
    let summary = json(&out);
    assert_eq!(summary["complete"], true, "{}", report(&out));
    every_point_is_measured(&summary);
    sound(&place.path("takt-runs/takt.db"));
}

/// Every point has its round, or says why it can't have them here, which is on record.
fn every_point_is_measured(summary: &Value) {
    let points = summary["points"].as_array().expect("points");
    assert!(points.len() >= 6, "{summary:#}");
    for point in points {
        let not_here = point["factors"]["environment"] != "native" && point["rounds"] == 0;
        match point["not_counted"].as_array().map_or(0, Vec::len) {
            1.. if not_here => skip(format!("{}   (./test installs it)", point["not_counted"])),
            _ => assert_eq!(point["rounds"], 1, "{point:#}"),
        }
    }
}

/// Starts the lab and kills it once its record has so many lines; whether that happened, for it may end before. Whichever,
/// `takt clean` leaves nothing of it.
fn killed_after(place: &Place, lines: usize, resume: bool) -> bool {
    let resumed = resume.then_some("--resume");
    let mut lab = place.command(&["experiment", "run", "kill.toml"]);
    let (said, errors) = (place.path("said"), File::create(place.path("said")).expect("a file"));
    let mut lab = lab.args(resumed).stdout(Stdio::null()).stderr(errors).spawn().expect("takt");
    let ended = wait_for("the lab's next record", || {
        let ended = lab.try_wait().expect("a child");
        if ended.is_none() && records_of(place, lab.id()) < lines {
            return None;
        }
        Some(ended)
    });
    match ended {
        Some(status) => assert!(status.success(), "{status:?} {}", fs::read_to_string(said).unwrap_or_default()),
        None => lab.kill().expect("ours"),
    }
    let status = lab.wait().expect("a child");
    let clean = place.takt(&["clean"]);
    assert!(clean.status.success(), "{}", report(&clean));
    let left = traces(lab.id(), place);
    assert!(left.is_empty(), "{lines} lines: {left:#?}");
    status.signal().is_some()
}

fn records_of(place: &Place, pid: u32) -> usize {
    let own = format!("run-{pid}-");
    let files = fs::read_dir(place.path("run")).into_iter().flatten().flatten();
    let records = files.filter(|file| file.file_name().to_string_lossy().starts_with(&own));
    records.filter_map(|file| fs::read_to_string(file.path()).ok()).map(|text| text.lines().count()).sum()
}

/// Rounds in the store, run by run, the last one last; opening it looks whether it is sound.
fn rounds_of(place: &Place) -> Vec<u64> {
    let out = place.takt(&["experiment", "list", "--json"]);
    assert!(out.status.success(), "{}", report(&out));
    let list = json(&out);
    let runs = list.as_array().into_iter().flatten();
    // A run is called by the time it began.
    let by_name: BTreeMap<&str, u64> =
        runs.filter_map(|run| Some((run["id"].as_str()?, run["rounds"].as_u64()?))).collect();
    by_name.into_values().collect()
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
