//! When a core of the host side stood still: what is late then is not this host's doing.
//!
//! The kernel's account of stolen time comes in ticks of 10 ms, and many a hypervisor tells it nothing. So on each core a
//! thread that comes before every other wakes three times in the 0.75 ms in which an answer is made, and notes when it was
//! late. A stop of 0.4 ms or more hits one of them; a shorter one may go unseen, and counts as the host's doing. More
//! looks would spoil what they look at: each takes the core from the answer that it watches. So the threads that make
//! an answer also look at themselves: what passed while one of them worked, and neither it nor another thread ran on
//! its core, was the hypervisor's, however short ([`takt_host::thread_clock`]).
//!
//! Being late is no proof: soft interrupts, interrupts held off and the fair server (Linux 6.12) make such a thread late too.
//! So the kernel's trace decides whose doing it was ([`super::evidence`]); where no trace is to be had, its counters, and all cores
//! of the host are looked at ([`takt_host::core_watch`]).
//!
//! A host without a hypervisor has no such excuse, and is not watched; nor are processes under `SCHED_DEADLINE`, which come
//! before every other policy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_host::Host;
use takt_host::accounting::Snapshot;
use takt_host::affinity::pin_self;
use takt_host::core_stop::Cause;
use takt_host::core_watch::{CounterEvidence, Late, Queue, WATCHES};
use takt_host::fingerprint::Virtualisation;
use takt_host::policy::{Policy, set_policy};
use takt_host::thread_clock;
use takt_host::timer::{Timer, TimerError, TimerOptions};

use super::evidence::{Evidence, Explained};
use super::interface::Plan;

/// When the machine stopped the cores of the host side, as far as that was observed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Stalls {
    /// Subframes whose answer was due while the machine had stopped a core.
    pub(super) stalled: BTreeSet<u64>,
    pub(super) longest_ns: u64,
    pub(super) all_ns: u64,
    /// Subframes that this kernel delayed instead, as far as the trace says; they are the host's doing.
    pub(super) held_by_host: BTreeSet<u64>,
    /// Subframes of which neither trace nor counters say what delayed them; they count as the host's doing.
    pub(super) unexplained: BTreeSet<u64>,
    /// Late looks by what the counters say of them.
    pub(super) causes: BTreeMap<Cause, u64>,
    pub(super) judged_by: Option<JudgedBy>,
    /// By the kernel's account, of all these cores.
    pub(super) steal_ns: u64,
    pub(super) unwatched: Option<String>,
    /// Why a thread's own clock says nothing of stops, if it says nothing.
    pub(super) unclocked: Option<String>,
}

/// Judge of who stopped a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JudgedBy {
    Trace,
    Counters,
}

enum Judge {
    Trace(Evidence),
    Counters(CounterEvidence),
}

impl Judge {
    fn explain(&self, late: &Receiver<Late>) -> Vec<Explained> {
        match self {
            Judge::Trace(evidence) => evidence.explain(late),
            Judge::Counters(evidence) => {
                let mut explained = Vec::new();
                evidence.explain(late, |one| explained.push(one.into()));
                explained
            }
        }
    }
}

/// When a core is looked at, after a subframe's last sample.
const LOOKS_US: [u64; 3] = [200, 450, 700];
/// A wake-up later than this is a stall; one from idle takes less.
pub(super) const STALL: Duration = Duration::from_micros(150);
/// Above everything but the kernel's own stoppers.
const PRIORITY: u8 = 99;

/// Counters are read this often, so that the stolen time between two readings is little.
const COUNTERS_PERIOD: Duration = Duration::from_millis(20);

/// Looks at some cores until it is finished.
pub(super) struct Watch {
    cpus: Vec<usize>,
    before: Option<Snapshot>,
    over: Stop,
    threads: Vec<JoinHandle<()>>,
    explaining: Option<JoinHandle<Vec<Explained>>>,
    judged_by: Option<JudgedBy>,
    unwatched: Option<String>,
}

impl Watch {
    /// Over these CPUs; `why_not`: a reason to look at the account alone.
    pub(super) fn over(cpus: &[usize], plan: &Plan, why_not: Option<&str>) -> Watch {
        let mut watch = Watch {
            cpus: cpus.to_vec(),
            before: Snapshot::take().ok(),
            over: Stop::new(),
            threads: Vec::new(),
            explaining: None,
            judged_by: None,
            unwatched: why_not.map(str::to_owned),
        };
        if watch.unwatched.is_none() && Virtualisation::of(&Host::this()) == Virtualisation::None {
            watch.unwatched = Some(thread_clock::NO_HYPERVISOR.to_owned());
        } else if watch.unwatched.is_none() {
            watch.begin(plan);
        }
        watch
    }

