//! A store that is not as it should be: every command that reads it says what is wrong, what to do, and changes nothing.

mod support;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use support::{TAKT, has, refusal, root_for};

/// Where `SQLite` keeps the schema version in its file (its file format, section 1.3.1).
const USER_VERSION: std::ops::Range<usize> = 60..64;

fn takt(runs: &Path, command: &[&str]) -> Output {
    Command::new(TAKT).args(command).arg("--runs").arg(runs).output().expect("takt runs")
}

fn store() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("temporary directory");
    let made = takt(dir.path(), &["experiment", "list"]);
    assert!(made.status.success(), "{made:?}");
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
    refused(runs.path(), "takt.db is not a store of takt", "--runs DIR keeps the store elsewhere");
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
    refused(runs.path(), "takt.db has schema 99; this takt knows up to", "use the newer takt that wrote it");
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
    has(&refusal(&output), &["takt.db can't be written", "--runs DIR"]);
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
