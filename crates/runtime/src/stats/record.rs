//! What a worker records of its own work.

use std::sync::Arc;

use takt_stats::{Histogram, Ns};

use super::{BOUND_NS, Live};
use crate::slot::Timer;
use crate::soft::Outgoing;

/// Executions a worker remembers.
const TRACE: usize = 4096;
/// Misses a worker remembers with all their circumstances; further ones are counted.
const MISSES: usize = 256;
/// Executions remembered around a miss.
pub(crate) const WINDOW: usize = 32;

#[derive(Clone, Debug, Default)]
pub(crate) struct EntryStats {
    /// Shared with readers while it runs.
    pub(crate) live: Arc<Live>,
    pub(crate) degraded: bool,
}

/// One execution in a worker's memory, in ticks of its timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) slot: u64,
    pub(crate) component: usize,
    /// From the edge of the slot.
    pub(crate) start: u64,
    pub(crate) ticks: u64,
}

impl Event {
    pub(crate) fn in_ns(self, timer: &Timer) -> TraceEvent {
        let Event { slot, component, start, ticks } = self;
        TraceEvent { slot, component, start_ns: timer.ns_of(start), execution_ns: timer.ns_of(ticks) }
    }
}

/// One execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct TraceEvent {
    /// Physical slot.
    pub slot: u64,
    /// Index of the component.
    pub component: usize,
    /// From the edge of the slot, or from its release under a free clock.
    pub start_ns: u64,
    /// How long.
    pub execution_ns: u64,
}

/// How a slot was missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MissKind {
    /// It runs in a process of its own, which gave no answer in time: it is slow, hangs, or is gone.
    Unanswered,
    /// It was executed and ended behind its deadline.
    Late,
    /// It was not executed: its deadline had passed before it could start.
    Skipped,
    /// The component panicked.
    Fault,
    /// What the slot was to bring from outside was lost there.
    Lost,
}

/// A miss as the worker recorded it; the report works out the culprit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawMiss {
    pub(crate) kind: MissKind,
    pub(crate) component: usize,
    /// First logical slot missed, and how many in a row.
    pub(crate) logical: u64,
    pub(crate) count: u64,
    /// Physical slot in which it was found.
    pub(crate) slot: u64,
    pub(crate) release_ns: u64,
    /// Whether the worker was still busy with an earlier slot at the edge.
    pub(crate) carried: bool,
    pub(crate) execution_ns: u64,
    pub(crate) window: [Event; WINDOW],
    pub(crate) window_len: usize,
}

impl RawMiss {
    /// What the worker executed last, oldest first.
    pub(crate) fn window(&self) -> &[Event] {
        &self.window[..self.window_len]
    }
}

pub(crate) struct WorkerStats {
    pub(crate) lateness: Histogram<Ns>,
    /// From release to the end of the last entry.
    pub(crate) busy: Histogram<Ns>,
    pub(crate) slots: u64,
    /// The timer at the release of the first slot, and at the end of the last.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
    trace: Box<[Event; TRACE]>,
    traced: u64,
    pub(crate) misses: Vec<RawMiss>,
    pub(crate) misses_beyond: u64,
    /// Where every execution goes as well, if there is a log.
    pub(crate) log: Option<Outgoing<TraceEvent>>,
}

impl WorkerStats {
    pub(crate) fn new() -> WorkerStats {
        WorkerStats {
            lateness: Histogram::with_bound(BOUND_NS),
            busy: Histogram::with_bound(BOUND_NS),
            slots: 0,
            begun: 0,
            ended: 0,
            trace: Box::new([Event::default(); TRACE]),
            traced: 0,
            misses: Vec::with_capacity(MISSES),
            misses_beyond: 0,
            log: None,
        }
    }

    #[inline]
    pub(crate) fn trace(&mut self, event: Event) {
        // TRACE is a power of two: the remainder is a mask.
        self.trace[self.traced as usize % TRACE] = event;
        self.traced += 1;
    }

    /// Puts an execution into the log, in whatever process it was.
    #[inline]
    pub(crate) fn log(&mut self, event: TraceEvent) {
        if let Some(log) = &mut self.log {
            log.give(&[event]);
        }
    }

    pub(crate) fn executions(&self) -> u64 {
        self.traced
    }

    #[cold]
    pub(crate) fn miss(&mut self, mut miss: RawMiss) {
        if self.misses.len() == self.misses.capacity() {
            self.misses_beyond += 1;
            return;
        }
        let len = self.traced.min(WINDOW as u64) as usize;
        for (n, place) in miss.window.iter_mut().take(len).enumerate() {
            *place = self.trace[(self.traced as usize - len + n) % TRACE];
        }
        miss.window_len = len;
        self.misses.push(miss);
    }

    /// What is remembered, oldest first.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let len = self.traced.min(TRACE as u64);
        (self.traced - len..self.traced).map(|n| self.trace[n as usize % TRACE])
    }
}
