//! A waveform that can't be run is refused before anything runs, with what would be right.

mod common;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::steps::Steps;
use common::{assign, check, registry, registry_with, spec, waveform};
use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_graph::{Catalogue, Graph, Kind, Latency, Shape};
use takt_runtime::{
    Component, Edges, Granted, Io, MakeError, OpenError, Prepared, Registration, Report, Session, SessionOptions,
    SlotClock, StartError, Wish,
};

fn chain(items: u32) -> Graph {
    let source = spec("a", "source").param("items", items);
    check(&common::chain(waveform(), [source, spec("z", "sink")]))
}

fn run(options: SessionOptions) -> Result<Report, StartError> {
    open(&chain(8), options).expect("opened").run(&Stop::new())
}

fn open(graph: &Graph, options: SessionOptions) -> Result<Session, OpenError> {
    Session::open(graph, &assign(graph, &[0, 1], Latency::Fixed), &registry(), options)
}

#[test]
fn links_that_take_too_much_memory_are_refused() {
    let options = SessionOptions { memory_max_bytes: 1 << 20, ..SessionOptions::default() };
    let refused = open(&chain(1 << 20), options).err().expect("refused");
    assert!(matches!(refused, OpenError::Memory { needed_bytes: 4_000_000.., allowed_bytes: 1_048_576 }), "{refused}");
}

#[test]
fn more_watching_workers_than_cores_are_refused() {
    let options =
        SessionOptions { clock: SlotClock::Wall, cores: vec![0], slots: Some(1), ..SessionOptions::default() };
    let refused = run(options).expect_err("refused");
    assert!(matches!(refused, StartError::Cores { workers: 2, cores: 1 }));
}

#[test]
fn a_core_that_does_not_exist_is_refused_with_the_cause() {
    let options = SessionOptions { cores: vec![0, 4000], slots: Some(1), ..SessionOptions::default() };
    let refused = run(options).expect_err("refused");
    assert_eq!(refused.to_string(), "takt can't put worker 1 on core 4000");
    assert!(refused.source().is_some_and(|cause| !cause.to_string().contains("worker")));
}

#[test]
fn a_priority_is_given_or_refused_with_the_cause() {
    let options = SessionOptions { fifo_priority: Some(1), slots: Some(3), ..SessionOptions::default() };
    match run(options) {
        Ok(report) => assert_eq!(report.slots, 3),
        Err(refused) => {
            assert!(matches!(refused, StartError::Priority { .. }));
            assert!(refused.source().is_some());
        }
    }
}

/// Effects on a process without capabilities. A privileged one runs the test again without them.
#[test]
fn without_the_right_to_lock_memory_or_to_have_a_priority_a_run_is_refused_or_goes_on_as_requested() {
    use takt_host::capability::{self, CapabilitySet};
    if capability::own().intersects(CapabilitySet::IPC_LOCK | CapabilitySet::SYS_NICE) {
        let again = std::process::Command::new("setpriv")
            .args(["--bounding-set=-ipc_lock,-sys_nice", "--inh-caps=-ipc_lock,-sys_nice", "prlimit"])
            .args(["--memlock=65536:65536", "--rtprio=0:0"])
            .arg(std::env::current_exe().expect("this binary"))
            .args([
                "--exact",
                "without_the_right_to_lock_memory_or_to_have_a_priority_a_run_is_refused_or_goes_on_as_requested",
            ])
            .output()
            .expect("setpriv and prlimit are in util-linux");
        let output = String::from_utf8_lossy(&again.stdout);
        assert!(again.status.success() && output.contains("1 passed"), "{output}");
        return;
    }
    let run = |lock_memory, priority| {
        let options = SessionOptions {
            lock_memory,
            priority,
            fifo_priority: Some(1),
            slots: Some(3),
            ..SessionOptions::default()
        };
        run(options)
    };
    let refused = run(Wish::Require, Wish::No).expect_err("refused");
    assert_eq!(refused.to_string(), "takt can't lock the memory of this process");
    let cause = refused.source().expect("a cause").to_string();
    assert!(cause.contains("CAP_IPC_LOCK") && cause.contains("65536 bytes"), "{cause}");
    assert!(refused.fix().contains("memlock unlimited"), "{}", refused.fix());
    assert!(matches!(run(Wish::No, Wish::Require), Err(StartError::Priority { .. })));
    let granted = run(Wish::Try, Wish::Try).expect("goes on").granted;
    assert!(!granted.memory_locked && granted.fifo_priority.is_none(), "{granted:?}");
    assert!(granted.memory_refused.is_some() && granted.priority_refused.is_some(), "{granted:?}");
    assert_eq!(run(Wish::No, Wish::No).expect("nothing asked for").granted, Granted::default());
}

