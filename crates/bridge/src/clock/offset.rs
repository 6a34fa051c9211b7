//! How far a clock is from another, from questions and answers.
//!
//! An answer is true of the moment in which it was given. From then on the clocks drift apart, so that its bound grows until a
//! better answer comes. While the reference is silent nothing ends that.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use takt_base::{Clock, WallClock};

/// How far two clocks drift apart at most. Both are `CLOCK_MONOTONIC`, which is slewed as the system clock is: the crystal of a PC
/// is off by some 50 ppm, and a time service that has settled corrects no more than that; both clocks may be off by the sum, in
/// opposite directions. A service that still catches up slews faster, the kernel by 500 ppm (`adjtime(3)`), chrony by up to 8 %
/// (`maxslewrate`): until it has caught up, the bound is not true.
const DRIFT_PPM: u64 = 2 * (50 + 50);

/// What whole nanoseconds lose: in readings of both clocks, and where these are halved.
const ROUNDED_NS: u64 = 2;

/// A bound after so much time.
fn aged_ns(bound_ns: u64, age_ns: u64) -> u64 {
    bound_ns.saturating_add(age_ns.saturating_mul(DRIFT_PPM).div_ceil(1_000_000))
}

/// The reference's clock less this machine's, as last estimated; 0 where this machine is the reference.
///
/// No worker reads it: slots are timed by the begin of slot 0. A bound and the instant since which it grows are two words. They are
/// written in this order and read in the other one, Release to Acquire: who sees an instant sees the bound of that instant or a
/// later bound, which then is too large for a moment and never too small. Only a bound that follows one that stood may stand for
/// that moment too. The offset is a third word: between reading it and its bound an answer may come, and move it by a step.
#[derive(Debug, Default)]
pub struct Offset {
    ns: AtomicI64,
    bound_ns: AtomicU64,
    /// Since when the bound grows, on this machine's clock; 0, when that was booted, where it stands.
    since_ns: AtomicU64,
}

impl Offset {
    /// The reference's clock less this machine's, ns.
    #[must_use]
    pub fn ns(&self) -> i64 {
        self.ns.load(Ordering::Relaxed)
    }

    /// How far off that is at most now, ns: half of what the way there and back took, and what both clocks may have drifted apart
    /// since. More if the way there takes longer than the way back is impossible within that.
    #[must_use]
    pub fn bound_ns(&self) -> u64 {
        self.bound_by(&WallClock)
    }

    /// The same by any clock.
    pub(super) fn bound_by(&self, clock: &impl Clock) -> u64 {
        let since_ns = self.since_ns.load(Ordering::Acquire);
        let bound_ns = self.bound_ns.load(Ordering::Relaxed);
        // Read last: who is interrupted here takes the bound for older, not for younger.
        if since_ns == 0 { bound_ns } else { aged_ns(bound_ns, clock.now().0.saturating_sub(since_ns)) }
    }

    /// Says so, with a bound that stands until the next: PTP's; both 0 on the machine that becomes the reference.
    pub fn set(&self, ns: i64, bound_ns: u64) {
        self.publish(ns, bound_ns, 0);
    }

    /// Says so, with a bound that grows.
    pub(super) fn know(&self, known: Known) {
        self.publish(known.ns, known.bound_ns, known.at_ns);
    }

    fn publish(&self, ns: i64, bound_ns: u64, since_ns: u64) {
        self.ns.store(ns, Ordering::Relaxed);
        self.bound_ns.store(bound_ns, Ordering::Relaxed);
        self.since_ns.store(since_ns, Ordering::Release);
    }
}

/// What is known of an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Known {
    pub(super) ns: i64,
    /// How far off that is at most at one instant of this machine's clock.
    pub(super) bound_ns: u64,
    /// That instant.
    pub(super) at_ns: u64,
}

