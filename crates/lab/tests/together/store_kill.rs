//! `kill -9` of the writer, again and again: every round that it reported as finished is there, whole.

use std::collections::BTreeMap;
use std::env;
use std::io::{BufRead, BufReader, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::json;
use takt_lab::store::{NewRound, NewRun, PointRow, Record, Store};

use crate::support;

/// Set for the writer that is going to be killed; its value is the directory.
const VICTIM: &str = "TAKT_TEST_STORE_VICTIM";

fn round(block: u32) -> NewRound {
    support::round(block, Record { result: json!({"block": block, "content": content(block)}), ..Record::default() })
}

/// Larger than a page, so that a torn write would show.
fn content(block: u32) -> Vec<u8> {
    (0..5000_u32).map(|n| (n.wrapping_mul(block + 1) >> 3) as u8).collect()
}

/// Opens the store, continues its only run (or begins it), and writes `count` rounds, saying each on standard output
/// once the store reported that it is safe.
fn write_rounds(dir: &Path, count: u32) {
    let store = Store::open(dir).unwrap();
    let run = match store.runs().unwrap().pop() {
        Some(run) => run.id,
        None => {
            let point = PointRow { part: "radio".into(), factors: BTreeMap::new() };
            store.begin_run(&NewRun { experiment: "kill".into(), points: vec![point], ..NewRun::default() }).unwrap()
        }
    };
    let _lock = store.lock_run(&run).unwrap();
    let first = store.run(&run).unwrap().rounds;
    for block in first..first.saturating_add(count) {
        store.finish_round(&run, &round(block)).unwrap();
        // Not println: the test harness captures that.
        stdout().write_all(format!("finished {block}\n").as_bytes()).unwrap();
    }
}

/// In a victim this writes until it is killed; in the suite it writes five rounds and checks them itself.
#[test]
fn a_writer_writes_rounds_one_after_another() {
    if let Ok(dir) = env::var(VICTIM) {
        write_rounds(Path::new(&dir), u32::MAX);
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    write_rounds(dir.path(), 2);
    write_rounds(dir.path(), 3);
    assert_eq!(whole_rounds(dir.path()), 5);
}

#[derive(Clone, Copy, Debug)]
enum Kill {
    /// So long after its start: it opens or makes the store, or has not come so far.
    AfterStart(Duration),
    /// So long after it wrote its first round: somewhere in those that follow.
    AfterRound(Duration),
}

/// Kills one, and returns the last round that it reported as finished.
fn kill(dir: &Path, kill: Kill) -> Option<u32> {
    let mut victim = Command::new(env::current_exe().unwrap())
        .args(["--exact", "store_kill::a_writer_writes_rounds_one_after_another", "--nocapture"])
        .env(VICTIM, dir)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(victim.stdout.take().unwrap());
    let finished = |line: String| line.strip_prefix("finished ")?.parse::<u32>().ok();
    let mut rounds = output.lines().map_while(Result::ok).filter_map(finished);
    let (first, after) = match kill {
        Kill::AfterStart(after) => (None, after),
        Kill::AfterRound(after) => (Some(rounds.next().expect("a victim writes")), after),
    };
    thread::sleep(after);
    victim.kill().unwrap();
    victim.wait().unwrap();
    rounds.last().or(first)
}

#[test]
fn killing_the_writer_at_any_time_loses_no_finished_round() {
    let dir = tempfile::tempdir().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(20_261_121);
    let mut after = |longest_us| Duration::from_micros(random.random_range(0..longest_us));
    let early: Vec<Kill> = (0..4).map(|_| Kill::AfterStart(after(20_000))).collect();
    let late: Vec<Kill> = (0..12).map(|_| Kill::AfterRound(after(15_000))).collect();
    let mut finished = 0;
    for when in early.into_iter().chain(late) {
        finished = kill(dir.path(), when).map_or(finished, |block| block + 1);
        let there = whole_rounds(dir.path());
        assert!(there >= finished, "{when:?}: {finished} rounds were reported as finished, {there} are there");
        assert!(there <= finished + 1, "{when:?}: at most the one being reported may be ahead");
        finished = there;
    }
    assert!(finished >= 12, "each of the late ones wrote");
}

/// Rounds in the store, after checking that each is whole and that none is missing.
fn whole_rounds(dir: &Path) -> u32 {
    let store = Store::open(dir).unwrap();
    let Some(run) = store.runs().unwrap().pop() else { return 0 };
    let rounds = store.rounds(&run.id).unwrap();
    for (block, there) in (0..).zip(&rounds) {
        assert_eq!(there.block, block);
        assert_eq!(there.record, round(block).record);
    }
    rounds.len() as u32
}
