//! The store keeps what it was given, and refuses what is not its own.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use takt_lab::store::{NewRound, NewRun, PointRow, Record, RoundState, Store, StoreError, run_folder};

use crate::support;

fn run_with_points(count: usize) -> NewRun {
    let point = |n: usize| PointRow { part: "radio".into(), factors: BTreeMap::from([("rate_sps".into(), json!(n))]) };
    NewRun {
        experiment: "check".into(),
        file: "question = \"?\"".into(),
        depth: "quick".into(),
        seed: u64::MAX,
        options: json!({"need": ["n200:25M"]}),
        host: json!({"cores": 4}),
        takt_version: "0.1.0".into(),
        points: (0..count).map(point).collect(),
    }
}

fn round(point: u32, block: u32) -> NewRound {
    let record = Record {
        settings: json!({"rate_sps": 25e6}),
        result: json!({"rx": {"samples": 250_000_000_u64, "dropped": 0}, "lag": {"hdr_v2_base64": "HISTE".repeat(600)}}),
        before: json!({"udp": {"rcvbuf_errors": 3}}),
        after: json!({"udp": {"rcvbuf_errors": 3}}),
        in_force: json!({"engine": "mmsg"}),
        emulator: json!({"lag": {"max_us": 12.5}}),
        machine: Value::Null,
    };
    NewRound { point, ..support::round(block, record) }
}

#[test]
fn what_was_finished_is_read_back_whole() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(2)).unwrap();
    let skipped =
        NewRound { state: RoundState::Skipped, why: Some("20 MS/s failed".into()), record: None, ..round(1, 0) };
    let ids = [store.finish_round(&run, &round(0, 0)).unwrap(), store.finish_round(&run, &skipped).unwrap()];
    drop(store);

    let store = Store::open(dir.path()).unwrap();
    let there = store.run(&run).unwrap();
    assert_eq!((there.seed, there.rounds, &there.finished), (u64::MAX, 2, &None));
    assert_eq!(there.options, json!({"need": ["n200:25M"]}));
    let rounds = store.rounds(&run).unwrap();
    assert_eq!(rounds.iter().map(|r| r.id).collect::<Vec<_>>(), ids);
    assert_eq!(rounds[0].record, round(0, 0).record);
    assert_eq!(rounds[1].record, None);
    assert_eq!((rounds[1].state, rounds[1].why.as_deref()), (RoundState::Skipped, Some("20 MS/s failed")));
    assert_eq!(rounds[1].factors["rate_sps"], json!(1));
}

#[test]
fn what_an_older_version_recorded_is_read_by_the_present_names() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let mut old = run_with_points(1);
    old.points[0].factors = [("scheduling".into(), json!("fifo")), ("wait".into(), json!("spin"))].into();
    let run = store.begin_run(&old).unwrap();
    let mut done = round(0, 0);
    done.record.as_mut().unwrap().settings = json!({ "priority": "normal", "cap": "none" });
    store.finish_round(&run, &done).unwrap();

    let factors = BTreeMap::from([("policy".to_owned(), json!("fifo")), ("timer".to_owned(), json!("spin"))]);
    let read = store.rounds(&run).unwrap().remove(0);
    assert_eq!((&store.points(&run).unwrap()[0].factors, &read.factors), (&factors, &factors));
    assert_eq!(read.record.unwrap().settings, json!({ "policy": "other", "cap": "none" }));
}

#[test]
fn a_round_of_a_point_that_is_not_in_the_run_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    assert!(store.finish_round(&run, &round(7, 0)).is_err());
    assert_eq!(store.finish_round(&run, &round(0, 0)).unwrap(), 1, "the refused one left nothing");
    assert!(store.finish_round(&run, &round(0, 0)).is_err(), "the same round twice");
}

#[test]
fn an_unfinished_run_is_found_by_file_depth_and_options_until_it_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let new = run_with_points(1);
    let first = store.begin_run(&new).unwrap();
    let second = store.begin_run(&new).unwrap();
    assert_ne!(first, second, "two runs in one second have two names");
    let found = |options: &Value| store.unfinished(&new.file, "quick", options).unwrap().map(|run| run.id);
    assert_eq!(found(&new.options), Some(second.clone()));
    assert_eq!(found(&json!({})), None);
    store.finish_run(&second).unwrap();
    assert_eq!(found(&new.options), Some(first));
}

