//! A waveform on a virtual clock: all workers in one thread, every event at its time, without waiting.
//!
//! The rules are those of the wall clock: slots begin at their edges, what is not there in time is missing, a worker that
//! was busy goes on with the slot the time is in. Executions take no time but what [`Io::occupy`](crate::Io::occupy) says.
//! So a stall, and who suffers from it, is the same in every run, to the nanosecond.

use takt_base::Stop;
use takt_graph::{Graph, Plan};

use super::start::{Session, prepared};
use crate::options::SessionOptions;
use crate::report::{Report, report};
use crate::slot::{SlotClock, Timer};
use crate::table::{Body, Entry, Executed, Table, make};
use crate::worker::{Ending, Slot, Worker, mailbox};

struct Simulated {
    worker: Worker,
    now_ns: u64,
    next: Next,
    free_at_ns: u64,
}

/// In the order in which events of one instant happen: what was made is handed over before a consumer looks for it.
#[derive(Clone, Copy, Debug)]
enum Next {
    Finish { slot: Slot, index: usize, logical: u64, executed: Executed },
    Edge { number: u64 },
    Start { slot: Slot, index: usize },
    Ended,
}

impl Next {
    fn rank(&self) -> u8 {
        match self {
            Next::Finish { .. } => 0,
            Next::Edge { .. } => 1,
            Next::Start { .. } => 2,
            Next::Ended => 3,
        }
    }
}

impl Session {
    /// Runs all slots on a virtual clock.
    ///
    /// # Panics
    /// Without a number of slots: virtual time has no end of its own.
    #[must_use]
    pub fn simulate(self) -> Report {
        let Session { graph, plan, options, tables } = self;
        let options = SessionOptions { clock: SlotClock::Wall, ..options };
        let mut tables = remade(&graph, &plan, &options, tables);
        for entry in tables.iter_mut().flat_map(|table| &mut table.entries) {
            // The work of another process takes no virtual time.
            if let Body::Isolated(remote) = &mut entry.component {
                remote.waits = true;
            }
        }
        assert!(options.slots.is_some(), "a simulation has a number of slots");
        let stop = Stop::new();
        let slot_ns = graph.slot_ns();
        let simulated = |table| {
            let worker = prepared(table, Timer::stands_at(0), mailbox().1, stop.clone(), Ending::default(), 0);
            Simulated { worker, now_ns: 0, next: Next::Edge { number: 0 }, free_at_ns: 0 }
        };
        let mut workers: Vec<Simulated> = tables.into_iter().map(simulated).collect();
        while let Some(worker) = earliest(&mut workers) {
            worker.step(slot_ns);
        }
        let workers: Vec<Worker> = workers.into_iter().map(|simulated| simulated.worker).collect();
        report(&graph, &plan, &workers, graph.components(), Vec::new())
    }
}

/// The same components in tables with the rings that these options ask for.
fn remade(graph: &Graph, plan: &Plan, options: &SessionOptions, tables: Vec<Table>) -> Vec<Table> {
    let mut entries: Vec<Entry> = tables.into_iter().flat_map(|table| table.entries).collect();
    entries.sort_by_key(|entry| entry.id);
    let ids: Vec<usize> = entries.iter().map(|entry| entry.id).collect();
    let components = entries.into_iter().map(|entry| entry.component).collect();
    make(graph, plan, components, &ids, options, &|_| 0).expect("no more memory than when it was opened")
}

fn earliest(workers: &mut [Simulated]) -> Option<&mut Simulated> {
    let going = workers.iter_mut().filter(|worker| !matches!(worker.next, Next::Ended));
    going.min_by_key(|worker| (worker.now_ns, worker.next.rank()))
}

impl Simulated {
    fn step(&mut self, slot_ns: u64) {
        (self.worker.timer, self.worker.now) = (Timer::stands_at(self.now_ns), self.now_ns);
        match self.next {
            Next::Edge { number } => self.edge(number, slot_ns),
            Next::Start { slot, index } => match self.worker.start(slot, index) {
                Some((logical, executed)) => {
                    self.now_ns = executed.end;
                    self.next = Next::Finish { slot, index, logical, executed };
                }
                None => self.after(slot, index, slot_ns),
            },
            Next::Finish { slot, index, logical, executed } => {
                self.worker.finish(slot, index, logical, executed);
                self.after(slot, index, slot_ns);
            }
            Next::Ended => {}
        }
    }

    fn edge(&mut self, number: u64, slot_ns: u64) {
        if number >= self.worker.table.end || self.worker.stop.requested() {
            self.end();
            return;
        }
        let due = number * slot_ns;
        let release_ns = self.now_ns - due;
        let left_ns = (due + slot_ns).saturating_sub(self.now_ns);
        let slot = Slot::timed(number, self.now_ns, release_ns, left_ns, &self.worker.timer);
        let slot = Slot { carried: self.free_at_ns > due, ..slot };
        self.next = Next::Start { slot, index: 0 };
        self.worker.pass_by_missed(slot);
        if self.worker.table.entries.is_empty() {
            self.after(slot, 0, slot_ns);
        }
    }

    fn end(&mut self) {
        self.next = Next::Ended;
        if !self.worker.stop.requested() {
            self.worker.pass_by_missed(Slot::behind(self.worker.table.end));
        }
    }

    fn after(&mut self, slot: Slot, index: usize, slot_ns: u64) {
        if index + 1 < self.worker.table.entries.len() {
            self.next = Next::Start { slot, index: index + 1 };
            return;
        }
        self.worker.account(slot, 1, Some(slot.release_ns));
        self.free_at_ns = self.now_ns;
        let number = (self.now_ns / slot_ns).max(slot.number + 1);
        self.now_ns = self.now_ns.max(number * slot_ns);
        self.next = Next::Edge { number };
    }
}
