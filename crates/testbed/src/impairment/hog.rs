//! A thread that takes a core from everybody else, in an agent of its own.

use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_host::affinity::own_cpus;
use takt_host::policy::{Policy, PolicyError, set_policy};
use takt_load::Every;

/// Above what anybody gives a thread that streams; below the kernel's own at 99.
const PRIORITY: u8 = 90;

/// One `SCHED_FIFO` thread, on the core of its agent, busy for a span of every period.
#[derive(Debug)]
pub(crate) struct Hog {
    stop: Stop,
    thread: JoinHandle<()>,
}

impl Hog {
    pub(crate) fn start(every: Every) -> Result<Hog, PolicyError> {
        debug_assert_eq!(own_cpus().len(), 1, "a hog takes one core");
        let stop = Stop::new();
        let flag = stop.clone();
        let (to, ready) = std::sync::mpsc::channel();
        let thread = thread::spawn(move || {
            let permitted = set_policy(0, Policy::Fifo { priority: PRIORITY });
            let begins = permitted.is_ok();
            // The other end waits for it.
            let _ = to.send(permitted);
            if begins {
                take(every, &flag);
            }
        });
        match ready.recv() {
            Ok(Ok(())) => Ok(Hog { stop, thread }),
            Ok(Err(refused)) => Err(refused),
            Err(_) => std::panic::resume_unwind(thread.join().err().unwrap_or_else(|| Box::new("a hog that went"))),
        }
    }

    pub(crate) fn finish(self) {
        self.stop.request();
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}

fn take(every: Every, stop: &Stop) {
    let clock = WallClock;
    // Periods count from the clock's zero, so that the hogs of several cores take them at once.
    let period_ns = every.period.as_nanos().max(1) as u64;
    let mut edge = MonoNs(clock.now().0.next_multiple_of(period_ns));
    while !stop.requested() {
        thread::sleep(Duration::from_nanos(edge.0.saturating_sub(clock.now().0)));
        busy_until(edge + every.taken);
        edge = next(edge, every.period, clock.now());
    }
}

fn busy_until(instant: MonoNs) {
    while WallClock.now() < instant {
        std::hint::spin_loop();
    }
}

/// The next edge of the grid that is not over: periods that were missed are left out, not made up for.
fn next(edge: MonoNs, period: Duration, now: MonoNs) -> MonoNs {
    let mut next = edge + period;
    while next < now {
        next += period;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_that_were_missed_are_left_out() {
        let period = Duration::from_nanos(10);
        assert_eq!(next(MonoNs(100), period, MonoNs(103)), MonoNs(110));
        assert_eq!(next(MonoNs(100), period, MonoNs(110)), MonoNs(110));
        assert_eq!(next(MonoNs(100), period, MonoNs(134)), MonoNs(140));
    }
}
