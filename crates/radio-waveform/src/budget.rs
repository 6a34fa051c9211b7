//! Parts of an answer's time. Its stages follow one another without a gap, from the instant the radio took the last
//! sample of the slot, by its own clock.

use std::sync::atomic::{AtomicU64, Ordering};

use takt_base::MonoNs;
use takt_graph::Value;
use takt_stats::{Histogram, Ns};

/// Slots remembered: more than a plan is deep.
const SLOTS: usize = 64;

/// Receivers of a radio, each with a component of its own, perhaps on a worker of its own.
const CHANNELS: usize = 2;

/// Longest time told apart, ns.
const BOUND_NS: u64 = 1_000_000_000;

/// When slots arrived and were begun with, from those who see it to who answers.
#[derive(Debug)]
pub(crate) struct Timeline([Stamp; SLOTS]);

#[derive(Debug)]
struct Stamp {
    /// Number of the slot, and one more; 0: of none.
    slot: AtomicU64,
    arrived: AtomicU64,
    /// By the component of each channel: nobody else writes there, so nobody has to take turns. `u64::MAX`: not yet.
    taken: [AtomicU64; CHANNELS],
}

/// Times of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Observed {
    /// Its last datagram was in this host.
    pub(crate) arrived: MonoNs,
    /// The first component began with it.
    pub(crate) taken: MonoNs,
}

impl Timeline {
    pub(crate) fn new() -> Timeline {
        let none = || AtomicU64::new(0);
        Timeline(std::array::from_fn(|_| Stamp { slot: none(), arrived: none(), taken: [none(), none()] }))
    }

    /// The place of a slot.
    fn stamp(&self, slot: u64) -> &Stamp {
        &self.0[slot as usize % SLOTS]
    }

    /// Its last datagram is in this host. Reported before the slot is released.
    pub(crate) fn arrived(&self, slot: u64, at: MonoNs) {
        let stamp = self.stamp(slot);
        stamp.arrived.store(at.0, Ordering::Relaxed);
        stamp.taken.iter().for_each(|taken| taken.store(u64::MAX, Ordering::Relaxed));
        stamp.slot.store(slot + 1, Ordering::Release);
    }

    /// The component of a channel, the first or the second, begins with it. The earlier of both counts.
    pub(crate) fn taken(&self, slot: u64, channel: usize, at: MonoNs) {
        let stamp = self.stamp(slot);
        if let Some(taken) = stamp.taken.get(channel)
            && stamp.slot.load(Ordering::Acquire) == slot + 1
        {
            taken.store(at.0, Ordering::Release);
        }
    }

    /// Times of a slot; `None` where it did not arrive, was not begun with, or is too long ago.
    pub(crate) fn observed(&self, slot: u64) -> Option<Observed> {
        let stamp = self.stamp(slot);
        let taken = stamp.taken.iter().map(|taken| taken.load(Ordering::Acquire)).min().unwrap_or(u64::MAX);
        let arrived = stamp.arrived.load(Ordering::Relaxed);
        let known = stamp.slot.load(Ordering::Acquire) == slot + 1 && taken != u64::MAX;
        known.then_some(Observed { arrived: MonoNs(arrived), taken: MonoNs(taken) })
    }
}

/// The instants of one answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReplyTrace {
    /// The answered slot began, by the radio's clock.
    pub(crate) since: MonoNs,
    /// The radio took the slot's last sample.
    pub(crate) ended: MonoNs,
    /// Its last datagram was in this host.
    pub(crate) arrived: MonoNs,
    /// The first component began with it.
    pub(crate) taken: MonoNs,
    /// The answer was ready to be sent.
    pub(crate) ready: MonoNs,
    /// The kernel had it.
    pub(crate) sent: MonoNs,
}

/// Stages of an answer, in their order.
pub(crate) const STAGES: [&str; 5] = ["air_us", "transfer_us", "wakeup_us", "processing_us", "answer_us"];

