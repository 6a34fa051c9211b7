//! [`Worker`]: the entries of one core, slot after slot.
//!
//! In a slot it looks at the commands that wait for the edge, then executes its entries in their static order: look at
//! the links, execute, record, hand over. Its only system call is the clock's sleep.

use std::sync::Arc;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_graph::MissPolicy;

use super::inbox::{Ending, Inbox};
use crate::isolated::Answer;
use crate::slot::{Edges, Patience, Sleeper, Timer};
use crate::stats::{Event, MissKind, RawMiss, TraceEvent, WINDOW, WorkerStats};
use crate::table::{Due, Entry, Executed, Recorder, Table};

pub(crate) struct Worker {
    pub(crate) table: Table,
    pub(crate) stats: WorkerStats,
    pub(crate) timer: Timer,
    /// The timer at the end of what it did last: where its next execution begins.
    pub(crate) now: u64,
    pub(crate) inbox: Inbox,
    pub(crate) stop: Stop,
    /// Another worker died by a mistake of ours: nothing comes from it any more.
    pub(crate) broken: Stop,
    pub(crate) ending: Ending,
    /// Edges of the slots, if there are any.
    pub(crate) edges: Option<Arc<dyn Edges>>,
    /// Looks at a link before others are let run.
    pub(crate) spins: u32,
    /// Length of a slot under a clock, in ticks of the timer; without one, `u64::MAX`.
    pub(crate) slot_ticks: u64,
}

/// The physical slot a worker is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) number: u64,
    /// The timer at its edge.
    pub(crate) edge: u64,
    /// The timer at its release.
    pub(crate) base: u64,
    /// The timer at its deadline; `u64::MAX` where there is none.
    pub(crate) deadline: u64,
    /// From the edge to the release.
    pub(crate) release_ns: u64,
    /// The worker was still busy with an earlier slot at the edge.
    pub(crate) carried: bool,
}

impl Slot {
    /// A slot without an edge.
    pub(crate) fn free(number: u64, base: u64) -> Slot {
        Slot { number, edge: base, base, deadline: u64::MAX, release_ns: 0, carried: false }
    }

    /// The slot that reports those lost when all is over.
    pub(crate) fn behind(number: u64) -> Slot {
        Slot { carried: true, ..Slot::free(number, 0) }
    }

    /// A slot released at `base`, so long after its edge and before its deadline.
    pub(crate) fn timed(number: u64, base: u64, release_ns: u64, left_ns: u64, timer: &Timer) -> Slot {
        let edge = base.saturating_sub(timer.ticks_of(release_ns));
        let deadline = base.saturating_add(timer.ticks_of(left_ns));
        Slot { number, edge, base, deadline, release_ns, carried: false }
    }
}

impl Worker {
    /// Each slot follows the last, in bursts of so many; waits for other workers' packets. Answers the first slot not
    /// executed.
    pub(crate) fn run_free(&mut self, first: u64, burst: u64) -> u64 {
        let mut number = first;
        self.now = self.timer.read();
        while let Some(next) = self.go_on(number) {
            number = next;
            let slot = Slot::free(number, self.now);
            let until = self.burst_until(number, burst);
            if self.burst(slot, until) {
                self.account(slot, until - number, None);
                number = until;
            }
        }
        number
    }

    /// End of a burst that begins with slot `number`: with that slot, while anything waits for an edge or for another
    /// process.
    fn burst_until(&self, number: u64, burst: u64) -> u64 {
        // The cheap answer first: slot by slot this is asked in each.
        let single = burst == 1
            || self.table.pending > 0
            || !self.inbox.is_empty()
            || self.table.entries.iter().any(Entry::is_isolated);
        number.saturating_add(if single { 1 } else { burst }).min(self.table.end)
    }

    /// Slots begin at their edges; what is not there in time is missing.
    pub(crate) fn run_timed(&mut self, first: u64, edges: &Arc<dyn Edges>, mut sleeper: Sleeper) -> u64 {
        let mut number = first;
        let mut free_at = MonoNs(0);
        self.edges = Some(Arc::clone(edges));
        self.slot_ticks = self.timer.ticks_of(edges.due(1).0.saturating_sub(edges.due(0).0));
        loop {
            let due = edges.due(number);
            let now = edges.wait(number, &mut sleeper, &self.stop).unwrap_or(due);
            let base = self.timer.read();
            self.now = base;
            let Some(next) = self.go_on(number) else { break };
            if next != number {
                // A change went on with a later slot.
                number = next;
                continue;
            }
            let release_ns = now.0.saturating_sub(due.0);
            let left_ns = edges.due(number + 1).0.saturating_sub(now.0);
            let slot = Slot::timed(number, base, release_ns, left_ns, &self.timer);
            let slot = Slot { carried: free_at > due, ..slot };
            self.pass_by_missed(slot);
            self.slot(slot);
            self.account(slot, 1, Some(release_ns));
            free_at = WallClock.now();
            number = edges.slot_at(free_at).max(number + 1);
        }
        if !self.stop.requested() {
            // The last slots may have been lost: they count.
            let end = Slot::behind(self.table.end);
            self.pass_by_missed(end);
            (0..self.table.entries.len()).for_each(|index| self.collect(end, index, false));
        }
        (self.stats.spin_ns, self.stats.watched_ns) = (sleeper.spin_ns(), sleeper.watched_ns());
        number
    }