#[test]
fn what_the_host_grants_is_in_the_report() {
    let options = SessionOptions { lock_memory: Wish::Try, slots: Some(3), ..SessionOptions::default() };
    let granted = run(options).expect("ran").granted;
    let locked = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let locked = locked.lines().find_map(|line| line.strip_prefix("VmLck:")).expect("there").trim() != "0 kB";
    assert_eq!((granted.memory_locked, granted.memory_refused.is_some()), (locked, !locked));
    takt_host::memory::unlock_all().expect("always");
}

/// Refuses what leads to it, or its parameters.
struct Fussy;

impl Component for Fussy {
    fn tick(&mut self, _: &mut Io<'_>) {}
    fn prepare(&mut self, ports: &Prepared<'_>) -> Result<(), String> {
        if ports.input_items == [16] { Ok(()) } else { Err(format!("it wants 16 items, not {:?}", ports.input_items)) }
    }
}

#[test]
fn a_component_may_refuse_what_leads_to_it() {
    let registration = Registration {
        kind: || Kind::new("fussy", "Wants 16."),
        shape: |_| Ok(Shape::new().input("in", takt_graph::Item::Byte)),
        make: |_| Ok(Box::new(Fussy)),
    };
    let mut registry = registry_with(registration);
    assert_eq!(registry.add(registration).expect_err("taken").to_string(), "two component types are called `fussy`");
    let opened = |items: u32| {
        let source = spec("a", "source").param("items", items);
        let made = waveform().with(source).with(spec("z", "fussy")).chain(["a", "z"]);
        let graph = Graph::check(&made, &registry).expect("checked");
        Session::open(&graph, &assign(&graph, &[0, 0], Latency::Fixed), &registry, SessionOptions::default())
    };
    assert!(opened(16).is_ok());
    let refused = opened(17).err().expect("refused");
    assert_eq!(refused.to_string(), "takt can't make component `z`");
    assert_eq!(refused.source().map(ToString::to_string).as_deref(), Some("it wants 16 items, not [17]"));
    let unknown: Result<_, MakeError> = common::registry().make("fussy", &takt_graph::Params::new());
    assert!(unknown.is_err() && registry.kind("fussy").is_some());
}

/// A clock that is not the host's: a little slow, as a radio's may be.
struct RadioClock {
    start: MonoNs,
    latest: AtomicU64,
}

impl Edges for RadioClock {
    fn due(&self, slot: u64) -> MonoNs {
        self.latest.fetch_max(slot, Ordering::Relaxed);
        MonoNs(self.start.0 + slot * 200_010)
    }
    fn slot_at(&self, now: MonoNs) -> u64 {
        now.0.saturating_sub(self.start.0) / 200_010
    }
}

#[test]
fn slots_follow_a_clock_that_is_not_the_hosts() {
    let radio = Arc::new(RadioClock { start: WallClock.now(), latest: AtomicU64::new(0) });
    fifty_slots(SlotClock::Edges(radio.clone()));
    assert!(radio.slot_at(WallClock.now()) >= 50, "no slot begins before its edge");
    assert!(radio.latest.load(Ordering::Relaxed) >= 50);
}

/// Each worker's slots begin at the edges; how late they were is in the report, and how long all took.
#[test]
fn the_wall_clock_counts_every_slot_and_how_late_it_began() {
    let report = fifty_slots(SlotClock::Wall);
    assert!(report.lateness.is_some());
    for component in &report.components {
        assert_eq!(component.executions + component.missed, 50, "executed or counted as missed: {}", component.name);
    }
}

#[test]
fn a_report_has_all_of_a_run_that_missed_nothing() {
    let report = fifty_slots(Steps::of(1).clock());
    assert!(report.components.iter().all(|component| (component.executions, component.missed) == (50, 0)));
    let json = serde_json::to_value(&report).expect("a document");
    for key in ["slots", "misses", "components", "lateness", "output_hash"] {
        assert!(!json[key].is_null(), "{key}");
    }
    assert!(json["components"][0]["execution"]["p99_ns"].is_u64());
}

fn fifty_slots(clock: SlotClock) -> Report {
    let options = SessionOptions { clock, slots: Some(50), ..SessionOptions::default() };
    let graph = chain(8);
    let plan = assign(&graph, &[0, 0], Latency::Fixed);
    let report = Session::open(&graph, &plan, &registry(), options).expect("opened").run(&Stop::new()).expect("ran");
    assert_eq!(report.slots, 50);
    report
}
