//! A worker: the entries of one core, slot after slot.
//!
//! In a slot it looks at the commands that wait for the edge, then executes its entries in their static order: look at
//! the links, execute, record, hand over. It allocates nothing, locks nothing, logs nothing; its only system call is the
//! clock's sleep.

use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_graph::MissPolicy;

use crate::clock::{Edges, Patience, wait_until};
use crate::control::{Ending, Inbox};
use crate::entry::{Due, Entry, Executed};
use crate::isolated::Answer;
use crate::stats::{Event, MissKind, RawMiss, WINDOW, WorkerStats};
use crate::table::Table;
use crate::timer::Timer;

pub(crate) struct Worker {
    pub(crate) table: Table,
    pub(crate) stats: WorkerStats,
    pub(crate) timer: Timer,
    pub(crate) inbox: Inbox,
    pub(crate) stop: Stop,
    pub(crate) ending: Ending,
    /// Looks at a link before others are let run.
    pub(crate) spins: u32,
}

/// The physical slot a worker is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    /// The timer at its release.
    pub(crate) base: u64,
    /// From the edge to the release.
    pub(crate) release_ns: u64,
    /// From the release to the deadline; `u64::MAX` where there is none.
    pub(crate) left_ns: u64,
    /// The worker was still busy with an earlier slot at the edge.
    pub(crate) carried: bool,
}

impl Worker {
    /// Each slot follows the last; waits for other workers' packets. Answers the first slot not executed.
    pub(crate) fn run_free(&mut self, first: u64) -> u64 {
        let mut number = first;
        while let Some(next) = self.go_on(number) {
            number = next;
            let base = self.timer.read();
            let slot = Slot { number, base, release_ns: 0, left_ns: u64::MAX, carried: false };
            if !self.slot_waiting(slot) {
                continue;
            }
            self.account(slot, None);
            number += 1;
        }
        number
    }

    /// Slots begin at their edges; what is not there in time is missing.
    pub(crate) fn run_timed(&mut self, first: u64, edges: &Arc<dyn Edges>, spin: Duration) -> u64 {
        let mut number = first;
        let mut free_at = MonoNs(0);
        loop {
            let due = edges.due(number);
            let now = wait_until(due, spin, &self.stop).unwrap_or(due);
            let base = self.timer.read();
            let Some(next) = self.go_on(number) else { break };
            if next != number {
                // A change went on with a later slot.
                number = next;
                continue;
            }
            let release_ns = now.0 - due.0;
            let left_ns = edges.due(number + 1).0.saturating_sub(now.0);
            let slot = Slot { number, base, release_ns, left_ns, carried: free_at > due };
            self.pass_by_missed(slot);
            self.slot(slot);
            self.account(slot, Some(release_ns));
            free_at = WallClock.now();
            number = edges.slot_at(free_at).max(number + 1);
        }
        if !self.stop.requested() {
            // The last slots may have been lost: they count.
            let number = self.table.end;
            let end = Slot { number, base: 0, release_ns: 0, left_ns: u64::MAX, carried: true };
            self.pass_by_missed(end);
            (0..self.table.entries.len()).for_each(|index| self.collect(end, index));
        }
        number
    }

    /// What is to be done before physical slot `number`: commands, and at the end or at a stop the changes that others
    /// wait for. Answers the slot to go on with, if there is one.
    #[inline]
    fn go_on(&mut self, number: u64) -> Option<u64> {
        let leaving = number >= self.table.end || self.stop.requested();
        if leaving {
            return self.leave(number);
        }
        if self.inbox.is_empty() && self.table.pending == 0 {
            return Some(number);
        }
        self.inbox.apply(number, false, &mut self.table)
    }

    #[cold]
    fn leave(&mut self, number: u64) -> Option<u64> {
        self.ending.end();
        let number = self.inbox.apply(number, true, &mut self.table)?;
        // A new plan may be longer.
        (number < self.table.end && !self.stop.requested()).then_some(number)
    }

    /// Counts the slots that were lost, for all entries before any is executed: a producer must find the room that its
    /// consumers' lost slots took.
    #[inline]
    pub(crate) fn pass_by_missed(&mut self, slot: Slot) {
        for index in 0..self.table.entries.len() {
            if let Due::Slot { slot: logical, missed: 1.. } = self.table.entries[index].due(slot.number) {
                self.passed_by(slot, index, logical);
            }
        }
    }

    fn slot(&mut self, slot: Slot) {
        for index in 0..self.table.entries.len() {
            if let Some((logical, executed)) = self.start(slot, index) {
                self.finish(slot, index, logical, executed);
            }
        }
    }

