//! Looks for stops of cores while something else runs on them, and says who stopped them.
//!
//! ```text
//!   core 0   · · · · · ·          · · · ·     a look a millisecond, at the lowest real-time priority
//!   core 1   · · · · · · · · · · · · · · ·
//!                        └─ stop ─┘
//! ```
//!
//! A thread on each core wakes once a [`LOOK`]. It comes before every thread of ordinary priority, and after every thread with
//! a real-time priority. So it wakes late if the machine or the kernel stopped the core, or if a thread had it that can't be
//! preempted: whatever no ordinary program escapes. The kernel's counters say who it was ([`core_stop`](crate::core_stop)).
//!
//! Without the right to real-time priority the threads are ordinary ones. They queue behind other programs, and behind the work
//! that they look at, so that a queue counts as a stop from [`ORDINARY_QUEUE`] on only.
//!
//! A stop is as long as its look was late. It may have begun up to a [`LOOK`] earlier.

mod counters;
mod late;

use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, Stop, WallClock};

pub use self::counters::CounterEvidence;
pub use self::late::{Explained, Late, Queue};
use crate::affinity::pin_self;
use crate::core_stop::Cause;
use crate::policy::{Policy, set_policy};
use crate::timer::{self, Timer, TimerError};

/// From one look to the next.
pub const LOOK: Duration = Duration::from_millis(1);
/// A look that is late by less is no stop.
pub const SHORTEST: Duration = Duration::from_millis(1);
/// A thread of ordinary priority that queued for less may have queued behind the work that it looks at.
pub const ORDINARY_QUEUE: Duration = Duration::from_millis(5);
/// How the names of the threads begin that look.
pub const WATCHES: &str = "takt-watch-";

/// Above all threads of ordinary priority, below all others.
const PRIORITY: u8 = 1;
/// Counters are read this often. Reading them takes some 100 us, and more on machines with many cores.
const COUNTERS_PERIOD: Duration = Duration::from_millis(100);
/// Stops kept, the longest ones.
const KEPT: usize = 4096;

/// A core that stood still.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreStop {
    pub cpu: usize,
    /// From when the look was due to when it came, nanoseconds of the monotonic clock.
    pub from_ns: u64,
    pub to_ns: u64,
    pub by: Cause,
}

impl CoreStop {
    #[must_use]
    pub fn ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// The stops that a watch of some cores saw.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watched {
    /// The cores that were looked at.
    pub cores: Vec<usize>,
    /// For how long, nanoseconds.
    pub looked_ns: u64,
    /// The threads that looked had real-time priority. Without it, a queue shorter than [`ORDINARY_QUEUE`] goes unseen.
    pub real_time: bool,
    /// In order of their begin; the longest ones, if there were very many.
    pub stops: Vec<CoreStop>,
    /// Stops that are not among them.
    pub more: u64,
    /// Why a core was not looked at, a sentence each.
    pub unseen: Vec<String>,
}

/// Looks at cores until it is finished.
#[derive(Debug)]
pub struct CoreWatch {
    cores: Vec<usize>,
    begun: MonoNs,
    over: Stop,
    looking: Vec<JoinHandle<()>>,
    explaining: Option<JoinHandle<Kept>>,
    real_time: bool,
    unseen: Vec<String>,
}

impl CoreWatch {
    /// Looks at these cores. It looks at all others of this host as well, and reports nothing of them: what stops all cores at
    /// once is the machine.
    #[must_use]
    pub fn begin(cores: &[usize]) -> CoreWatch {
        let mut watch = CoreWatch {
            cores: Vec::new(),
            begun: WallClock.now(),
            over: Stop::new(),
            looking: Vec::new(),
            explaining: None,
            real_time: true,
            unseen: Vec::new(),
        };
        match CounterEvidence::begin(cores, COUNTERS_PERIOD) {
            Ok(evidence) => watch.begin_with(evidence, cores),
            Err(error) => watch.unseen.push(format!("the kernel's counters can't be read: {error}")),
        }
        watch
    }

