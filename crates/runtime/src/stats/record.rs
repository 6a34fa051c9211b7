//! Records of a worker about its own work.

use std::sync::Arc;

use takt_stats::{Histogram, Ns};

use super::{BOUND_NS, Live, Watched};
use crate::slot::Timer;
use crate::soft::Outgoing;

/// Executions a worker remembers.
const TRACE: usize = 4096;
/// One of so many executions says how long the opening of its ports took; a power of two.
const SAMPLED: u64 = 64;
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

/// An [`Event`] as it is kept, four to a cache line: the lower 32 bits of its slot, 20 of its component, 38 each of its times.
/// The longest slot is a minute, and 2^38 ticks of a counter of 3.5 GHz are 78 s: what takes longer is cut to that.
#[derive(Clone, Copy, Debug, Default)]
struct Kept(u128);

const TIME_BITS: u32 = 38;
const COMPONENT_BITS: u32 = 20;

impl Kept {
    #[inline]
    fn of(event: Event) -> Kept {
        let time = |ticks: u64| u128::from(ticks.min((1 << TIME_BITS) - 1));
        let component = event.component & ((1 << COMPONENT_BITS) - 1);
        let times = time(event.ticks) << TIME_BITS | time(event.start);
        Kept((times << COMPONENT_BITS | component as u128) << 32 | u128::from(event.slot as u32))
    }

    /// With the slot nearest to `last` that ends like this one.
    fn event(self, last: u64) -> Event {
        let low = |shift: u32, bits: u32| (self.0 >> shift) as u64 & ((1 << bits) - 1);
        let away = (low(0, 32) as u32).wrapping_sub(last as u32).cast_signed();
        Event {
            slot: last.wrapping_add_signed(away.into()),
            component: low(32, COMPONENT_BITS) as usize,
            start: low(32 + COMPONENT_BITS, TIME_BITS),
            ticks: low(32 + COMPONENT_BITS + TIME_BITS, TIME_BITS),
        }
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
    /// The data that the slot was to bring from outside were lost there.
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
    /// Last executions of the worker, oldest first.
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
    /// Changes of the plan it took part in, from the edge until it had caught up.
    pub(crate) changes: Histogram<Ns>,
    /// How long the worker watches the clock before an edge, as it has learned, and how long it has, in all.
    pub(crate) spin_ns: u64,
    pub(crate) watched_ns: u64,
    /// From the end of an execution to where the next component computes, of one execution in [`SAMPLED`].
    pub(crate) interface: Histogram<Ns>,
    trace: Box<[Kept; TRACE]>,
    traced: u64,
    /// Slot of the last execution.
    traced_slot: u64,
    /// Executions of the longest burst that was timed as a whole.
    pub(crate) burst: u64,
    pub(crate) misses: Vec<RawMiss>,
    pub(crate) misses_beyond: u64,
    /// Log that gets every execution as well, if there is one.
    pub(crate) log: Option<Outgoing<TraceEvent>>,
    /// Counts that others see while it runs, if they may.
    pub(crate) watched: Option<Watched>,
}

impl WorkerStats {
    pub(crate) fn new() -> WorkerStats {
        WorkerStats {
            lateness: Histogram::with_bound(BOUND_NS),
            busy: Histogram::with_bound(BOUND_NS),
            slots: 0,
            begun: 0,
            ended: 0,
            changes: Histogram::with_bound(BOUND_NS),
            spin_ns: 0,
            watched_ns: 0,
            interface: Histogram::with_bound(BOUND_NS),
            trace: Box::new([Kept::default(); TRACE]),
            traced: 0,
            traced_slot: 0,
            burst: 1,
            misses: Vec::with_capacity(MISSES),
            misses_beyond: 0,
            log: None,
            watched: None,
        }
    }

    #[inline]
    pub(crate) fn trace(&mut self, event: Event) {
        // TRACE is a power of two: the remainder is a mask.
        self.trace[self.traced as usize % TRACE] = Kept::of(event);
        self.traced += 1;
        self.traced_slot = event.slot;
    }

    /// Time that each execution of a burst is said to have taken.
    pub(crate) fn part_of_burst(&mut self, ticks: u64, executions: u64) -> u64 {
        self.burst = self.burst.max(executions);
        ticks / executions.max(1)
    }

    /// Before a component computes: the ports of one in so many took this long to open. `last`: the end of the execution before.
    #[inline]
    pub(crate) fn sample_interface(&mut self, last: u64, timer: &Timer) {
        if self.traced.is_multiple_of(SAMPLED) {
            self.interface.record_saturating(timer.ns(last, timer.read()));
        }
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
        let is_full = self.misses.len() == self.misses.capacity();
        if is_full {
            self.misses_beyond += 1;
        }
        if is_full && self.watched.is_none() {
            return;
        }
        let len = self.traced.min(WINDOW as u64) as usize;
        for (n, place) in miss.window.iter_mut().take(len).enumerate() {
            *place = self.trace[(self.traced as usize - len + n) % TRACE].event(self.traced_slot);
        }
        miss.window_len = len;
        if let Some(watched) = &mut self.watched {
            watched.miss(&miss);
        }
        if !is_full {
            self.misses.push(miss);
        }
    }

    /// Remembered executions, oldest first.
    pub(crate) fn events(&self) -> impl Iterator<Item = Event> + '_ {
        let len = self.traced.min(TRACE as u64);
        (self.traced - len..self.traced).map(|n| self.trace[n as usize % TRACE].event(self.traced_slot))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_kept_whole_up_to_a_minute_and_a_slot_is_the_nearest() {
        let minute = 60 * 4_500_000_000;
        for slot in [0, 7, u64::from(u32::MAX), 1 << 32, (1 << 40) + 5] {
            for component in [0, 4095, (1 << 20) - 1] {
                for (start, ticks) in [(0, 0), (minute, minute), (1, minute)] {
                    let event = Event { slot, component, start, ticks };
                    for last in [slot, slot + 4096, slot.saturating_sub(4096)] {
                        assert_eq!(Kept::of(event).event(last), event, "after {last}");
                    }
                }
            }
        }
        let long = Kept::of(Event { start: u64::MAX, ticks: u64::MAX, ..Event::default() }).event(0);
        assert_eq!((long.slot, long.component, long.start, long.ticks), (0, 0, (1 << 38) - 1, (1 << 38) - 1));
    }
}