    /// `false`: the slot is to be gone on with after a look at the commands.
    fn slot_waiting(&mut self, slot: Slot) -> bool {
        for index in 0..self.table.entries.len() {
            if !wait_for(&self.table.entries[index], slot.number, &self.stop, &self.inbox, self.spins) {
                return false;
            }
            if let Some((logical, executed)) = self.start(slot, index) {
                self.finish(slot, index, logical, executed);
            }
        }
        true
    }

    /// Executes an entry's logical slot, if it is due and its deadline has not passed.
    #[inline]
    pub(crate) fn start(&mut self, slot: Slot, index: usize) -> Option<(u64, Executed)> {
        self.collect(slot, index);
        let Due::Slot { slot: logical, missed: 0 } = self.table.entries[index].due(slot.number) else { return None };
        // Without a deadline the timer is not asked.
        if slot.left_ns != u64::MAX && self.timer.ns(slot.base, self.timer.read()) > slot.left_ns {
            self.passed_by(slot, index, logical + 1);
            return None;
        }
        Some((logical, self.table.entries[index].execute(logical, &mut self.timer)))
    }

    /// Hands over what an entry made, and records how long it took.
    #[inline]
    pub(crate) fn finish(&mut self, slot: Slot, index: usize, logical: u64, executed: Executed) {
        let ns = self.timer.ns(executed.start, executed.end);
        let entry = &mut self.table.entries[index];
        entry.publish(logical, executed, ns);
        let start_ns = slot.release_ns + self.timer.ns(slot.base, executed.start);
        let event = Event { slot: slot.number, component: entry.id, start_ns, execution_ns: ns };
        self.stats.trace(event);
        // Of an isolated component this was the request; its execution is told when the answer comes.
        if self.stats.log.is_some() && !entry.asked(event) {
            self.stats.tell(event);
        }
        let late = slot.left_ns != u64::MAX && self.timer.ns(slot.base, executed.end) > slot.left_ns;
        if late || executed.fault {
            self.missed(slot, index, if executed.fault { MissKind::Fault } else { MissKind::Late }, logical, 1, ns);
        }
    }

    /// Takes the answer of an isolated component to its last request.
    #[inline]
    fn collect(&mut self, slot: Slot, index: usize) {
        match self.table.entries[index].collect(slot.number, false) {
            None => {}
            Some((_, Answer::Done { ns })) => self.answered(index, ns),
            Some((logical, Answer::Fault { ns })) => {
                self.answered(index, ns);
                self.missed(slot, index, MissKind::Fault, logical, 1, ns);
            }
            Some((logical, Answer::None)) => self.missed(slot, index, MissKind::Unanswered, logical, 1, 0),
        }
    }

    /// The execution of an isolated component: in the slot and from the time of its request, as long as its process took.
    #[cold]
    fn answered(&mut self, index: usize, execution_ns: u64) {
        if let Some(event) = self.table.entries[index].last_asked() {
            self.stats.tell(Event { execution_ns, ..event });
        }
    }

    #[cold]
    fn passed_by(&mut self, slot: Slot, index: usize, upto: u64) {
        self.collect(slot, index);
        let entry = &mut self.table.entries[index];
        let (first, count) = (entry.next, upto - entry.next);
        entry.pass_by(upto);
        self.missed(slot, index, MissKind::Skipped, first, count, 0);
    }

    #[cold]
    fn missed(&mut self, slot: Slot, index: usize, kind: MissKind, logical: u64, count: u64, execution_ns: u64) {
        let entry = &mut self.table.entries[index];
        if kind == MissKind::Late {
            entry.stats.live.late.add(1);
            entry.degrade();
        }
        if entry.policy == MissPolicy::Stop {
            self.stop.request();
        }
        self.stats.miss(RawMiss {
            kind,
            component: entry.id,
            logical,
            count,
            slot: slot.number,
            release_ns: slot.release_ns,
            carried: slot.carried,
            execution_ns,
            window: [Event::default(); WINDOW],
            window_len: 0,
        });
    }

    #[inline]
    pub(crate) fn account(&mut self, slot: Slot, lateness_ns: Option<u64>) {
        let busy = self.timer.ns(slot.base, self.timer.read());
        self.stats.slots += 1;
        self.stats.busy.record_saturating(busy);
        if let Some(ns) = lateness_ns {
            self.stats.lateness.record_saturating(ns);
        }
    }
}

/// Waits for the packets of an entry and for room for what it makes. `false`: asked to stop, or told something. The latter
/// may be a change for which the very worker waits that this one waits for; what was executed of the slot is not executed
/// again afterwards.
#[inline]
fn wait_for(entry: &Entry, physical: u64, stop: &Stop, inbox: &Inbox, spins: u32) -> bool {
    if entry.ready(physical) {
        return true;
    }
    let mut patience = Patience::new(spins);
    while !entry.ready(physical) {
        if stop.requested() || inbox.has_news() {
            return false;
        }
        patience.pause();
    }
    true
}