    /// Work before physical slot `number`: commands, and at the end or at a stop the changes that others wait for.
    /// Answers the slot to go on with, if there is one.
    #[inline]
    fn go_on(&mut self, number: u64) -> Option<u64> {
        let leaving = number >= self.table.end || self.stop.requested();
        if leaving {
            return self.leave(number);
        }
        if self.inbox.is_empty() && self.table.pending == 0 {
            return Some(number);
        }
        let next = self.commands(number, false)?;
        // A change's remaining executions may have been given up meanwhile.
        if self.stop.requested() { self.leave(next) } else { Some(next) }
    }

    /// Does what is due at the edge of a slot. Answers the slot to go on with; `None`: another worker died.
    #[cold]
    fn commands(&mut self, mut number: u64, leaving: bool) -> Option<u64> {
        let edge = self.timer.read();
        while let Some(command) = self.inbox.next(number, leaving, &self.table) {
            let Worker { inbox, table, stop, edges, .. } = self;
            let may_go_on = || may_go_on(stop, edges.as_ref());
            number = inbox.perform(command, number, table, &may_go_on)?;
            if self.table.is_behind() {
                self.catch_up(number);
                self.wait_for_others();
                self.stats.changes.record_saturating(self.timer.ns(edge, self.timer.read()));
            }
        }
        self.table.settle(number);
        self.now = self.timer.read();
        Some(number)
    }

    /// Executes of its own entries what a new plan would have executed before physical slot `at`.
    fn catch_up(&mut self, at: u64) {
        let entries = &self.table.entries;
        let first = entries.iter().map(|entry| entry.next + entry.depth).min().unwrap_or(at);
        for physical in first.min(at)..at {
            let slot = Slot::free(physical, self.timer.read());
            for index in 0..self.table.entries.len() {
                self.wait_for_packets(physical, index);
                if !may_go_on(&self.stop, self.edges.as_ref()) {
                    return;
                }
                self.now = self.timer.read();
                self.collect(slot, index, true);
                if let Some((logical, executed)) = self.start(slot, index) {
                    self.finish(slot, index, logical, executed);
                }
            }
        }
    }

    /// On a clock, waits until all workers have caught up after a change.
    fn wait_for_others(&self) {
        let Some(caught_up) = &self.table.caught_up else { return };
        caught_up.say();
        let mut patience = Patience::new(u32::MAX);
        while self.is_timed() && !caught_up.by_all() && !self.broken.requested() {
            patience.pause();
        }
    }

    /// Whether slots have a beat: then each worker has a core of its own, and makes no system call while it waits.
    fn is_timed(&self) -> bool {
        self.slot_ticks != u64::MAX
    }

    /// Waits for what an entry reads in a physical slot, and for room: the workers that bring it are in the same change. Under
    /// a clock no longer than a slot, since a slot that was lost brings nothing.
    fn wait_for_packets(&self, physical: u64, index: usize) {
        let entry = &self.table.entries[index];
        let Due::Slot { slot: logical, missed: 0 } = entry.due(physical) else { return };
        let ready = || if entry.is_isolated() { entry.ready(physical) } else { entry.ready_until() > logical };
        let mut patience = Patience::new(if self.is_timed() { u32::MAX } else { self.spins });
        let until = self.timer.read().saturating_add(self.slot_ticks);
        let given_up = || self.broken.requested() || self.stop.requested();
        while !ready() && !given_up() && self.timer.read() < until {
            patience.pause();
        }
    }