    fn begin(&mut self, plan: &Plan) {
        let judge = match Evidence::begin() {
            Ok(evidence) => Ok((Judge::Trace(evidence), self.cpus.clone())),
            Err(_) => CounterEvidence::begin(&self.cpus, COUNTERS_PERIOD).map(|evidence| {
                let online = evidence.online();
                (Judge::Counters(evidence), online)
            }),
        };
        match judge {
            Ok((judge, cpus)) => self.begin_with(judge, &cpus, plan),
            Err(why) => {
                let why = format!("who stops a core is not known without the kernel's trace or its counters: {why}");
                self.unwatched = Some(why);
            }
        }
    }

    /// Looks at these cores.
    fn begin_with(&mut self, judge: Judge, cpus: &[usize], plan: &Plan) {
        let counted = matches!(judge, Judge::Counters(_));
        self.judged_by = Some(if counted { JudgedBy::Counters } else { JudgedBy::Trace });
        let (report, reports) = mpsc::channel();
        for &cpu in cpus {
            let (refused, refusal) = mpsc::channel();
            let (over, plan, report) = (self.over.clone(), *plan, report.clone());
            let body = move || match place(cpu) {
                Ok(timer) => {
                    drop(refused);
                    look(timer, cpu, counted, &plan, &over, &report);
                }
                Err(why) => drop(refused.send(why)),
            };
            match thread::Builder::new().name(format!("{WATCHES}{cpu}")).spawn(body) {
                Ok(thread) => self.threads.push(thread),
                Err(error) => self.refused(cpu, format!("no thread to watch core {cpu}: {error}")),
            }
            // Ends without a refusal once the thread is placed.
            if let Ok(why) = refusal.recv() {
                self.refused(cpu, why);
            }
        }
        match thread::Builder::new().name(format!("{WATCHES}judge")).spawn(move || judge.explain(&reports)) {
            Ok(thread) => self.explaining = Some(thread),
            Err(error) => self.unwatched = Some(format!("no thread to judge stops: {error}")),
        }
    }

    /// Without a core of others there is less evidence, and that is all.
    fn refused(&mut self, cpu: usize, why: String) {
        if self.cpus.contains(&cpu) {
            self.unwatched = Some(why);
        }
    }

    pub(super) fn finish(self) -> Stalls {
        self.over.request();
        self.threads.into_iter().for_each(joined);
        let usage = self.before.and_then(|before| Some(Snapshot::take().ok()?.since(&before)));
        let ours = usage.iter().flat_map(|usage| &usage.cpus).filter(|one| self.cpus.contains(&one.cpu));
        Stalls {
            steal_ns: ours.map(|one| one.classes.steal_ns).sum(),
            judged_by: self.judged_by,
            unwatched: self.unwatched,
            unclocked: thread_clock::why_not(&Host::this()).map(str::to_owned),
            ..Stalls::of(self.explaining.map(joined).unwrap_or_default())
        }
    }
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl Stalls {
    /// Subframes whose look was late, by whose doing it was.
    fn of(mut explained: Vec<Explained>) -> Stalls {
        explained.sort_by_key(|one| (one.late.cpu, one.late.due_ns));
        let mut stalls = Stalls::default();
        // A long stop makes the looks of several subframes late, which all end with it: each moment counts once a core.
        let mut counted = (0, 0);
        for one in &explained {
            let Late { cpu, number: subframe, due_ns, woke_ns, .. } = one.late;
            if let Some(cause) = one.cause {
                *stalls.causes.entry(cause).or_default() += 1;
            }
            match one.machine_ns {
                Some(ns) if Duration::from_nanos(ns) > STALL => {
                    let since = if counted.0 == cpu { due_ns.max(counted.1) } else { due_ns };
                    stalls.stalled.insert(subframe);
                    stalls.all_ns += ns.min(woke_ns.saturating_sub(since));
                    stalls.longest_ns = stalls.longest_ns.max(ns);
                    counted = (cpu, woke_ns.max(since));
                }
                Some(_) => drop(stalls.held_by_host.insert(subframe)),
                None => drop(stalls.unexplained.insert(subframe)),
            }
        }
        stalls
    }
}

/// Puts the calling thread on a core, above all others.
fn place(cpu: usize) -> Result<Timer, String> {
    let refused = |error: &dyn std::error::Error| format!("core {cpu} can't be watched: {error}");
    pin_self(&[cpu]).map_err(|error| refused(&error))?;
    set_policy(0, Policy::Fifo { priority: PRIORITY }).map_err(|error| refused(&error))?;
    Timer::open(TimerOptions::default()).map_err(|error: TimerError| refused(&error))
}

/// Reports the latest look of each subframe, if it was late; for counters, with how long it queued.
fn look(mut timer: Timer, cpu: usize, counted: bool, plan: &Plan, over: &Stop, report: &Sender<Late>) {
    let mut queue = counted.then(Queue::of_this_thread);
    for subframe in 0..plan.subframes {
        let mut latest: Option<Late> = None;
        for look_us in LOOKS_US {
            let due = plan.ends(subframe) + Duration::from_micros(look_us);
            let Ok(Some(woke)) = timer.wait_until(due, over) else { return };
            let queued_ns = queue.as_mut().and_then(|queue| queue.within((due.0, woke.0)));
            let late = Late { cpu, number: subframe, due_ns: due.0, woke_ns: woke.0, queued_ns };
            if latest.is_none_or(|latest| late.ns() > latest.ns()) {
                latest = Some(late);
            }
        }
        if let Some(late) = latest.filter(|late| Duration::from_nanos(late.ns()) > STALL) {
            // The thread that reads ends after all threads that look.
            let _ = report.send(late);
        }
    }
}

#[cfg(test)]
mod tests {
    use takt_base::{Clock, MonoNs, Speed, Tick, WallClock};
    use takt_radio::n200::{CLOCK, ClockReading};