#[test]
fn a_run_is_found_by_a_part_of_its_name_that_names_only_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let check = store.begin_run(&run_with_points(1)).unwrap();
    let sweep = store.begin_run(&NewRun { experiment: "sweep".into(), ..run_with_points(1) }).unwrap();
    assert_eq!(store.run("check").unwrap().id, check);
    assert_eq!(store.run("last").unwrap().id, sweep);
    let runs = dir.path().display();
    let several = store.run("20").unwrap_err();
    assert!(matches!(&several, StoreError::NoRun { there, .. } if there.len() == 2), "{several}");
    assert_eq!(several.to_string(), format!("the names of 2 runs in {runs} contain `20`"));
    let none = store.run("nowhere").unwrap_err();
    assert_eq!(none.to_string(), format!("there is no run named `nowhere` in {runs}"));
    let fix = none.fix().unwrap();
    assert!(fix.contains(&format!("experiment list --runs {runs}   (lists the runs)")), "{fix}");
    assert!(!fix.contains("makes the first"), "{fix}");
}

#[test]
fn only_one_process_at_a_time_may_write_a_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    let lock = store.lock_run(&run).unwrap();
    assert!(matches!(store.lock_run(&run), Err(StoreError::Busy { .. })));
    drop(lock);
    store.lock_run(&run).unwrap();
}

#[test]
fn a_foreign_file_is_refused_and_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("takt.db");
    Connection::open(&file).unwrap().execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let database = fs::read(&file).unwrap();
    for content in [&database[..], b"hello", &[0xff; 5000], b"SQLite format 2\0 and more"] {
        fs::write(&file, content).unwrap();
        let error = Store::open(dir.path()).unwrap_err();
        assert!(matches!(error, StoreError::Foreign { .. }), "{error:?}");
        assert!(error.fix().unwrap().contains("--runs"));
        assert_eq!(fs::read(&file).unwrap(), content);
    }
}

#[test]
fn a_newer_file_is_refused_and_the_fix_says_which_takt() {
    let dir = tempfile::tempdir().unwrap();
    drop(Store::open(dir.path()).unwrap());
    Connection::open(dir.path().join("takt.db")).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Newer { found: 99, .. }), "{error:?}");
    assert!(error.fix().unwrap().contains("newer takt"));
}

/// Two rounds with enough in them that the file has pages to lose.
fn filled(dir: &Path) -> String {
    let store = Store::open(dir).unwrap();
    let run = store.begin_run(&run_with_points(40)).unwrap();
    for point in 0..40 {
        store.finish_round(&run, &round(point, 0)).unwrap();
    }
    run
}

#[test]
fn a_truncated_file_is_called_damaged() {
    let dir = tempfile::tempdir().unwrap();
    filled(dir.path());
    let file = dir.path().join("takt.db");
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.fix().unwrap().contains("damaged"));
}

/// Files that an attacker lays where takt is about to write: names of runs are times, so those of the next seconds are known.
struct Laid {
    dir: tempfile::TempDir,
    victim: std::path::PathBuf,
    _place: tempfile::TempDir,
}

impl Laid {
    fn new() -> Laid {
        let place = tempfile::tempdir().unwrap();
        let victim = place.path().join("victim");
        fs::write(&victim, "mine").unwrap();
        Laid { dir: tempfile::tempdir().unwrap(), victim, _place: place }
    }

    fn link(&self, name: &str) {
        let at = self.dir.path().join(name);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        symlink(&self.victim, at).unwrap();
    }

    fn refused<T>(&self, done: Result<T, StoreError>) {
        let Err(error) = done else { panic!("a link was followed") };
        assert!(matches!(&error, StoreError::Untrusted(_)), "{error:?}");
        assert!(error.to_string().contains("is a symbolic link; expected: a "), "{error}");
        assert!(error.fix().unwrap().contains("--runs DIR"), "{error}");
        assert_eq!(fs::read_to_string(&self.victim).unwrap(), "mine");
    }
}

