//! A reader's view, letter for letter.

use std::time::Duration;

use takt_stats::Histogram;

use crate::{Thread, WakeupOptions, WakeupOutcome};
use takt_stats::Quantiles;

use super::screen;
use takt_page::{Depth, TextStyle};

const MS: u64 = 1_000_000;

/// A thread that was 13 µs late as a rule, 40 µs every 50th time, and once asleep over three ticks.
fn thread(cpu: usize, slept_over: bool) -> Thread {
    let mut lateness_ns = Histogram::default();
    for tick in 0..1000 {
        // Counted by wake-ups.
        let woken = if slept_over && tick > 503 { tick - 3 } else { tick };
        lateness_ns.record_saturating(match woken {
            _ if slept_over && (500..504).contains(&tick) => 3_200_000 - (tick - 500) * MS,
            n if n % 50 == 49 => 40_000,
            n => 13_000 + n % 7 * 100,
        });
    }
    Thread {
        cpu: Some(cpu),
        ticks: lateness_ns.len(),
        unsampled: if slept_over { 3 } else { 0 },
        longest_gap_ticks: if slept_over { 3 } else { 0 },
        lateness: Quantiles::of(&lateness_ns),
        lateness_ns,
        waited_for_cpu_ns: Some(if slept_over { 3_150_000 } else { 0 }),
        stolen_ns: Some(if slept_over { 10 * MS } else { 0 }),
        ..Thread::default()
    }
}

fn outcome(limit: Option<Duration>) -> WakeupOutcome {
    let threads = vec![thread(2, false), thread(3, true)];
    let mut lateness_ns = Histogram::default();
    threads.iter().for_each(|thread| lateness_ns.merge(&thread.lateness_ns).unwrap());
    let above = limit.map(|limit| lateness_ns.count_above(limit.as_nanos() as u64));
    WakeupOutcome {
        options: WakeupOptions {
            duration: Duration::from_secs(1),
            policy: "fifo:80".parse().unwrap(),
            cores: vec![2, 3],
            load: 8,
            limit,
            ..WakeupOptions::default()
        },
        policy: "FIFO 80".to_owned(),
        ticks: lateness_ns.len(),
        unsampled: 3,
        lateness: Quantiles::of(&lateness_ns),
        lateness_ns,
        above_limit: above,
        within_limit: above.map(|above| above == 0),
        threads,
        stolen_ns: 10 * MS,
        load_cpu_ns: 2300 * MS,
        wall_ns: 1200 * MS,
        complete: true,
        notes: vec!["memory is not locked".to_owned()],
        ..WakeupOutcome::default()
    }
}

fn text(outcome: &WakeupOutcome, histogram: bool, depth: Depth) -> String {
    screen(outcome, histogram).to_text(&TextStyle { depth, ..TextStyle::default() })
}

#[test]
fn the_verdict_the_table_and_the_notes() {
    let expected = "\
No: 4 of 2000 ticks were later than 100 µs; the latest was 3.2 ms late.
FIFO 80 · nanosleep · every 1 ms · 8 busy loops · 1 s
  CPU  ticks  slept over    min      p50    p99   p99.9     max   waited  stolen
  2     1000           0  13 µs  13.3 µs  40 µs   40 µs   40 µs      0 s     0 s
  3     1000           3  13 µs  13.3 µs  40 µs  2.2 ms  3.2 ms  3.15 ms   10 ms
  all   2000           3  13 µs  13.3 µs  40 µs  1.2 ms  3.2 ms
3 ticks were slept over, up to 3 in a row; all figures include them.
The hypervisor took 10 ms from these cores; no setting of this machine fixes that.
The busy loops used 1.92 cores.
Memory is not locked.
";
    let text = text(&outcome(Some(Duration::from_micros(100))), false, Depth::Full);
    assert!(text == expected, "{text}");
}

#[test]
fn the_first_line_answers_only_what_was_requested() {
    let first = |outcome: &WakeupOutcome| text(outcome, false, Depth::Full).lines().next().unwrap().to_owned();
    let none = outcome(None);
    assert_eq!(first(&none), "Half of 2000 ticks were at most 13.3 µs late, 99.9 % at most 1.2 ms, the latest 3.2 ms.");
    assert!(text(&none, false, Depth::Full).contains("No verdict without a limit; to get one, give --limit 100us."));
    let yes = first(&outcome(Some(Duration::from_millis(5))));
    assert_eq!(yes, "Yes: none of 2000 ticks was later than 5 ms; the latest was 3.2 ms late.");
    let ended = WakeupOutcome { complete: false, ..outcome(None) };
    assert_eq!(first(&ended), "Stopped early, after 2000 ticks.");
}

#[test]
fn three_notes_are_shown_and_where_the_others_are() {
    let text = text(&outcome(None), false, Depth::Answer);
    assert!(text.ends_with("cores.\nMore: --explain\n"), "{text}");
}

#[test]
fn a_histogram_has_a_line_for_each_step_that_was_seen() {
    let expected = "\
  from µs  CPU 2  CPU 3
  13         980    977
  40          20     19
  200          0      1
  1200         0      1
  2200         0      1
  3200         0      1
";
    let text = text(&outcome(None), true, Depth::Answer);
    assert!(text.contains(expected), "{text}");
}

#[test]
fn the_document_survives_being_written_and_read() {
    let outcome = outcome(Some(Duration::from_millis(5)));
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<WakeupOutcome>(&json).unwrap(), outcome);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["options"]["policy"], "fifo:80");
    assert_eq!(value["within_limit"], true);
}
