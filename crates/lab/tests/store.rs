//! The store keeps what it was given, and refuses what is not its own.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use rusqlite::Connection;
use serde_json::{Value, json};
use takt_lab::store::{NewRound, NewRun, PointRow, Record, RoundState, Store, StoreError};

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
    let error = store.run("20").unwrap_err();
    assert!(matches!(&error, StoreError::NoRun { there, .. } if there.len() == 2), "{error}");
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

#[test]
fn a_place_that_takes_no_file_is_reported_with_the_way_out() {
    let dir = tempfile::tempdir().unwrap();
    // For root too: what the name leads to is not there.
    std::os::unix::fs::symlink("/nowhere/takt.db", dir.path().join("takt.db")).unwrap();
    let error = Store::open(dir.path()).unwrap_err();
    assert!(matches!(&error, StoreError::ReadOnly { .. }), "{error:?}");
    assert!(error.fix().unwrap().contains("--runs DIR"));
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
