//! What a reader sees, letter for letter.

use std::time::Duration;

use takt_base::{Clock, MonoNs, VirtualClock};
use takt_stats::Histogram;

use super::Options;
use super::account::Account;
use super::outcome::{Outcome, Quantiles, Thread};

const MS: u64 = 1_000_000;

/// A thread on a virtual clock: 13 µs late as a rule, 40 µs every 50th time, and once asleep over three ticks.
fn thread(cpu: usize, slept_over: bool) -> Thread {
    let clock = VirtualClock::starting_at(MonoNs(0));
    let mut account = Account::new(MonoNs(0), MS, 0, 1000, None);
    let mut ticks = 0u64;
    while let Some(due) = account.due() {
        let late_ns = match ticks {
            500 if slept_over => 3_200_000,
            n if n % 50 == 49 => 40_000,
            n => 13_000 + n % 7 * 100,
        };
        clock.advance_to(MonoNs(due.0 + late_ns));
        account.woken(clock.now());
        ticks += 1;
    }
    Thread {
        cpu: Some(cpu),
        waited_for_cpu_ns: Some(if slept_over { 3_150_000 } else { 0 }),
        stolen_ns: Some(if slept_over { 10 * MS } else { 0 }),
        ..Thread::counted(&account)
    }
}

fn outcome(limit: Option<Duration>) -> Outcome {
    let threads = vec![thread(2, false), thread(3, true)];
    let mut lateness_ns = Histogram::default();
    threads.iter().for_each(|thread| lateness_ns.merge(&thread.lateness_ns).unwrap());
    let above = limit.map(|limit| lateness_ns.count_above(limit.as_nanos() as u64));
    Outcome {
        options: Options {
            duration: Duration::from_secs(1),
            policy: "fifo:80".parse().unwrap(),
            cores: vec![2, 3],
            load: 8,
            limit,
            ..Options::default()
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
        ..Outcome::default()
    }
}

#[test]
fn the_table_the_notes_and_the_verdict() {
    let expected = "\
FIFO 80 · nanosleep · every 1000 µs · 8 busy loops · 1.0 s
  CPU      ticks   unsampled      min      p50      p99    p99.9        max µs   waited ms   stolen ms
  2         1000           0     13.0     13.3     40.0     40.0          40.0         0.0         0.0
  3         1000           3     13.0     13.3     40.0   2201.6        3200.0         3.1        10.0
  all       2000           3     13.0     13.3     40.0   1200.1        3200.0
  note     3 ticks were slept over, up to 3 in a row; they are in all figures
  note     the hypervisor took 10 ms of these CPUs; no setting of this machine mends that
  note     the busy loops had 1.92 CPUs
  note     memory is not locked
No: 4 of 2000 ticks were later than 100 µs; the latest was 3200.0 µs late.";
    let text = outcome(Some(Duration::from_micros(100))).to_text();
    assert!(text == expected, "{text}");
}

#[test]
fn the_last_line_answers_only_what_was_asked() {
    let last = |outcome: &Outcome| outcome.to_text().lines().last().unwrap().to_owned();
    assert_eq!(last(&outcome(None)), "No limit was given (--limit 100us), so there is no verdict.");
    let yes = last(&outcome(Some(Duration::from_millis(5))));
    assert_eq!(yes, "Yes: none of 2000 ticks was later than 5000 µs; the latest was 3200.0 µs late.");
    let ended = Outcome { complete: false, ..outcome(None) };
    assert_eq!(last(&ended), "Ended after 2000 ticks, before its time.");
}

#[test]
fn a_histogram_has_a_line_for_each_step_that_was_seen() {
    let expected = "\
# from µs       CPU 2       CPU 3
       13         980         977
       40          20          19
      200           0           1
     1200           0           1
     2200           0           1
     3200           0           1";
    let text = outcome(None).histogram_text();
    assert!(text == expected, "{text}");
}

#[test]
fn the_document_survives_being_written_and_read() {
    let outcome = outcome(Some(Duration::from_millis(5)));
    let json = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(value["options"]["policy"], "fifo:80");
    assert_eq!(value["within_limit"], true);
}
