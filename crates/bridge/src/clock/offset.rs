//! How far a clock is from another, from questions and answers.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The reference's clock less this machine's, as last estimated; 0 where this machine is the reference.
#[derive(Debug, Default)]
pub struct Offset {
    ns: AtomicI64,
    bound_ns: AtomicU64,
}

impl Offset {
    /// The reference's clock less this machine's, ns.
    #[must_use]
    pub fn ns(&self) -> i64 {
        self.ns.load(Ordering::Relaxed)
    }

    /// How far off that is at most, ns: half of what the way there and back took. More if the way there takes longer than the way
    /// back is impossible within that.
    #[must_use]
    pub fn bound_ns(&self) -> u64 {
        self.bound_ns.load(Ordering::Relaxed)
    }

    /// Says so; both 0 on the machine that becomes the reference.
    pub fn set(&self, ns: i64, bound_ns: u64) {
        self.ns.store(ns, Ordering::Relaxed);
        self.bound_ns.store(bound_ns, Ordering::Relaxed);
    }
}

/// One question and its answer. Times are of either machine's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exchange {
    pub(super) requested_ns: u64,
    pub(super) received_ns: u64,
    pub(super) sent_ns: u64,
    pub(super) answered_ns: u64,
}

impl Exchange {
    /// The other's clock less ours (RFC 5905, section 8).
    fn offset_ns(self) -> i64 {
        let difference = |theirs: u64, ours: u64| theirs.wrapping_sub(ours) as i64;
        let (there, back) =
            (difference(self.received_ns, self.requested_ns), difference(self.sent_ns, self.answered_ns));
        there / 2 + back / 2
    }

    /// What both ways took.
    fn way_ns(self) -> u64 {
        let there_and_back = self.answered_ns.saturating_sub(self.requested_ns);
        there_and_back.saturating_sub(self.sent_ns.saturating_sub(self.received_ns))
    }
}

/// Exchanges kept.
const KEPT: usize = 16;

/// How far an estimate moves at a time, once there is one: edges must not jump.
pub(super) const STEP_NS: i64 = 50_000;

/// Estimates an offset: the exchange with the shortest way says it, of the last few.
#[derive(Debug, Default)]
pub(super) struct Estimate {
    kept: std::collections::VecDeque<Exchange>,
    now_ns: Option<i64>,
}

impl Estimate {
    /// The estimate after one more exchange, and how far off it is at most.
    pub(super) fn after(&mut self, exchange: Exchange) -> (i64, u64) {
        self.kept.push_back(exchange);
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
        let best = self.kept.iter().copied().min_by_key(|exchange| exchange.way_ns()).unwrap_or(exchange);
        let (goal, bound_ns) = (best.offset_ns(), best.way_ns() / 2);
        let ns = self.now_ns.map_or(goal, |now| now + goal.saturating_sub(now).clamp(-STEP_NS, STEP_NS));
        self.now_ns = Some(ns);
        (ns, bound_ns + goal.abs_diff(ns))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn exchange(at: u64, offset: i64, there: u64, back: u64) -> Exchange {
        let received_ns = (at + there).wrapping_add_signed(offset);
        let sent_ns = received_ns.wrapping_add(1_000);
        Exchange { requested_ns: at, received_ns, sent_ns, answered_ns: at + there + 1_000 + back }
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bound(
            offset in -1_000_000_000_i64..1_000_000_000,
            ways in prop::collection::vec((1_000..1_000_000_u64, 1_000..1_000_000_u64), 1..40),
        ) {
            let mut estimate = Estimate::default();
            for (n, (there, back)) in ways.into_iter().enumerate() {
                let (ns, bound_ns) = estimate.after(exchange(5_000_000_000 + n as u64 * 1_000_000, offset, there, back));
                prop_assert!(ns.abs_diff(offset) <= bound_ns + 1, "{} {} {}", ns, offset, bound_ns);
            }
        }
    }

    #[test]
    fn an_estimate_creeps_and_does_not_jump() {
        let mut estimate = Estimate::default();
        assert_eq!(estimate.after(exchange(1_000_000, 400_000, 10_000, 10_000)), (400_000, 10_000));
        assert_eq!(estimate.after(exchange(2_000_000, 900_000, 5_000, 5_000)), (450_000, 455_000));
    }
}