impl ReplyTrace {
    /// How long each stage took, ns. They add up to [`ReplyTrace::total_ns`] exactly, whatever the clocks of radio and
    /// host disagree about: an instant that seems to lie before the one before it counts as that.
    pub(crate) fn stages_ns(&self) -> [u64; 5] {
        let ReplyTrace { since, ended, arrived, taken, ready, sent } = *self;
        let mut at = since;
        [ended, arrived, taken, ready, sent].map(|next| {
            let stage = next.0.saturating_sub(at.0);
            at = at.max(next);
            stage
        })
    }

    /// From what is answered to the answer in the kernel, ns.
    pub(crate) fn total_ns(&self) -> u64 {
        let ReplyTrace { since, ended, arrived, taken, ready, sent } = *self;
        [ended, arrived, taken, ready, sent].map(|at| at.0.saturating_sub(since.0)).into_iter().max().unwrap_or(0)
    }
}

/// Stages of all answers.
pub(crate) struct Budget {
    stages: [Histogram<Ns>; 5],
    total: Histogram<Ns>,
    /// Time left until the radio needed it, where there was any.
    ahead: Histogram<Ns>,
}

impl Budget {
    pub(crate) fn new() -> Budget {
        let empty = || Histogram::with_bound(BOUND_NS);
        Budget { stages: std::array::from_fn(|_| empty()), total: empty(), ahead: empty() }
    }

    /// An answer that was sent then, and was to be there at `due`.
    pub(crate) fn sent(&mut self, sent: MonoNs, due: MonoNs) {
        self.ahead.record_saturating(due.0.saturating_sub(sent.0));
    }

    /// The course of an answer whose slot was begun with before.
    pub(crate) fn record(&mut self, course: &ReplyTrace) {
        for (stage, ns) in self.stages.iter_mut().zip(course.stages_ns()) {
            stage.record_saturating(ns);
        }
        self.total.record_saturating(course.total_ns());
    }

    /// Each stage in us: at p50, at p99, at most; how far ahead answers were: at p50, at p1, at least. A plan that answers a slot
    /// before it takes the next one has no stages.
    pub(crate) fn results(&self) -> Vec<(&'static str, Value)> {
        let us = |ns: Option<u64>| (ns.unwrap_or(BOUND_NS) / 100) as f64 / 10.0;
        let high = |h: &Histogram<Ns>| Value::Floats(vec![us(h.quantile(0.5)), us(h.quantile(0.99)), us(h.max())]);
        let low = |h: &Histogram<Ns>| Value::Floats(vec![us(h.quantile(0.5)), us(h.quantile(0.01)), us(h.min())]);
        let mut results = Vec::new();
        if !self.total.is_empty() {
            results.extend(STAGES.into_iter().zip(self.stages.iter().map(high)));
            results.push(("total_us", high(&self.total)));
        }
        if !self.ahead.is_empty() {
            results.push(("ahead_us", low(&self.ahead)));
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn stages_add_up_to_the_total_even_where_clocks_disagree(at in prop::array::uniform6(0u64..10_000_000)) {
            let [since, ended, arrived, taken, ready, sent] = at.map(MonoNs);
            let course = ReplyTrace { since, ended, arrived, taken, ready, sent };
            prop_assert_eq!(course.stages_ns().iter().sum::<u64>(), course.total_ns());
        }
    }

    #[test]
    fn a_slot_is_seen_once_it_arrived_and_was_begun_with_and_until_its_place_is_anothers() {
        let timeline = Timeline::new();
        assert_eq!(timeline.observed(5), None);
        timeline.taken(5, 0, MonoNs(1));
        assert_eq!(timeline.observed(5), None, "did not arrive");
        timeline.arrived(5, MonoNs(10));
        assert_eq!(timeline.observed(5), None, "nobody began");
        timeline.taken(5, 1, MonoNs(40));
        timeline.taken(5, 0, MonoNs(30));
        assert_eq!(timeline.observed(5), Some(Observed { arrived: MonoNs(10), taken: MonoNs(30) }));
        timeline.arrived(5 + SLOTS as u64, MonoNs(99));
        assert_eq!(timeline.observed(5), None);
    }
}
