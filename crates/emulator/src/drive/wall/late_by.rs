//! Causes that held up a late driver: what its own thread knows of the time since its last beat.
//!
//! The kernel tells a thread for how long it ran and for how long it queued for its core. In the rest it slept, or its
//! core stood still. While it worked, that was the machine. Oversleeping may also be interrupts that were held off, and
//! is not known. A look is three system calls: one before each wait, one after it, and one when something has left
//! late.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};
use takt_base::{Clock, MonoNs, WallClock};
use takt_host::Host;
use takt_host::thread_clock::{self, Moment, Since, ThreadClock};

use super::pace::Pace;

/// Nanoseconds in which a driver did not get on, by whose doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LateBy {
    /// The machine below this kernel had its core.
    pub machine_ns: u64,
    /// Another thread of its host, or a soft interrupt, had its core.
    pub host_ns: u64,
    /// Its own work took so long.
    pub own_ns: u64,
    /// Its timer came late: the machine, or interrupts that were held off.
    pub not_known_ns: u64,
}

/// When an emulator was late: from when its first late datagram was due to when the last one had left, on the monotonic
/// clock of its machine. A host's misses outside of such spans are not the emulator's doing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LateSpan {
    pub from_ns: u64,
    pub to_ns: u64,
    /// Causes that held the driver up, as far as its own thread knows.
    #[serde(default)] // summaries older than this key, and replies over the network
    pub by: LateBy,
    /// How late the latest datagram of it was, nanoseconds: as long as the driver was held up. The span is longer by the time
    /// that it took to catch up.
    #[serde(default)] // as above
    pub lag_ns: u64,
}

impl LateSpan {
    /// For how long the driver was held up, nanoseconds; of older summaries the whole span.
    #[must_use]
    pub fn held_ns(&self) -> u64 {
        let whole_ns = self.to_ns.saturating_sub(self.from_ns);
        if self.lag_ns == 0 { whole_ns } else { self.lag_ns.min(whole_ns) }
    }
}

impl AddAssign for LateBy {
    fn add_assign(&mut self, other: LateBy) {
        self.machine_ns += other.machine_ns;
        self.host_ns += other.host_ns;
        self.own_ns += other.own_ns;
        self.not_known_ns += other.not_known_ns;
    }
}

/// The one that held a driver up for most of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldUpBy {
    Machine,
    Host,
    Own,
    NotKnown,
}

impl LateBy {
    /// The one that did so for most of the time; not known in doubt.
    #[must_use]
    pub fn most(&self) -> HeldUpBy {
        let LateBy { machine_ns, host_ns, own_ns, not_known_ns } = *self;
        let most = machine_ns.max(host_ns).max(own_ns);
        match most {
            _ if not_known_ns >= most => HeldUpBy::NotKnown,
            _ if host_ns == most => HeldUpBy::Host,
            _ if own_ns == most => HeldUpBy::Own,
            _ => HeldUpBy::Machine,
        }
    }
}

/// Spans of lateness, and how long they are together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spans {
    pub spans: u64,
    pub ns: u64,
}

impl Add<u64> for Spans {
    type Output = Spans;
    fn add(self, ns: u64) -> Spans {
        Spans { spans: self.spans + 1, ns: self.ns.saturating_add(ns) }
    }
}

/// Spans of lateness, each laid to whoever held the driver up for most of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpansBy {
    pub machine: Spans,
    pub host: Spans,
    pub own: Spans,
    pub not_known: Spans,
}

impl SpansBy {
    #[must_use]
    pub fn of<'a>(spans: impl IntoIterator<Item = &'a LateSpan>) -> SpansBy {
        let mut sums = SpansBy::default();
        for span in spans {
            let sum = match span.by.most() {
                HeldUpBy::NotKnown => &mut sums.not_known,
                HeldUpBy::Host => &mut sums.host,
                HeldUpBy::Own => &mut sums.own,
                HeldUpBy::Machine => &mut sums.machine,
            };
            *sum = *sum + span.to_ns.saturating_sub(span.from_ns);
        }
        sums
    }
}

/// The driver thread's view of itself.
#[derive(Debug)]
pub(super) struct Witness {
    clock: ThreadClock,
    last: Moment,
    /// When the driver's pace was last looked at.
    paced: Moment,
    asleep: Since,
    /// That its core stood still shows in its clock.
    sees_stops: bool,
}

impl Witness {
    pub(super) fn of_this_thread() -> Witness {
        let clock = ThreadClock::of_this_thread();
        let last = clock.now();
        let (asleep, sees_stops) = (last.since(&last), thread_clock::why_not(&Host::this()).is_none());
        Witness { clock, last, paced: last, asleep, sees_stops }
    }

    /// Between work and a wait.
    pub(super) fn rests(&mut self) {
        self.last = self.clock.now();
    }

