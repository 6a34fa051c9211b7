//! A store that is not as it should be: every command that reads it says what is wrong, what to do, and changes nothing.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{TAKT, has, refusal, root_for};

/// Place of the schema version in an `SQLite` file (its file format, section 1.3.1).
const USER_VERSION: std::ops::Range<usize> = 60..64;

fn takt(runs: &Path, command: &[&str]) -> Output {
    Command::new(TAKT).args(command).arg("--runs").arg(runs).output().expect("takt runs")
}

fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    drop(takt_lab::store::Store::open(dir.path()).expect("a store"));
    dir
}

/// Asserts that the commands refuse the store with these words, and leave its file as it is.
fn refused(runs: &Path, what: &str, fix: &str) {
    let file = runs.join("takt.db");
    let before = fs::read(&file).expect("there");
    for command in
        [&["experiment", "list"][..], &["report", "last"], &["experiment", "export", "last"], &["check", "--quick"]]
    {
        let output = takt(runs, command);
        let text = String::from_utf8_lossy(&output.stderr).replace(&format!("{}/", runs.display()), "");
        assert_eq!(output.status.code(), Some(2), "{command:?}: {text}");
        assert!(text.contains(what) && text.contains(fix), "{command:?}: {text}");
        assert!(output.stdout.is_empty(), "{command:?}: {output:?}");
    }
    assert_eq!(fs::read(&file).expect("there"), before);
}

#[test]
fn a_foreign_file_is_left_alone() {
    let runs = tempfile::tempdir().expect("temporary directory");
    fs::write(runs.path().join("takt.db"), "my own notes\n").expect("ours");
    refused(runs.path(), "takt.db is not a store of takt", "give --runs DIR, to keep the store elsewhere");
}

#[test]
fn a_store_cut_short_is_called_damaged_and_can_be_salvaged() {
    let runs = store();
    let file = runs.path().join("takt.db");
    let whole = fs::read(&file).expect("there");
    fs::write(&file, &whole[..whole.len() / 2]).expect("ours");
    refused(runs.path(), "takt.db is damaged", "sqlite3 takt.db.damaged .recover");
}

#[test]
fn a_store_of_a_later_takt_is_not_touched() {
    let runs = store();
    let file = runs.path().join("takt.db");
    let mut bytes = fs::read(&file).expect("there");
    bytes[USER_VERSION].copy_from_slice(&99_u32.to_be_bytes());
    fs::write(&file, bytes).expect("ours");
    refused(runs.path(), "takt.db has schema 99; this takt knows schemas up to", "use the newer takt that wrote it");
}

#[test]
fn a_folder_that_cannot_be_written_is_named_with_another_way() {
    let runs = store();
    let script = r#"mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$2" check --quick --runs "$1""#;
    let run = Command::new("unshare").args(["-rm", "sh", "-c", script, "sh"]).arg(runs.path()).arg(TAKT).output();
    let output = match run {
        Ok(output) if !String::from_utf8_lossy(&output.stderr).starts_with("unshare:") => output,
        other => {
            return takt_testing::skip(format!(
                "it needs a mount namespace of its own   (run the tests as root): {other:?}"
            ));
        }
    };
    has(&refusal(&output), &["takt can't write", "takt.db", "--runs DIR"]);
}

#[test]
fn a_store_that_may_only_be_read_is_read_and_nothing_is_made_where_there_is_none() {
    let Some(()) = root_for("another user") else { return };
    let place = tempfile::tempdir().expect("temporary directory");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let runs = place.path().join("takt-runs");
    fs::write(place.path().join("x.toml"), RUN).expect("ours");
    let file = place.path().join("x.toml");
    let mut command = Command::new(TAKT);
    command.args(["experiment", "run"]).arg(&file).arg("--runs").arg(&runs);
    command.env("TAKT_RUN_DIR", place.path().join("run")).env("TAKT_STATE_DIR", place.path().join("state"));
    let run = command.output().expect("takt runs");
    assert!(run.status.success(), "{run:?}");
    // The program may be where no other user goes.
    let program = place.path().join("takt");
    fs::copy(TAKT, &program).expect("ours");
    let as_nobody = |words: &[&str], runs: &Path| {
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&program).args(words);
        command.arg("--runs").arg(runs).output().expect("util-linux")
    };
    for words in [&["experiment", "list"][..], &["experiment", "show", "last"], &["experiment", "export", "last"]] {
        let output = as_nobody(words, &runs);
        assert!(output.status.success() && !output.stdout.is_empty(), "{words:?}: {output:?}");
    }
    let none = as_nobody(&["experiment", "list"], &place.path().join("none"));
    assert!(none.status.success() && !place.path().join("none").exists(), "{none:?}");
    let refused = as_nobody(&["check", "--quick"], &runs);
    has(&refusal(&refused), &["belongs to root", "--runs DIR"]);
}

