//! The TD-SCDMA exchange against a software radio on loopback. Nothing here asserts how quick anything is: this machine
//! may be too slow for every answer, and the accounts must still be right.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketType, bind, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use takt_base::Stop;
use takt_emulator::emulate::{Emulator, EmulatorOptions};
use takt_host::affinity::{own_cpus, pin_self};
use takt_host::policy::{Policy, set_policy};
use takt_host::timer::Method;
use takt_load::deadline::{
    Apart, DeadlineOptions, DeadlineOutcome, Handover, JudgedBy, STAGES, Wake, run, write_downlink,
};
use takt_testing::{loopback, not_judged, skip};

/// A round of `options` with a radio of its own at `addr`, its parts as threads.
fn round(addr: Ipv4Addr, options: DeadlineOptions) -> DeadlineOutcome {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("downlink.sc16");
    write_downlink(&file, options.codes, options.seed).unwrap();
    let sources = vec![format!("file:path={},format=sc16,loop,raw", file.display())];
    let radio = Emulator::start(&EmulatorOptions { addrs: vec![addr], sources, ..EmulatorOptions::default() }).unwrap();
    let options = DeadlineOptions { addr: addr.into(), apart: Apart::Threads, ..options };
    let outcome = run(&options, &Stop::new()).unwrap();
    radio.stop().unwrap();
    outcome
}

fn short() -> DeadlineOptions {
    DeadlineOptions {
        duration: Duration::from_millis(300),
        warm_up: Duration::from_millis(50),
        codes: 2,
        ..DeadlineOptions::default()
    }
}

fn adds_up(outcome: &DeadlineOutcome) {
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
    let slots = DeadlineOptions { handover: Handover::Slot, codes: 16, ..short() };
    let outcome = round(loopback(4), slots);
    assert!(outcome.complete && outcome.answers > 0);
    adds_up(&outcome);
}

#[test]
fn an_interface_that_sleeps_to_ticks_of_128_hz_can_not_answer_most_in_time() {
    let ticks = DeadlineOptions { wake: Wake::Timer(Method::Nanosleep), tick_hz: 128, ..short() };
    let outcome = round(loopback(2), ticks);
    adds_up(&outcome);
    // A tick every 7.8 ms, a subframe every 5: more than half of them end more than 0.75 ms before the next tick.
    // However many of them had to be excluded.
    assert!(outcome.failures * 2 > outcome.subframes, "{} of {}", outcome.failures, outcome.subframes);
}

/// A round in which no trace is to be had: the thread that runs it may not mount one. `None`: it had no right to begin with.
fn untraced_round(addr: Ipv4Addr, options: DeadlineOptions) -> Option<DeadlineOutcome> {
    let body = move || {
        let mut sets = capabilities(None).ok()?;
        sets.effective.remove(CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets).ok()?;
        Some(round(addr, options))
    };
    thread::spawn(body).join().unwrap()
}

/// Threads of this host that keep a core busy until they end.
struct Work {
    over: Stop,
    threads: Vec<thread::JoinHandle<Result<(), String>>>,
}

impl Work {
    fn none() -> Work {
        Work { over: Stop::new(), threads: Vec::new() }
    }

    /// Works for so long, and rests, again and again; at this priority, or an ordinary one.
    fn and(mut self, cpu: usize, priority: Option<u8>, busy_ms: u64, rest_ms: u64) -> Work {
        let over = self.over.clone();
        let body = move || {
            pin_self(&[cpu]).map_err(|error| error.to_string())?;
            if let Some(priority) = priority {
                set_policy(0, Policy::Fifo { priority }).map_err(|error| error.to_string())?;
            }
            while !over.requested() {
                let until = Instant::now() + Duration::from_millis(busy_ms);
                while Instant::now() < until && !over.requested() {}
                thread::sleep(Duration::from_millis(rest_ms));
            }
            Ok(())
        };
        self.threads.push(thread::spawn(body));
        self
    }

    /// At the priority of the thread that looks, for 2 of every 5 ms.
    fn hog(cpu: usize) -> Work {
        Work::none().and(cpu, Some(99), 2, 3)
    }

    /// Below the thread that looks, but for the whole of a core on which an ordinary thread wants to run as well: what the kernel's
    /// fair server (Linux 6.12) gives that is taken from all of FIFO.
    fn starving(cpu: usize) -> Work {
        Work::none().and(cpu, None, 1000, 0).and(cpu, Some(90), 2500, 500)
    }