    /// Until when the driver pauses, as its rest begins. Its work before the next rest counts for the next pause.
    pub(super) fn pause(&mut self, pace: Option<&mut Pace>) -> MonoNs {
        let Some(pace) = pace else { return MonoNs(0) };
        let since = self.last.since(&std::mem::replace(&mut self.paced, self.last));
        let pause = pace.pause(&since);
        if pause.is_zero() { MonoNs(0) } else { WallClock.now() + pause }
    }

    /// Between a wait and work.
    pub(super) fn woke(&mut self) {
        self.asleep = self.look();
    }

    /// After work in which something left so late: who held it up. A wait is laid to what left late once.
    pub(super) fn worked(&mut self, late_ns: u64) -> LateBy {
        let at_work = self.look();
        let asleep = std::mem::replace(&mut self.asleep, self.last.since(&self.last));
        split(&asleep, &at_work, late_ns, self.sees_stops)
    }

    fn look(&mut self) -> Since {
        let now = self.clock.now();
        now.since(&std::mem::replace(&mut self.last, now))
    }
}

/// The last event comes first: it worked when it had queued, and it queued when its timer had come.
fn split(asleep: &Since, at_work: &Since, late_ns: u64, sees_stops: bool) -> LateBy {
    let mut left_ns = late_ns;
    let mut take = |ns: u64| {
        let taken = ns.min(left_ns);
        left_ns -= taken;
        taken
    };
    let mut by = LateBy { own_ns: take(at_work.ran_ns), ..LateBy::default() };
    by.host_ns = take(at_work.queued_ns.unwrap_or(0));
    if let Some(queued_ns) = at_work.queued_ns.filter(|_| sees_stops && !at_work.slept) {
        by.machine_ns = take(at_work.passed_ns.saturating_sub(at_work.ran_ns).saturating_sub(queued_ns));
    }
    by.host_ns += take(asleep.queued_ns.unwrap_or(0));
    by.own_ns += take(asleep.ran_ns); // questions that it answered, datagrams that it received
    by.not_known_ns = left_ns;
    by
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Asleep for 20 ms, for so many of which it queued, and then at work.
    fn by(queued: u64, [passed, ran, queued_at_work]: [u64; 3], late: u64, sees_stops: bool) -> [u64; 4] {
        let since = |passed: u64, ran: u64, queued: u64, slept| Since {
            passed_ns: passed * MS,
            ran_ns: ran * MS,
            queued_ns: Some(queued * MS),
            slept,
        };
        let (asleep, at_work) = (since(20, 0, queued, true), since(passed, ran, queued_at_work, false));
        let LateBy { machine_ns, host_ns, own_ns, not_known_ns } = split(&asleep, &at_work, late * MS, sees_stops);
        [machine_ns, host_ns, own_ns, not_known_ns].map(|ns| ns / MS)
    }

    #[test]
    fn lateness_is_laid_to_who_had_the_core() {
        assert_eq!(by(9, [1, 1, 0], 10, true), [0, 9, 1, 0], "another thread when it ought to have woken");
        assert_eq!(by(0, [10, 1, 9], 10, true), [0, 9, 1, 0], "another thread in the midst of its work");
        assert_eq!(by(0, [10, 10, 0], 8, true), [0, 0, 8, 0], "its own work");
        assert_eq!(by(0, [10, 1, 0], 10, true), [9, 0, 1, 0], "it did not sleep, and nobody ran");
        assert_eq!(by(0, [1, 1, 0], 10, true), [0, 0, 1, 9], "its timer came late");
        assert_eq!(by(20, [20, 10, 10], 10, true), [0, 0, 10, 0], "never more than it was late");
        assert_eq!(by(0, [10, 1, 0], 10, false), [0, 0, 1, 9], "clocks that do not show stops");
    }

    #[test]
    fn what_the_kernel_does_not_tell_is_not_known() {
        let none = Since { passed_ns: 20, ran_ns: 1, queued_ns: None, slept: false };
        assert_eq!(split(&none, &none, 10, true), LateBy { own_ns: 2, not_known_ns: 8, ..LateBy::default() });
    }

    #[test]
    fn a_span_counts_for_who_held_it_up_longest_and_in_doubt_for_nobody() {
        let span = |machine_ns, host_ns, not_known_ns| {
            let by = LateBy { machine_ns, host_ns, own_ns: 1, not_known_ns };
            LateSpan { from_ns: 100, to_ns: 150, by, lag_ns: 0 }
        };
        let by = SpansBy::of(&[span(5, 3, 0), span(0, 3, 2), span(3, 0, 3), span(0, 0, 0)]);
        let one = Spans { spans: 1, ns: 50 };
        assert_eq!(by, SpansBy { machine: one, host: one, own: one, not_known: one });
        assert_eq!(SpansBy::of(&[LateSpan::default()]).not_known.spans, 1, "of a radio on another machine");
    }
}