#[test]
fn root_in_a_directory_of_another_user_keeps_no_runs_there_and_says_why() {
    let Some(()) = root_for("a directory of another user") else { return };
    let place = tempfile::tempdir().expect("temporary directory");
    let (runs, file) = (place.path().join("takt-runs"), place.path().join("x.toml"));
    fs::create_dir(&runs).expect("ours");
    fs::write(&file, RUN).expect("ours");
    std::os::unix::fs::chown(&runs, Some(65534), None).expect("root may");
    let run = |sudo: Option<&str>| {
        let mut command = Command::new(TAKT);
        command.args(["experiment", "run"]).arg(&file).arg("--runs").arg(&runs).env_remove("SUDO_UID");
        command.env("TAKT_RUN_DIR", place.path().join("run")).env("TAKT_STATE_DIR", place.path().join("state"));
        command.envs(sudo.map(|uid| ("SUDO_UID", uid))).envs(sudo.map(|gid| ("SUDO_GID", gid)));
        command.output().expect("takt runs")
    };
    for sudo in [None, Some("65533")] {
        let text = refusal(&run(sudo));
        has(&text, &["takt-runs belongs to ", "expected: root", "--runs DIR", "run takt as the owner"]);
        assert_eq!(fs::read_dir(&runs).expect("there").count(), 0, "nothing is made there");
    }
    let by_sudo = run(Some("65534"));
    assert!(by_sudo.status.success(), "its owner by sudo: {by_sudo:?}");
}

/// A received store: what it says is only text.
#[test]
fn a_report_of_a_run_whose_name_is_a_path_writes_nothing() {
    let runs = store();
    let outside = runs.path().join("outside");
    let store = takt_lab::store::Store::open(runs.path()).expect("a store");
    let run = takt_lab::store::NewRun { experiment: "check".into(), ..Default::default() };
    store.begin_run(&run).expect("a run");
    drop(store);
    let forge = format!("PRAGMA foreign_keys = OFF; UPDATE runs SET id = '{}'", outside.display());
    let store = rusqlite::Connection::open(runs.path().join("takt.db")).expect("a database");
    store.execute_batch(&forge).expect("ours");
    drop(store);
    for words in [&["report", "last"][..], &["experiment", "show", "last"], &["experiment", "list"]] {
        has(&refusal(&takt(runs.path(), words)), &["which is not the name of a run", "--runs DIR"]);
    }
    assert!(!outside.exists());
}

/// A run that takes no time and no network.
const RUN: &str = "question = \"?\"\n[rounds]\ncount = 1\norder = { seed = 1 }\n\
                   valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }\n[[part]]\nname = \"link\"\n\
                   fixed = { packet_bytes = 4096, count = 100, workload = { kind = \"interface\" } }\n";

fn with_all_in_it(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(with_all_in_it).chain([folder.clone()]).collect()
}

#[test]
fn what_a_call_by_sudo_makes_belongs_to_who_typed_it() {
    let Some(()) = root_for("giving files away") else { return };
    let place = tempfile::tempdir().expect("temporary directory");
    fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).expect("ours");
    let file = place.path().join("x.toml");
    fs::write(&file, RUN).expect("ours");
    let runs = place.path().join("a/takt-runs");
    let mut command = Command::new(TAKT);
    command.args(["experiment", "run"]).arg(file).arg("--runs").arg(&runs);
    command.env("TAKT_RUN_DIR", place.path().join("run")).env("TAKT_STATE_DIR", place.path().join("state"));
    let run = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().expect("takt runs");
    assert!(run.status.success(), "{run:?}");
    let all = with_all_in_it(place.path().join("a"));
    assert!(all.iter().any(|path| path.ends_with("lock")) && all.contains(&runs.join("takt.db")), "{all:?}");
    for path in all {
        assert_eq!(fs::metadata(&path).expect("there").uid(), 65534, "{}", path.display());
    }
}
