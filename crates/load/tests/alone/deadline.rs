//! The TD-SCDMA exchange against a software radio on loopback. Nothing here asserts how quick anything is: this machine
//! may be too slow for every answer, and the accounts must still be right.

use std::net::Ipv4Addr;
use std::thread;
use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_emulator::emulate::{Emulator, Options as Radio};
use takt_host::affinity::{own_cpus, pin_self};
use takt_host::policy::{Policy, set_policy};
use takt_host::timer::Method;
use takt_load::deadline::{Apart, Handover, Options, Outcome, STAGES, Wake, run, write_downlink};
use takt_testing::{loopback, not_judged, skip};

/// A round of `options` with a radio of its own at `addr`, its parts as threads.
fn round(addr: Ipv4Addr, options: Options) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("downlink.sc16");
    write_downlink(&file, options.codes, options.seed).unwrap();
    let sources = vec![format!("file:path={},format=sc16,loop,raw", file.display())];
    let radio = Emulator::start(&Radio { addrs: vec![addr], sources, ..Radio::default() }).unwrap();
    let options = Options { addr: addr.into(), apart: Apart::Threads, ..options };
    let outcome = run(&options, &Stop::new()).unwrap();
    radio.stop().unwrap();
    outcome
}

fn short() -> Options {
    Options { duration: Duration::from_millis(300), warm_up: Duration::from_millis(50), codes: 2, ..Options::default() }
}

fn adds_up(outcome: &Outcome) {
    assert_eq!(outcome.subframes, 60);
    let (excluded, own) = (&outcome.excluded, &outcome.own);
    assert_eq!(
        (excluded.subframes + own.subframes, excluded.failures + own.failures),
        (outcome.subframes, outcome.failures)
    );
    assert!(
        excluded.subframes <= excluded.radio_late + excluded.stalled + excluded.halted + excluded.after,
        "{excluded:?}"
    );
    assert_eq!(outcome.answers + outcome.missed, outcome.subframes, "each is answered or missed");
    assert_eq!(outcome.failures, outcome.late + outcome.missed);
    assert_eq!(outcome.total_ns.len(), outcome.answers);
    assert_eq!(outcome.budget.unexplained_ns, 0, "stages are all there is");
    assert_eq!(outcome.budget.stages.len(), STAGES.len());
    assert!(outcome.budget.stages.values().all(|stage| stage.len() == outcome.answers));
    for answer in &outcome.worst {
        assert_eq!(answer.stages_ns.values().sum::<i64>(), answer.total_ns);
    }
    let radio = &outcome.radio;
    assert_eq!(radio.late + radio.on_time + radio.unknown, outcome.answers, "the radio says one thing of each");
    assert_eq!(radio.late, radio.late_by_both + radio.late_by_radio_alone);
    assert!(radio.late_by_both + radio.late_by_host_alone <= outcome.late);
    assert_eq!(outcome.undetected, 0);
    assert_eq!(outcome.decoded, outcome.answers, "no noise, no error");
}

#[test]
fn every_subframe_is_accounted_for_and_every_block_decoded() {
    let outcome = round(loopback(1), short());
    assert!(outcome.complete && outcome.answers > 0);
    adds_up(&outcome);
}

#[test]
fn slot_by_slot_every_block_is_decoded_just_the_same() {
    let slots = Options { handover: Handover::Slot, codes: 16, ..short() };
    let outcome = round(loopback(4), slots);
    assert!(outcome.complete && outcome.answers > 0);
    adds_up(&outcome);
}

#[test]
fn an_interface_that_sleeps_to_ticks_of_128_hz_can_not_answer_most_in_time() {
    let ticks = Options { wake: Wake::Timer(Method::Nanosleep), tick_hz: 128, ..short() };
    let outcome = round(loopback(2), ticks);
    adds_up(&outcome);
    // A tick every 7.8 ms, a subframe every 5: more than half of them end more than 0.75 ms before the next tick.
    // However many of them had to be excluded.
    assert!(outcome.failures * 2 > outcome.subframes, "{} of {}", outcome.failures, outcome.subframes);
}

/// A thread of this host that takes its core for 2 of every 5 ms, at the priority of the thread that looks.
struct Hog {
    over: Stop,
    thread: thread::JoinHandle<Result<(), String>>,
}

impl Hog {
    fn on(cpu: usize) -> Hog {
        let over = Stop::new();
        let flag = over.clone();
        let body = move || {
            pin_self(&[cpu]).map_err(|error| error.to_string())?;
            set_policy(0, Policy::Fifo { priority: 99 }).map_err(|error| error.to_string())?;
            while !flag.requested() {
                let until = Instant::now() + Duration::from_millis(2);
                while Instant::now() < until {}
                thread::sleep(Duration::from_millis(3));
            }
            Ok(())
        };
        Hog { over, thread: thread::spawn(body) }
    }

    fn end(self) -> Result<(), String> {
        self.over.request();
        self.thread.join().unwrap()
    }
}

/// The kernel's trace is the judge: a thread of this host that holds a core up is no stop of the machine.
#[test]
fn what_this_host_does_to_its_own_core_is_not_excluded() {
    let cpu = own_cpus()[0];
    let hog = Hog::on(cpu);
    let outcome = round(loopback(5), Options { host_cpus: vec![cpu], duration: Duration::from_secs(1), ..short() });
    if let Err(why) = hog.end() {
        return skip(format!("{why}   (run the tests as root)"));
    }
    let excluded = &outcome.excluded;
    if let Some(why) = &excluded.unwatched {
        return skip(format!("{why}   (root in a virtual machine)"));
    }
    // 200 subframes, each with three looks in 0.5 of 5 ms: one in two meets the hog.
    assert!(excluded.held_by_host > 20, "{excluded:?}");
    if excluded.stalled + excluded.unexplained > excluded.held_by_host / 10 {
        assert!(excluded.steal_ns > 0 || excluded.unexplained > 0, "{excluded:?}");
        not_judged(format!("the machine below was busy as well: {excluded:?}"));
    }
}

#[test]
fn a_round_that_is_stopped_ends_and_says_so() {
    let stop = Stop::new();
    let addr = loopback(3);
    let radio = Emulator::start(&Radio { addrs: vec![addr], ..Radio::default() }).unwrap();
    let options = Options { addr: addr.into(), apart: Apart::Threads, duration: Duration::from_secs(3600), ..short() };
    stop.request();
    let outcome = run(&options, &stop).unwrap();
    assert!(!outcome.complete && outcome.missed > 0);
    radio.stop().unwrap();
}