    fn begin_with(&mut self, evidence: CounterEvidence, cores: &[usize]) {
        let (report, reports) = mpsc::channel();
        for cpu in evidence.online() {
            match self.look_at(cpu, &report) {
                Ok(real_time) if cores.contains(&cpu) => {
                    self.cores.push(cpu);
                    self.real_time &= real_time;
                }
                Ok(_) => {}
                // Without a core of others there is less evidence, and that is all.
                Err(why) if cores.contains(&cpu) => self.unseen.push(format!("core {cpu} was not looked at: {why}")),
                Err(_) => {}
            }
        }
        for absent in cores.iter().filter(|&cpu| !evidence.online().contains(cpu)) {
            self.unseen.push(format!("there is no core {absent}"));
        }
        let real_time = self.real_time;
        let explain = move || {
            let mut kept = Kept::default();
            evidence.explain(&reports, |one| kept.note(&one, real_time));
            kept
        };
        match thread::Builder::new().name(format!("{WATCHES}judge")).spawn(explain) {
            Ok(thread) => self.explaining = Some(thread),
            Err(error) => {
                self.cores.clear();
                self.unseen.push(format!("no thread can judge stops: {error}"));
            }
        }
    }

    /// Starts the thread of a core; says whether it has real-time priority, or why there is none.
    fn look_at(&mut self, cpu: usize, report: &Sender<Late>) -> Result<bool, String> {
        let (placed, placing) = mpsc::channel();
        let (over, report) = (self.over.clone(), report.clone());
        let body = move || match place(cpu) {
            Ok((timer, real_time)) => {
                // The other end waits for it.
                let _ = placed.send(Ok(real_time));
                look(timer, cpu, real_time, &over, &report);
            }
            Err(why) => drop(placed.send(Err(why))),
        };
        let thread = thread::Builder::new().name(format!("{WATCHES}{cpu}")).spawn(body);
        self.looking.push(thread.map_err(|error| error.to_string())?);
        placing.recv().unwrap_or_else(|_| Err("its thread ended".into()))
    }

    /// Ends the watch; all stops that were seen.
    #[must_use]
    pub fn finish(mut self) -> Watched {
        let looked_ns = if self.cores.is_empty() { 0 } else { (WallClock.now() - self.begun).as_nanos() as u64 };
        self.over.request();
        self.looking.drain(..).for_each(joined);
        let Kept { mut stops, more } = self.explaining.take().map(joined).unwrap_or_default();
        stops.sort_by_key(|stop| (stop.from_ns, stop.cpu));
        let (cores, unseen) = (std::mem::take(&mut self.cores), std::mem::take(&mut self.unseen));
        Watched { cores, looked_ns, real_time: self.real_time, stops, more, unseen }
    }
}

impl Drop for CoreWatch {
    fn drop(&mut self) {
        self.over.request();
    }
}