    use super::super::{ClockModel, SUBFRAME_NS};
    use super::*;
    use crate::deadline;

    /// Two subframes that begin at an instant of this host.
    fn plan(begins: MonoNs) -> Plan {
        let options = deadline::DeadlineOptions {
            duration: Duration::from_nanos(2 * SUBFRAME_NS),
            warm_up: Duration::ZERO,
            ..deadline::DeadlineOptions::default()
        };
        let (clock, speed, uncertainty) = (CLOCK, Speed::WALL, Duration::ZERO);
        let reading = ClockReading { clock, speed, host: begins, tick: Tick(0), uncertainty };
        Plan::new(&options, Tick(0), ClockModel::through(reading, reading))
    }

    #[test]
    fn looks_that_come_too_late_are_reported_and_each_subframe_once() {
        let timer = Timer::open(TimerOptions::default()).unwrap();
        let long_ago = MonoNs(WallClock.now().0 - 1_000_000_000);
        let (report, reports) = mpsc::channel();
        look(timer, 0, true, &plan(long_ago), &Stop::new(), &report);
        let late: Vec<Late> = reports.try_iter().collect();
        assert_eq!(late.iter().map(|late| late.number).collect::<Vec<_>>(), [0, 1]);
        assert!(late.iter().all(|late| late.ns() > 980_000_000));
    }

    #[test]
    fn only_what_the_trace_lays_to_the_machine_is_the_machines() {
        let late = |number| Late { cpu: 0, number, due_ns: 0, woke_ns: 2_000_000, queued_ns: None };
        let of = |subframe, machine_ns| Explained { late: late(subframe), machine_ns, cause: None };
        let stalls = Stalls::of(vec![of(1, Some(1_900_000)), of(2, Some(150_000)), of(3, None), of(4, Some(0))]);
        assert_eq!((stalls.stalled, stalls.all_ns), ([1].into(), 1_900_000));
        assert_eq!((stalls.held_by_host, stalls.unexplained), ([2, 4].into(), [3].into()));
    }

    #[test]
    fn a_stop_that_outlasts_subframes_spoils_all_of_them_and_counts_once_for_each_core() {
        // From 0 to 18 ms, noticed by the looks due at 1, 6, 11 and 16 ms of two cores.
        let look = |cpu, subframe: u64| {
            let due_ns = 1_000_000 + subframe * 5_000_000;
            let woke_ns = 18_000_000 + subframe;
            let late = Late { cpu, number: subframe, due_ns, woke_ns, queued_ns: None };
            Explained { late, machine_ns: Some(18_000_000 - due_ns), cause: None }
        };
        let stalls = Stalls::of((0..4).flat_map(|subframe| [look(0, subframe), look(1, subframe)]).collect());
        assert_eq!(stalls.stalled, [0, 1, 2, 3].into());
        assert_eq!((stalls.all_ns, stalls.longest_ns), (2 * (17_000_000 + 3), 17_000_000));
    }

    #[test]
    fn a_stop_of_0_4_ms_makes_a_look_late_wherever_it_begins_after_the_last_sample() {
        for begins_us in 0..=LOOKS_US[2] {
            let ends_us = begins_us + 400;
            let late = |look: u64| if (begins_us..ends_us).contains(&look) { ends_us - look } else { 0 };
            let latest = LOOKS_US.into_iter().map(late).max();
            assert!(latest >= Some(STALL.as_micros() as u64), "from {begins_us} us on");
        }
    }

    #[test]
    fn a_reason_not_to_look_is_reported() {
        let stalls = Watch::over(&[0], &plan(MonoNs(0)), Some("because")).finish();
        assert_eq!((stalls.stalled.len(), stalls.unwatched.as_deref()), (0, Some("because")));
    }
}