#[test]
fn a_link_in_place_of_the_lock_is_refused_and_what_it_leads_to_keeps_its_content() {
    let laid = Laid::new();
    let store = Store::open(laid.dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    laid.link(&format!("{run}/lock"));
    laid.refused(store.lock_run(&run));
}

#[test]
fn a_link_in_place_of_a_runs_folder_or_its_report_is_refused() {
    let laid = Laid::new();
    laid.link("2026-11-21T100412-check/outcome.json");
    let folder = run_folder(laid.dir.path(), "2026-11-21T100412-check").unwrap();
    laid.refused(folder.replace("outcome.json", b"{}").map_err(StoreError::Untrusted));
    laid.link("2026-11-21T100413-check");
    laid.refused(run_folder(laid.dir.path(), "2026-11-21T100413-check"));
}

#[test]
fn a_link_in_place_of_the_store_or_of_what_sqlite_keeps_beside_it_is_refused() {
    for name in ["takt.db", "takt.db-wal", "takt.db-shm", "takt.db-journal"] {
        let laid = Laid::new();
        laid.link(name);
        laid.refused(Store::open(laid.dir.path()));
        if name == "takt.db" {
            laid.refused(Store::read(laid.dir.path()));
        }
    }
}

#[test]
fn a_fifo_in_place_of_the_store_is_not_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("takt.db");
    rustix::fs::mknodat(rustix::fs::CWD, &file, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for error in [Store::open(dir.path()).unwrap_err(), Store::read(dir.path()).unwrap_err()] {
        assert!(error.to_string().contains("is a FIFO; expected: a regular file"), "{error}");
    }
}

#[test]
fn root_keeps_no_runs_where_others_may_write() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("takt-runs");
    fs::create_dir(&runs).unwrap();
    if chown(&runs, Some(65534), None).is_err() {
        return takt_testing::skip("a directory of another user   (run the tests as root)");
    }
    let refused = |wanted: &str| {
        let error = Store::open(&runs).unwrap_err();
        assert!(matches!(error, StoreError::Untrusted(_)) && error.to_string().contains(wanted), "{error}");
        assert_eq!(fs::read_dir(&runs).unwrap().count(), 0, "nothing is made there");
    };
    refused("expected: root");
    chown(&runs, Some(0), None).unwrap();
    for mode in [0o777, 0o1777] {
        fs::set_permissions(&runs, fs::Permissions::from_mode(mode)).unwrap();
        refused("everybody may write there");
    }
    // A directory of another user, in which it would be made.
    chown(dir.path(), Some(65534), None).unwrap();
    fs::set_permissions(&runs, fs::Permissions::from_mode(0o755)).unwrap();
    refused("expected: root");
    chown(dir.path(), Some(0), None).unwrap();
    Store::open(&runs).unwrap();
}

#[test]
fn a_run_whose_name_is_a_path_is_refused_when_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    let outside = dir.path().join("outside");
    for id in [outside.to_str().unwrap(), "../outside", "."] {
        let forge = "PRAGMA foreign_keys = OFF; UPDATE runs SET id = '";
        Connection::open(dir.path().join("takt.db")).unwrap().execute_batch(&format!("{forge}{id}'")).unwrap();
        for error in [
            store.run("last").unwrap_err(),
            store.runs().unwrap_err(),
            Store::read(dir.path()).unwrap().runs().unwrap_err(),
        ] {
            assert!(matches!(&error, StoreError::RunName { id: named } if named == id), "{error}");
        }
        assert!(matches!(run_folder(dir.path(), id), Err(StoreError::RunName { .. })));
        assert!(matches!(store.lock_run(id), Err(StoreError::RunName { .. })));
    }
    assert!(!outside.exists() && !run.contains('/'));
    let odd = NewRun { experiment: "a/../../b".into(), ..run_with_points(1) };
    assert!(matches!(store.begin_run(&odd), Err(StoreError::RunName { .. })));
}

#[test]
fn a_store_is_read_without_making_anything() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("takt-runs");
    assert!(Store::read(&runs).unwrap().runs().unwrap().is_empty());
    assert!(!runs.exists());
    fs::create_dir(&runs).unwrap();
    fs::write(runs.join("takt.db"), "").unwrap();
    assert!(Store::read(&runs).unwrap().runs().unwrap().is_empty());
}