    /// Broadcasts over loopback: each is handed to thousands of sockets in one soft interrupt on the core of who sends it.
    fn storm(cpu: usize) -> io::Result<Work> {
        const SOCKETS: usize = 6000;
        let limit = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit })?;
        let to = SocketAddrV4::new(Ipv4Addr::new(127, 255, 255, 255), 0);
        let first = listening(to)?;
        let to = SocketAddrV4::new(*to.ip(), first.local_addr()?.port());
        let mut sockets = vec![first];
        for _ in 1..SOCKETS {
            sockets.push(listening(to)?);
        }
        let mut work = Work::none();
        let over = work.over.clone();
        let body = move || {
            pin_self(&[cpu]).map_err(|error| error.to_string())?;
            let sender = UdpSocket::bind("127.0.0.1:0").map_err(|error| error.to_string())?;
            sender.set_broadcast(true).map_err(|error| error.to_string())?;
            while !over.requested() {
                // Full buffers refuse nothing to who sends.
                let _ = sender.send_to(&[0; 64], to);
            }
            drop(sockets);
            Ok(())
        };
        work.threads.push(thread::spawn(body));
        Ok(work)
    }

    fn end(self) -> Result<(), String> {
        self.over.request();
        self.threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    }
}

/// One of many sockets at a broadcast address.
fn listening(at: SocketAddrV4) -> io::Result<UdpSocket> {
    let socket = socket(AddressFamily::INET, SocketType::DGRAM, None)?;
    set_socket_reuseaddr(&socket, true)?;
    bind(&socket, &at)?;
    Ok(socket.into())
}

/// This host's work on one of its cores must not be taken for a stop of the machine, by the trace or by the counters.
///
/// Interrupts that are held off are not among it. Without a module a program can make a kernel do that for this long only by
/// having it print: each line to a serial console is written with interrupts off. That would fill the console of whoever
/// runs the tests, and real ports take 90 us a letter, so that one line may cost the machine a network card's ring. The
/// judges' own tests cover that. By the counters one core whose timer came late proves nothing. By the trace the thread
/// that held them off had the core and executed for all of it.
fn is_not_excluded(host: u8, work: impl Fn(usize) -> io::Result<Work>, seconds: u64, at_least: u64) {
    let cpu = own_cpus()[0];
    let options = || DeadlineOptions { host_cpus: vec![cpu], duration: Duration::from_secs(seconds), ..short() };
    for judged_by in [JudgedBy::Trace, JudgedBy::Counters] {
        let working = match work(cpu) {
            Ok(working) => working,
            Err(error) => return skip(format!("the work that holds the core up: {error}")),
        };
        let outcome = match judged_by {
            JudgedBy::Trace => Some(round(loopback(host), options())),
            JudgedBy::Counters => untraced_round(loopback(host), options()),
        };
        let ended = working.end();
        let (Ok(()), Some(outcome)) = (&ended, outcome) else {
            return skip(format!("no right to hold a core up: {ended:?}   (run the tests as root)"));
        };
        let excluded = &outcome.excluded;
        if let Some(why) = &excluded.unwatched {
            return skip(format!("{why}   (root in a virtual machine)"));
        }
        if excluded.judged_by != Some(judged_by) {
            skip(format!("no {judged_by:?} here, but {:?}   (run the tests as root)", excluded.judged_by));
            continue;
        }
        // A thread that holds the core up may also keep the trace's reader from it for so long that the trace ends
        // before.
        assert!(excluded.held_by_host + excluded.unexplained > at_least, "{excluded:?}");
        if excluded.stalled > (excluded.held_by_host + excluded.unexplained) / 10 {
            assert!(excluded.steal_ns > 0 || excluded.halted > 0, "{excluded:?}");
            not_judged(format!("the machine below was busy as well: {excluded:?}"));
        }
    }
}

#[test]
fn a_thread_of_the_highest_priority_is_no_stop_of_the_machine() {
    // 200 subframes, each with three looks in 0.5 of 5 ms: one in two meets the hog.
    is_not_excluded(5, |cpu| Ok(Work::hog(cpu)), 1, 20);
}

#[test]
fn soft_interrupts_without_end_are_no_stop_of_the_machine() {
    is_not_excluded(6, Work::storm, 1, 20);
}

#[test]
fn the_fair_server_is_no_stop_of_the_machine() {
    let release = takt_host::Host::this().read_opt("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version: Vec<u32> = release.split(['.', '-']).take(2).filter_map(|number| number.parse().ok()).collect();
    if version < vec![6, 12] {
        return skip(format!("Linux {release} has no fair server   (6.12 or later)"));
    }
    // 50 ms in each second in which the ordinary thread got nothing else.
    is_not_excluded(7, |cpu| Ok(Work::starving(cpu)), 5, 5);
}

#[test]
fn a_round_that_is_stopped_ends_and_says_so() {
    let stop = Stop::new();
    let addr = loopback(3);
    let radio = Emulator::start(&EmulatorOptions { addrs: vec![addr], ..EmulatorOptions::default() }).unwrap();
    let options =
        DeadlineOptions { addr: addr.into(), apart: Apart::Threads, duration: Duration::from_secs(3600), ..short() };
    stop.request();
    let outcome = run(&options, &stop).unwrap();
    assert!(!outcome.complete && outcome.missed > 0);
    radio.stop().unwrap();
}