    #[cold]
    fn leave(&mut self, number: u64) -> Option<u64> {
        self.ending.end();
        let number = self.commands(number, true)?;
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

    /// Executes all slots from this one to below `until`: each entry as many in a row as its links have packets and room
    /// for. `false`: it is to stop, or a command has come, which may be a change that the other worker, for which this
    /// one waits, is already waiting in. The slots executed until then are not executed again.
    fn burst(&mut self, slot: Slot, until: u64) -> bool {
        let mut patience = Patience::new(self.spins);
        loop {
            let before = self.stats.executions();
            let mut left = false;
            for index in 0..self.table.entries.len() {
                left |= !self.burst_of(slot, index, until);
            }
            if !left {
                return true;
            }
            if self.stats.executions() != before {
                patience = Patience::new(self.spins);
                continue;
            }
            if self.stop.requested() || self.inbox.has_news() {
                return false;
            }
            patience.pause();
            self.now = self.timer.read();
        }
    }

    /// One entry's part of a burst, as far as can be. Answers whether that is all of it.
    #[inline]
    fn burst_of(&mut self, slot: Slot, index: usize, until: u64) -> bool {
        let entry = &self.table.entries[index];
        if entry.is_isolated() {
            return self.isolated(slot, index);
        }
        let last = until.saturating_sub(entry.depth).min(entry.until);
        loop {
            let Worker { table: Table { entries, reached, warm, .. }, stats, timer, now, .. } = self;
            let entry = &mut entries[index];
            let next = entry.next;
            if next >= last {
                return true;
            }
            let ready = entry.ready_until().min(last);
            if ready <= next {
                return false;
            }
            *reached = ready.saturating_add(entry.depth).max(*reached);
            let depth = entry.depth;
            let broken = entry.burst(next..ready, &mut Recorder { timer, now, stats, warm, edge: slot.edge });
            if let Some(broken) = broken {
                let number = broken.slot + depth;
                self.missed(Slot { number, ..slot }, index, broken.kind, broken.slot, 1, broken.ns);
            }
        }
    }

    /// A slot of a component in another process; `false`: it can't be gone on with yet.
    #[cold]
    fn isolated(&mut self, slot: Slot, index: usize) -> bool {
        let ready = self.table.entries[index].ready(slot.number);
        if ready && let Some((logical, executed)) = self.start(slot, index) {
            self.finish(slot, index, logical, executed);
        }
        ready
    }

    /// Executes an entry's logical slot, if it is due and its deadline has not passed.
    #[inline]
    pub(crate) fn start(&mut self, slot: Slot, index: usize) -> Option<(u64, Executed)> {
        if self.table.entries[index].is_isolated() {
            self.collect(slot, index, false);
        }
        let Due::Slot { slot: logical, missed: 0 } = self.table.entries[index].due(slot.number) else { return None };
        if self.now > slot.deadline {
            self.passed_by(slot, index, logical + 1);
            return None;
        }
        let Worker { table, stats, timer, now, .. } = self;
        let executed = table.entries[index].execute(logical, *now, timer, Some(stats));
        *now = executed.end;
        Some((logical, executed))
    }

    /// Hands over what an entry made, and records how long it took.
    #[inline(always)]
    pub(crate) fn finish(&mut self, slot: Slot, index: usize, logical: u64, executed: Executed) {
        let ticks = executed.ticks();
        let ns = self.timer.ns_of(ticks);
        let entry = &mut self.table.entries[index];
        entry.publish(logical, executed, ns);
        let start = executed.start.saturating_sub(slot.edge);
        let event = Event { slot: slot.number, component: entry.id, start, ticks };
        self.stats.trace(event);
        // For an isolated component this was the request; its execution is logged when the answer comes.
        if self.stats.log.is_some() && !entry.requested(event) {
            self.stats.log(event.in_ns(&self.timer));
        }
        let late = executed.end > slot.deadline;
        let kind = if executed.fault {
            MissKind::Fault
        } else if executed.lost {
            MissKind::Lost
        } else {
            MissKind::Late
        };
        if late || executed.fault || executed.lost {
            self.missed(slot, index, kind, logical, 1, ns);
        }
    }

    /// Takes the answer of an isolated component to its last request; `patient`: waits for it a slot at most.
    #[inline]
    fn collect(&mut self, slot: Slot, index: usize, patient: bool) {
        match self.table.entries[index].collect(slot.number, patient) {
            None => {}
            Some((_, Answer::Done { ns })) => self.answered(index, ns),
            Some((logical, Answer::Lost { ns })) => {
                self.answered(index, ns);
                self.missed(slot, index, MissKind::Lost, logical, 1, ns);
            }
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
        if let Some(remote) = self.table.entries[index].remote() {
            self.stats.log(TraceEvent { execution_ns, ..remote.requested.in_ns(&self.timer) });
        }
    }

    #[cold]
    fn passed_by(&mut self, slot: Slot, index: usize, upto: u64) {
        self.collect(slot, index, false);
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

    /// Counts so many slots, which took as long as has passed since the release of the first, each the same part of it.
    pub(crate) fn account(&mut self, slot: Slot, slots: u64, lateness_ns: Option<u64>) {
        let end = self.timer.read();
        self.now = end;
        let busy = self.timer.ns(slot.base, end);
        if self.stats.slots == 0 {
            self.stats.begun = slot.base;
        }
        self.stats.ended = end;
        self.stats.slots += slots;
        self.stats.busy.record_n_saturating(busy / slots.max(1), slots);
        if let Some(ns) = lateness_ns {
            self.stats.lateness.record_saturating(ns);
        }
        if let Some(watched) = &self.stats.watched {
            watched.slots(slots, lateness_ns);
        }
    }
}

/// Whether slots that a change finds left over may be executed: nobody asked to stop, and the clock, if there is one, allows
/// it.
fn may_go_on(stop: &Stop, edges: Option<&Arc<dyn Edges>>) -> bool {
    !stop.requested() && edges.is_none_or(|edges| edges.may_go_on(stop))
}