/// Root may write everywhere, so for root it is a directory of somebody whom root does not trust.
#[test]
fn a_store_that_may_not_be_written_is_read_unless_its_rounds_are_in_the_log_alone() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("takt-runs");
    let run = filled(&runs);
    let ours = rustix::process::geteuid().is_root() && chown(&runs, Some(65534), None).is_ok();
    if !ours {
        fs::set_permissions(&runs, fs::Permissions::from_mode(0o555)).unwrap();
    }
    let names = || {
        let mut names: Vec<_> = fs::read_dir(&runs).unwrap().flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = names();
    let store = Store::read(&runs).unwrap();
    assert_eq!(store.rounds(&run).unwrap().len(), 40);
    assert!(matches!(store.lock_run(&run), Err(StoreError::ReadOnly { .. })));
    assert!(store.begin_run(&run_with_points(1)).is_err());
    assert_eq!(names(), before, "nothing is made there");

    // Its owner writes again: what is read now may be half of it.
    let file = runs.join("takt.db");
    if ours {
        Connection::open(&file).unwrap().execute_batch("UPDATE runs SET depth = 'full'").unwrap();
        let error = store.rounds(&run).unwrap_err();
        assert!(matches!(error, StoreError::Busy { .. }), "{error}");
        fs::write(runs.join("takt.db-wal"), "x").unwrap();
        let error = Store::read(&runs).unwrap_err();
        assert!(
            matches!(error, StoreError::Unmerged { .. }) && error.fix().unwrap().contains("as its owner"),
            "{error}"
        );
    }
    fs::set_permissions(&runs, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn csv_has_a_line_a_round_and_quotes_what_needs_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    let odd = NewRound { why: Some("load 3.1, \"make\"".into()), state: RoundState::Disturbed, ..round(0, 0) };
    store.finish_round(&run, &odd).unwrap();
    let mut out = Vec::new();
    store.table(&run).unwrap().write_csv(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.split_terminator("\r\n").collect();
    assert_eq!(lines.len(), 2);
    assert!(
        lines[0].starts_with("run,round,part,point,block,attempt,state,why,started,took_s,after.udp.rcvbuf_errors")
    );
    assert!(lines[0].ends_with("result.rx.dropped,result.rx.samples,settings.rate_sps"));
    assert!(lines[1].contains(",disturbed,\"load 3.1, \"\"make\"\"\","), "{}", lines[1]);
    assert!(lines[1].ends_with(",0,250000000,25000000.0"));
}

#[test]
fn a_text_that_a_spreadsheet_would_execute_is_disarmed_and_a_number_stays_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let run = store.begin_run(&run_with_points(1)).unwrap();
    let record =
        Record { result: json!({ "lag_us": -3.5, "host": "=HYPERLINK(\"http://x\")" }), ..round(0, 0).record.unwrap() };
    store.finish_round(&run, &NewRound { why: Some("@SUM(A1)".into()), record: Some(record), ..round(0, 0) }).unwrap();
    let mut out = Vec::new();
    store.table(&run).unwrap().write_csv(&mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains(",'@SUM(A1),") && text.contains(",\"'=HYPERLINK(\"\"http://x\"\")\","), "{text}");
    assert!(text.contains(",-3.5,"), "{text}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    /// Whatever a byte of the file becomes, the store opens with every round whole, or says what is wrong.
    #[test]
    fn a_damaged_byte_never_panics_and_never_hangs(at in 0.0..1.0_f64, byte: u8) {
        // Filled once: each round that is written is synced to the disk.
        static FILLED: LazyLock<(String, Vec<u8>)> = LazyLock::new(|| {
            let dir = tempfile::tempdir().unwrap();
            (filled(dir.path()), fs::read(dir.path().join("takt.db")).unwrap())
        });
        let (run, mut bytes) = FILLED.clone();
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("takt.db");
        let at = ((bytes.len() - 1) as f64 * at) as usize;
        bytes[at] = byte;
        fs::write(&file, &bytes).unwrap();
        match Store::open(dir.path()) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(store) => match store.rounds(&run) {
                Err(error) => prop_assert!(!error.to_string().is_empty()),
                Ok(rounds) => prop_assert!(rounds.len() <= 40),
            },
        }
    }
}
