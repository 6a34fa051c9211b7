//! A machine that stands still as a whole: a guest whose processors are stopped from outside for known times. By the counters
//! of its own kernel these stops are the machine's.

#![cfg(feature = "full")]

use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_host::Host;
use takt_host::affinity::{own_cpus, pin_self};
use takt_host::core_stop::{Cause, Counters, Delay, Reader, judge};
use takt_host::policy::{Policy, set_policy};
use takt_host::thread_clock::ThreadClock;
use takt_testing::repeated;

use crate::guest::{only_in_a_guest, typed, with_this_binary};

/// Far longer than what a guest in software, or a busy machine below it, makes a thread late by.
const STOP: Duration = Duration::from_millis(300);
const STOPS: u32 = 6;
/// A thread this late was stopped.
const LATE_NS: u64 = 150_000_000;

#[test]
fn stops_of_a_whole_guest_are_the_machines() {
    let Some(said) = output_of_a_stopped_guest() else { return };
    if said.contains("1 passed") {
        return;
    }
    // An emulated guest's clocks stop with it now and then, so that a stop looks like its own; not twice in a row.
    let Some(again) = output_of_a_stopped_guest() else { return };
    assert!(again.contains("1 passed"), "{said}\n{again}");
    repeated("the second guest that was stopped");
}

/// Output of the test inside a guest that is stopped again and again; `None`, on record, where there can be no guest.
fn output_of_a_stopped_guest() -> Option<String> {
    let (guest, name) = with_this_binary(2)?;
    let process = Pid::from_raw(i32::try_from(guest.agent.pid()).expect("a process")).expect("not 0");
    let over = Stop::new();
    let said = thread::scope(|scope| {
        let stopper = scope.spawn(|| {
            // Stops before the guest looks are of no account: it counts those that it sees.
            while !over.requested() {
                thread::sleep(2 * STOP);
                kill_process(process, Signal::STOP).expect("ours");
                thread::sleep(STOP);
                kill_process(process, Signal::CONT).expect("ours");
            }
        });
        let test = "stopped_guest::inside_stops_are_seen";
        let said = typed(&guest, &format!("TAKT_TEST_IN_GUEST=1 {name} --exact {test} --ignored --nocapture"));
        over.request();
        stopper.join().expect("it only sends signals");
        said
    });
    Some(said)
}

/// A thread of one core that woke late.
struct Late {
    core: usize,
    due: MonoNs,
    woke: MonoNs,
    queued_ns: Option<u64>,
}

/// Beats on its core, above all other threads, and reports late ones.
fn watch(core: usize, late: &Sender<Late>, over: &Stop) {
    const BEAT: Duration = Duration::from_millis(2);
    pin_self(&[core]).expect("a core of the guest");
    set_policy(0, Policy::Fifo { priority: 99 }).expect("root");
    let clock = ThreadClock::of_this_thread();
    let mut before = clock.now();
    while !over.requested() {
        let due = WallClock.now() + BEAT;
        thread::sleep(BEAT);
        let (woke, now) = (WallClock.now(), clock.now());
        let since = now.since(&std::mem::replace(&mut before, now));
        if woke.0.saturating_sub(due.0) > LATE_NS {
            let _ = late.send(Late { core, due, woke, queued_ns: since.queued_ns });
        }
    }
}

/// For how much of it every core was late at once.
fn all_cores_ns(one: &Late, all: &[Late]) -> u64 {
    let other = all.iter().filter(|other| other.core != one.core);
    let common = other.map(|other| other.woke.0.min(one.woke.0).saturating_sub(other.due.0.max(one.due.0)));
    common.max().unwrap_or(0)
}

#[test]
#[ignore = "is called in a guest"]
fn inside_stops_are_seen() {
    only_in_a_guest();
    let (cores, reader, over) = (own_cpus(), Reader::of(Host::this()), Stop::new());
    assert_eq!(cores.len(), 2);
    let (sender, reports) = channel();
    let mut readings: Vec<Counters> = Vec::new();
    let mut all: Vec<Late> = Vec::new();
    thread::scope(|scope| {
        for &core in &cores {
            let (sender, over) = (sender.clone(), &over);
            scope.spawn(move || watch(core, &sender, over));
        }
        let begun = Instant::now();
        // Ends by what came; the time is for a guest that nobody stops.
        while all.len() < 2 * STOPS as usize && begun.elapsed() < Duration::from_secs(60) {
            readings.push(reader.read().expect("/proc/stat"));
            thread::sleep(Duration::from_millis(20));
            all.extend(reports.try_iter());
        }
        over.request();
    });
    readings.push(reader.read().expect("/proc/stat"));
    let judged = |one: &Late| {
        let before = readings.iter().rev().find(|reading| reading.at <= one.due)?;
        let after = readings.iter().find(|reading| reading.at >= one.woke)?;
        let late_ns = one.woke.0 - one.due.0;
        let delay = Delay { late_ns, queued_ns: one.queued_ns, all_cores_ns: Some(all_cores_ns(one, &all)) };
        Some(judge(&delay, after.at.0 - before.at.0, before.cores.get(&one.core)?, after.cores.get(&one.core)?))
    };
    let judgements: Vec<_> = all.iter().filter_map(judged).collect();
    let machines = judgements.iter().filter(|judgement| judgement.cause == Cause::Machine).count();
    let stopped_ns: u64 = all.iter().map(|one| one.woke.0 - one.due.0).sum();
    let machine_ns: u64 = judgements.iter().map(|judgement| judgement.machine_ns).sum();
    assert!(all.len() >= STOPS as usize, "nobody stopped this guest");
    assert!(machines * 4 >= all.len() * 3 && machine_ns * 4 >= stopped_ns * 3, "of {stopped_ns} ns: {judgements:?}");
}
