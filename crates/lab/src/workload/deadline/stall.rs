//! When a core of the host side stood still: what is late then is not this host's doing.
//!
//! The kernel's account of stolen time comes in ticks of 10 ms, and many a hypervisor tells it nothing. So on each core a
//! thread that comes before every other wakes each 100 us and notes when it was late: nothing but the machine below can
//! have held it up for long. It costs its core some 2 %, in every case alike. A host without a hypervisor has no such
//! excuse, and is not watched; nor are processes under `SCHED_DEADLINE`, which come before every other policy.

use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_host::Host;
use takt_host::accounting::Snapshot;
use takt_host::affinity::pin_self;
use takt_host::policy::{Policy, set_policy};
use takt_host::timer::{Options, Timer, TimerError};

/// A stretch in which a core did not run what it ought to have: from when it last did to when it did again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stall {
    pub(super) from: MonoNs,
    pub(super) to: MonoNs,
}

/// What was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    pub(super) stalls: Vec<Stall>,
    /// By the kernel's account, of all these cores.
    pub(super) steal_ns: u64,
    /// Why nobody looked, if nobody did.
    pub(super) unwatched: Option<String>,
}

/// How often a core is looked at.
const PERIOD: Duration = Duration::from_micros(100);
/// What is later than this is a stall; a wake-up from idle takes less.
pub(super) const STALL: Duration = Duration::from_micros(100);
/// Above everything but the kernel's own stoppers.
const PRIORITY: u8 = 99;
/// Stalls of a core that are kept: room for ten a second of an hour.
const MOST: usize = 36_000;

/// Looks at some cores until it is asked.
pub(super) struct Watch {
    cpus: Vec<usize>,
    before: Option<Snapshot>,
    over: Stop,
    threads: Vec<JoinHandle<Vec<Stall>>>,
    unwatched: Option<String>,
}

impl Watch {
    /// Over these CPUs; `why_not`: a reason to look at the account alone.
    pub(super) fn over(cpus: &[usize], why_not: Option<&str>) -> Watch {
        let mut watch = Watch {
            cpus: cpus.to_vec(),
            before: Snapshot::take().ok(),
            over: Stop::new(),
            threads: Vec::new(),
            unwatched: why_not.map(str::to_owned),
        };
        if watch.unwatched.is_none() && Host::this().hypervisor().is_none() {
            watch.unwatched = Some("no hypervisor that could stop a core".into());
        }
        if watch.unwatched.is_none() {
            watch.begin();
        }
        watch
    }

    fn begin(&mut self) {
        for &cpu in &self.cpus {
            let (told, begun) = mpsc::channel();
            let over = self.over.clone();
            let body = move || match place(cpu) {
                Ok(timer) => {
                    let _ = told.send(Ok(()));
                    look(timer, &over)
                }
                Err(why) => {
                    let _ = told.send(Err(why));
                    Vec::new()
                }
            };
            match thread::Builder::new().name(format!("takt-watch-{cpu}")).spawn(body) {
                Ok(thread) => self.threads.push(thread),
                Err(error) => self.unwatched = Some(format!("no thread to watch core {cpu}: {error}")),
            }
            if let Ok(Err(why)) = begun.recv() {
                self.unwatched = Some(why);
            }
        }
    }

    pub(super) fn finish(self) -> Seen {
        self.over.request();
        let seen = |thread: JoinHandle<_>| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let mut stalls: Vec<Stall> = self.threads.into_iter().flat_map(seen).collect();
        stalls.sort_by_key(|stall| stall.from);
        let usage = self.before.and_then(|before| Some(Snapshot::take().ok()?.since(&before)));
        let ours = usage.iter().flat_map(|usage| &usage.cpus).filter(|one| self.cpus.contains(&one.cpu));
        Seen { stalls, steal_ns: ours.map(|one| one.classes.steal_ns).sum(), unwatched: self.unwatched }
    }
}

/// Puts the calling thread on a core, above all others.
fn place(cpu: usize) -> Result<Timer, String> {
    let refused = |error: &dyn std::error::Error| format!("core {cpu} can't be watched: {error}");
    pin_self(&[cpu]).map_err(|error| refused(&error))?;
    set_policy(0, Policy::Fifo { priority: PRIORITY }).map_err(|error| refused(&error))?;
    Timer::open(Options::default()).map_err(|error: TimerError| refused(&error))
}

fn look(mut timer: Timer, over: &Stop) -> Vec<Stall> {
    let mut stalls = Vec::with_capacity(MOST);
    let mut last = WallClock.now();
    while let Ok(Some(woke)) = timer.wait_until(last + PERIOD, over) {
        if is_stall(last + PERIOD, woke) && stalls.len() < MOST {
            stalls.push(Stall { from: last, to: woke });
        }
        last = woke;
    }
    stalls
}

fn is_stall(due: MonoNs, woke: MonoNs) -> bool {
    woke > due + STALL
}

/// Whether a core stood still between two instants of this host. `stalls`: in order of their beginning.
pub(super) fn any_within(stalls: &[Stall], from_ns: i64, to_ns: i64) -> bool {
    let begun = stalls.partition_point(|stall| super::ns(stall.from) <= to_ns);
    stalls.iter().take(begun).rev().any(|stall| super::ns(stall.to) >= from_ns)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stall_is_found_by_what_touches_it() {
        let stall = |from, to| Stall { from: MonoNs(from), to: MonoNs(to) };
        let stalls = [stall(100, 900), stall(150, 200), stall(1000, 1100)];
        assert!(any_within(&stalls, 0, 100) && any_within(&stalls, 500, 600) && any_within(&stalls, 1050, 1060));
        assert!(!any_within(&stalls, 0, 99) && !any_within(&stalls, 901, 999) && !any_within(&stalls, 1101, 2000));
    }

    #[test]
    fn what_is_late_by_more_than_the_limit_is_a_stall() {
        let due = MonoNs(1_000_000);
        assert!(!is_stall(due, due + STALL) && is_stall(due, due + STALL + Duration::from_nanos(1)));
    }

    #[test]
    fn a_reason_not_to_look_is_told() {
        let seen = Watch::over(&[0], Some("because")).finish();
        assert_eq!((seen.stalls.len(), seen.unwatched.as_deref()), (0, Some("because")));
    }

    proptest! {
        /// The search is what looking at all of them gives.
        #[test]
        fn the_search_misses_none(
            mut spans in proptest::collection::vec((0_u64..1000, 0_u64..200), 0..20),
            from in 0_i64..1000, length in 0_i64..100,
        ) {
            spans.sort_unstable();
            let stalls: Vec<Stall> =
                spans.iter().map(|&(from, length)| Stall { from: MonoNs(from), to: MonoNs(from + length) }).collect();
            let touches = |stall: &Stall| stall.from.0 as i64 <= from + length && stall.to.0 as i64 >= from;
            prop_assert_eq!(any_within(&stalls, from, from + length), stalls.iter().any(touches));
        }
    }
}