fn joined<T>(thread: JoinHandle<T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Puts the calling thread on a core; says whether it got real-time priority.
fn place(cpu: usize) -> Result<(Timer, bool), String> {
    pin_self(&[cpu]).map_err(|error| error.to_string())?;
    let real_time = set_policy(0, Policy::Fifo { priority: PRIORITY }).is_ok();
    let options = timer::TimerOptions { slack_ns: std::num::NonZeroU64::new(1), ..timer::TimerOptions::default() };
    let timer = Timer::open(options).map_err(|error: TimerError| error.to_string())?;
    Ok((timer, real_time))
}

/// Reports each look that is late enough.
fn look(mut timer: Timer, cpu: usize, real_time: bool, over: &Stop, report: &Sender<Late>) {
    let mut queue = Queue::of_this_thread();
    let begun = WallClock.now();
    let mut number = 1;
    loop {
        let due = begun + LOOK * number;
        let Ok(Some(woke)) = timer.wait_until(due, over) else { return };
        let queued_ns = queue.within((due.0, woke.0));
        let late = Late { cpu, number: u64::from(number), due_ns: due.0, woke_ns: woke.0, queued_ns };
        if is_stop(&late, real_time) {
            // The thread that reads ends after all threads that look.
            let _ = report.send(late);
        }
        // Looks whose time has passed are left out: the late one stands for them.
        number =
            u32::try_from((WallClock.now() - begun).as_nanos() / LOOK.as_nanos()).unwrap_or(u32::MAX).max(number) + 1;
    }
}

/// Whether a late look is a stop, by what a thread of its priority can tell.
fn is_stop(late: &Late, real_time: bool) -> bool {
    let late_ns = Duration::from_nanos(late.ns());
    let (from, to) = late.timer_late();
    let timer_late = Duration::from_nanos(to.saturating_sub(from));
    let queued = late_ns.saturating_sub(timer_late);
    late_ns >= SHORTEST && (real_time || timer_late >= SHORTEST || queued >= ORDINARY_QUEUE)
}

/// The longest stops, and how many more there were.
#[derive(Debug, Default)]
struct Kept {
    stops: Vec<CoreStop>,
    more: u64,
}

impl Kept {
    fn note(&mut self, explained: &Explained, real_time: bool) {
        let Explained { late, cause, .. } = *explained;
        if !is_stop(&late, real_time) {
            return;
        }
        self.stops.push(CoreStop { cpu: late.cpu, from_ns: late.due_ns, to_ns: late.woke_ns, by: cause });
        if self.stops.len() >= 2 * KEPT {
            self.stops.sort_by_key(|stop| std::cmp::Reverse(stop.ns()));
            self.more += (self.stops.len() - KEPT) as u64;
            self.stops.truncate(KEPT);
        }
    }
}

/// Stops that overlap as one, by the longest of them: several cores, or several witnesses, saw the same. In order of their begin.
#[must_use]
pub fn together(stops: &[CoreStop]) -> Vec<CoreStop> {
    let mut ordered = stops.to_vec();
    ordered.sort_by_key(|stop| (stop.from_ns, stop.to_ns));
    let mut apart: Vec<(CoreStop, u64)> = Vec::new();
    for stop in ordered {
        match apart.last_mut() {
            Some((longest, end_ns)) if stop.from_ns <= *end_ns => {
                *end_ns = (*end_ns).max(stop.to_ns);
                if stop.ns() > longest.ns() {
                    *longest = stop;
                }
            }
            _ => apart.push((stop, stop.to_ns)),
        }
    }
    apart.into_iter().map(|(longest, _)| longest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn stop(cpu: usize, from_ms: u64, to_ms: u64, by: Cause) -> CoreStop {
        CoreStop { cpu, from_ns: from_ms * MS, to_ns: to_ms * MS, by }
    }

    fn late(ms: u64, queued_ms: u64) -> Late {
        Late { cpu: 0, number: 1, due_ns: 10 * MS, woke_ns: (10 + ms) * MS, queued_ns: Some(queued_ms * MS) }
    }

    #[test]
    fn a_thread_without_priority_takes_no_short_queue_for_a_stop() {
        let stops = [late(3, 3), late(6, 6), late(2, 0), late(0, 0)];
        assert_eq!(stops.map(|late| is_stop(&late, true)), [true, true, true, false]);
        assert_eq!(stops.map(|late| is_stop(&late, false)), [false, true, true, false]);
    }

    #[test]
    fn what_several_cores_saw_at_once_is_one_stop_as_long_as_the_longest() {
        let seen = [
            stop(1, 10, 14, Cause::NotKnown),
            stop(0, 11, 19, Cause::Machine),
            stop(1, 18, 21, Cause::Thread),
            stop(0, 30, 32, Cause::Thread),
        ];
        assert_eq!(together(&seen), [seen[1], seen[3]]);
        assert_eq!(together(&[]), []);
    }

    #[test]
    fn of_very_many_stops_the_longest_are_kept_and_the_others_counted() {
        let mut kept = Kept::default();
        let explained = |ms| Explained { late: late(ms, 0), cause: Cause::NotKnown, machine_ns: 0 };
        for n in 0..3 * KEPT as u64 {
            kept.note(&explained(1 + n % 7), true);
        }
        assert_eq!(kept.stops.len() as u64 + kept.more, 3 * KEPT as u64);
        kept.note(&explained(50), true);
        assert!(kept.stops.len() < 2 * KEPT && kept.stops.iter().any(|stop| stop.ns() == 50 * MS));
    }

    #[test]
    fn a_watch_looks_at_what_this_process_may_use_and_reports_no_other_core() {
        let cores = crate::affinity::own_cpus();
        let watch = CoreWatch::begin(&cores[..1]);
        takt_testing::wait_for("ten looks", || (WallClock.now() - watch.begun > 10 * LOOK).then_some(()));
        let watched = watch.finish();
        assert_eq!((&watched.cores, watched.unseen.len()), (&cores[..1].to_vec(), 0));
        assert!(watched.looked_ns >= 10 * MS && watched.stops.iter().all(|stop| stop.cpu == cores[0]));
    }

    #[test]
    fn a_core_that_there_is_not_is_not_looked_at() {
        let watched = CoreWatch::begin(&[100_000]).finish();
        assert_eq!((watched.cores.len(), watched.looked_ns), (0, 0));
        assert_eq!(watched.unseen, ["there is no core 100000"]);
    }
}