impl Known {
    /// How far off it is at most at a later one.
    pub(super) fn bound_at(self, now_ns: u64) -> u64 {
        aged_ns(self.bound_ns, now_ns.saturating_sub(self.at_ns))
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

    /// What it says. The other's clock was read after the question, so an age that counts from there covers all drift.
    fn known(self) -> Known {
        Known { ns: self.offset_ns(), bound_ns: self.way_ns() / 2 + ROUNDED_NS, at_ns: self.requested_ns }
    }
}

/// How far an estimate moves at a time, once there is one: edges must not jump.
pub(super) const STEP_NS: i64 = 50_000;

/// Estimates an offset: the exchange with the smallest bound says it. All bounds grow alike, so that one which is larger than
/// another stays so: only the best is kept.
#[derive(Debug, Default)]
pub(super) struct Estimate {
    best: Option<Known>,
    ns: Option<i64>,
}

impl Estimate {
    /// What is known after one more exchange.
    pub(super) fn after(&mut self, exchange: Exchange) -> Known {
        let (last, now_ns) = (exchange.known(), exchange.answered_ns);
        let best = self.best.filter(|best| best.bound_at(now_ns) < last.bound_at(now_ns)).unwrap_or(last);
        let ns = self.ns.map_or(best.ns, |ns| ns + best.ns.saturating_sub(ns).clamp(-STEP_NS, STEP_NS));
        (self.best, self.ns) = (Some(best), Some(ns));
        Known { ns, bound_ns: best.bound_ns.saturating_add(best.ns.abs_diff(ns)), at_ns: best.at_ns }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use takt_base::{MonoNs, VirtualClock};

    use super::*;

    const MOST_PPM: i64 = DRIFT_PPM as i64;

    fn exchange(at: u64, offset: i64, there: u64, back: u64) -> Exchange {
        let received_ns = (at + there).wrapping_add_signed(offset);
        let sent_ns = received_ns.wrapping_add(1_000);
        Exchange { requested_ns: at, received_ns, sent_ns, answered_ns: at + there + 1_000 + back }
    }

    fn bound_at(shown: &Offset, now_ns: u64) -> u64 {
        shown.bound_by(&VirtualClock::starting_at(MonoNs(now_ns)))
    }

    /// Two clocks that drift apart.
    struct Two {
        now_ns: u64,
        /// The other's clock less ours, millionths of a nanosecond.
        offset_millionths: i64,
    }

    impl Two {
        fn pass(&mut self, ns: u64, ppm: i64) {
            self.now_ns += ns;
            self.offset_millionths += ns as i64 * ppm;
        }

        fn offset_ns(&self) -> i64 {
            self.offset_millionths.div_euclid(1_000_000)
        }

        fn theirs_ns(&self) -> u64 {
            self.now_ns.wrapping_add_signed(self.offset_ns())
        }

        fn exchange(&mut self, ppm: i64, there: u64, back: u64) -> Exchange {
            let requested_ns = self.now_ns;
            self.pass(there, ppm);
            let received_ns = self.theirs_ns();
            self.pass(1_000, ppm);
            let sent_ns = self.theirs_ns();
            self.pass(back, ppm);
            Exchange { requested_ns, received_ns, sent_ns, answered_ns: self.now_ns }
        }
    }

    proptest! {
        #[test]
        fn the_truth_lies_within_the_bound_at_all_times(
            offset in -1_000_000_000_i64..1_000_000_000,
            steps in prop::collection::vec(
                (-MOST_PPM..=MOST_PPM, 0..5_000_000_000_u64, 1_000..1_000_000_u64, 1_000..1_000_000_u64),
                1..60,
            ),
        ) {
            let mut two = Two { now_ns: 5_000_000_000, offset_millionths: offset * 1_000_000 };
            let (mut estimate, shown) = (Estimate::default(), Offset::default());
            for (ppm, silence_ns, there, back) in steps {
                shown.know(estimate.after(two.exchange(ppm, there, back)));
                for pause_ns in [0, silence_ns / 50, silence_ns] {
                    two.pass(pause_ns, ppm);
                    let (truth, ns, bound_ns) = (two.offset_ns(), shown.ns(), bound_at(&shown, two.now_ns));
                    prop_assert!(ns.abs_diff(truth) <= bound_ns, "{ns} {truth} {bound_ns}");
                }
            }
        }
    }

    #[test]
    fn the_bound_of_a_silent_reference_grows_and_one_that_is_set_stands() {
        let (shown, second) = (Offset::default(), 1_000_000_000);
        assert_eq!(bound_at(&shown, second), 0, "nothing is said yet");
        shown.know(Estimate::default().after(exchange(second, -7_000_000, 35_000, 35_000)));
        let after = |seconds: u64| bound_at(&shown, second + seconds * second);
        // Beyond a tenth of a slot of 10 ms, the alarm of the guide to fleets, within five seconds; after ten minutes hopeless.
        assert_eq!([0, 5, 600].map(after), [35_002, 1_035_002, 120_035_002]);
        assert_eq!(shown.ns(), -7_000_000, "slots stay where they are");
        shown.set(0, 4_000);
        assert_eq!([0, 1, 600].map(after), [4_000; 3]);
    }

    #[test]
    fn a_short_way_counts_until_its_age_makes_it_the_worse_one() {
        let mut estimate = Estimate::default();
        let mut known_at = |at, way| estimate.after(exchange(at, 0, way, way)).at_ns;
        assert_eq!(known_at(1_000_000_000, 10_000), 1_000_000_000);
        // 20 µs of drift later it is better than a way of 60 µs still, after 60 µs no more.
        assert_eq!(known_at(1_100_000_000, 60_000), 1_000_000_000);
        assert_eq!(known_at(1_300_000_000, 60_000), 1_300_000_000);
    }

    #[test]
    fn an_estimate_creeps_and_does_not_jump() {
        let mut estimate = Estimate::default();
        let first = Known { ns: 400_000, bound_ns: 10_002, at_ns: 1_000_000 };
        assert_eq!(estimate.after(exchange(1_000_000, 400_000, 10_000, 10_000)), first);
        let second = Known { ns: 450_000, bound_ns: 455_002, at_ns: 2_000_000 };
        assert_eq!(estimate.after(exchange(2_000_000, 900_000, 5_000, 5_000)), second);
    }
}
