//! How far a clock is from another, and how fast that changes, from questions and answers.
//!
//! An answer is true of the moment in which it was given. From then on the clocks drift apart, so that its bound grows until a
//! better answer comes. While the reference is silent nothing ends that. The drift is for people to read: what a clock did says
//! not what it will do, so it neither moves a slot nor makes a bound grow less.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use takt_base::{Clock, WallClock};

/// How far two clocks drift apart at most. Both are `CLOCK_MONOTONIC`, which is slewed as the system clock is: the crystal of a PC
/// is off by some 50 ppm, and a time service that has settled corrects no more than that; both clocks may be off by the sum, in
/// opposite directions. A service that still catches up slews faster, the kernel by 500 ppm (`adjtime(3)`), chrony by up to 8 %
/// (`maxslewrate`): until it has caught up, the bound is not true.
const DRIFT_PPM: u64 = 2 * (50 + 50);

/// Error of whole nanoseconds: in readings of both clocks, and where these are halved.
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
/// that moment too. The offset is a third word: between reading it and its bound an answer may come, and move it by a step. The
/// drift is a fourth, which holds its bound as well, so that both are of one pair of answers; it needs no order.
#[derive(Debug, Default)]
pub struct Offset {
    ns: AtomicI64,
    bound_ns: AtomicU64,
    /// Since when the bound grows, on this machine's clock; 0, when that was booted, where it stands.
    since_ns: AtomicU64,
    /// As [`Drift::word`] has it; 0 while it is not known.
    drift: AtomicU64,
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

    /// How fast it changes; `None` while that is not known, and where no questions say the offset.
    #[must_use]
    pub fn drift(&self) -> Option<Drift> {
        Drift::of_word(self.drift.load(Ordering::Relaxed))
    }

    /// Says so, with a bound that stands until the next, and no drift: PTP's; both 0 on the machine that becomes the reference.
    pub fn set(&self, ns: i64, bound_ns: u64) {
        self.publish(ns, bound_ns, 0);
        self.know_drift(None);
    }

    /// Says so, with a bound that grows.
    pub(super) fn know(&self, known: Known) {
        self.publish(known.ns, known.bound_ns, known.at_ns);
    }

    pub(super) fn know_drift(&self, drift: Option<Drift>) {
        self.drift.store(drift.map_or(0, Drift::word), Ordering::Relaxed);
    }

    fn publish(&self, ns: i64, bound_ns: u64, since_ns: u64) {
        self.ns.store(ns, Ordering::Relaxed);
        self.bound_ns.store(bound_ns, Ordering::Relaxed);
        self.since_ns.store(since_ns, Ordering::Release);
    }
}

/// How fast an offset changed, on average between two answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Drift {
    /// By how much it grew, parts per billion of this machine's time: positive where the reference's clock is the faster one.
    pub ppb: i32,
    /// How far off that is at most, parts per billion; never 0.
    pub bound_ppb: u32,
}

impl Drift {
    /// Between two instants; `None` if that says next to nothing.
    fn between(early: Known, late: Known) -> Option<Drift> {
        let apart_ns = late.at_ns.checked_sub(early.at_ns).filter(|&ns| ns > 0)?;
        let grown_ns = i128::from(late.ns) - i128::from(early.ns);
        let off_ns = u128::from(early.bound_ns) + u128::from(late.bound_ns);
        // The drift is rounded too: one more.
        let bound_ppb = (off_ns * 1_000_000_000).div_ceil(u128::from(apart_ns)) + 1;
        Some(Drift {
            ppb: i32::try_from(grown_ns * 1_000_000_000 / i128::from(apart_ns)).ok()?,
            bound_ppb: u32::try_from(bound_ppb).ok().filter(|&ppb| ppb <= KNOWN_PPB)?,
        })
    }

    fn word(self) -> u64 {
        (u64::from(self.ppb as u32) << 32) | u64::from(self.bound_ppb)
    }

    fn of_word(word: u64) -> Option<Drift> {
        (word != 0).then_some(Drift { ppb: (word >> 32) as i32, bound_ppb: word as u32 })
    }
}

/// A drift with a larger bound is not known.
const KNOWN_PPB: u32 = 1_000_000;

/// Knowledge of an offset.
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

    /// Time of both ways.
    fn way_ns(self) -> u64 {
        let there_and_back = self.answered_ns.saturating_sub(self.requested_ns);
        there_and_back.saturating_sub(self.sent_ns.saturating_sub(self.received_ns))
    }

    /// Its offset and bound. The other's clock was read after the question, so an age that counts from there covers all
    /// drift.
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
    slopes: Slopes,
}

impl Estimate {
    /// Knowledge after one more exchange.
    pub(super) fn after(&mut self, exchange: Exchange) -> Known {
        let (last, now_ns) = (exchange.known(), exchange.answered_ns);
        // The possible drift until the answer is there makes it true of the moment of asking as well.
        self.slopes.after(Known { bound_ns: last.bound_at(now_ns), ..last });
        let best = self.best.filter(|best| best.bound_at(now_ns) < last.bound_at(now_ns)).unwrap_or(last);
        let ns = self.ns.map_or(best.ns, |ns| ns + best.ns.saturating_sub(ns).clamp(-STEP_NS, STEP_NS));
        (self.best, self.ns) = (Some(best), Some(ns));
        Known { ns, bound_ns: best.bound_ns.saturating_add(best.ns.abs_diff(ns)), at_ns: best.at_ns }
    }

    /// How fast the offset changes, as far as that is known.
    pub(super) fn drift(&self) -> Option<Drift> {
        self.slopes.best.map(|(_, drift)| drift)
    }
}

/// How far apart two answers may be: a drift is of that time at most.
const SPAN_NS: u64 = 600_000_000_000;
/// One of the answers in so much time is kept.
const EACH_NS: u64 = 10_000_000_000;

/// Estimates a drift: of all pairs of an early answer and a later one, that with the smallest bound says it. Which answer is a good
/// early one shows only later, so the best of every ten seconds is kept: 61 at most.
#[derive(Debug, Default)]
struct Slopes {
    early: VecDeque<Known>,
    /// Drift by the best pair, and when its early answer came.
    best: Option<(u64, Drift)>,
}

impl Slopes {
    fn after(&mut self, late: Known) {
        let is_over = |at_ns: u64| late.at_ns.saturating_sub(at_ns) > SPAN_NS;
        while self.early.front().is_some_and(|early| is_over(early.at_ns)) {
            self.early.pop_front();
        }
        let kept = self.best.filter(|&(since_ns, _)| !is_over(since_ns));
        let pairs = self.early.iter().filter_map(|&early| Some((early.at_ns, Drift::between(early, late)?)));
        self.best = kept.into_iter().chain(pairs).min_by_key(|(_, drift)| drift.bound_ppb);
        match self.early.back_mut() {
            Some(early) if early.at_ns / EACH_NS == late.at_ns / EACH_NS => {
                if late.bound_ns < early.bound_ns {
                    *early = late;
                }
            }
            _ => self.early.push_back(late),
        }
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

        #[test]
        fn a_drift_that_stays_lies_within_the_bound_of_its_estimate(
            offset in -1_000_000_000_i64..1_000_000_000,
            ppm in -100_i64..=100,
            steps in prop::collection::vec((0..60_000_000_000_u64, 1_000..1_000_000_u64, 1_000..1_000_000_u64), 1..60),
        ) {
            let mut two = Two { now_ns: 5_000_000_000, offset_millionths: offset * 1_000_000 };
            let mut estimate = Estimate::default();
            for (silence_ns, there, back) in steps {
                estimate.after(two.exchange(ppm, there, back));
                let drift = estimate.drift();
                prop_assert!(drift.is_none_or(|drift| is_within(drift, ppm)), "{drift:?} {ppm}");
                two.pass(silence_ns, ppm);
            }
        }

        #[test]
        fn a_minute_of_ways_there_and_back_below_100_us_says_a_drift_to_1_ppm(
            ppm in -100_i64..=100,
            ways in prop::collection::vec((5_000..50_000_u64, 5_000..50_000_u64), 600),
        ) {
            let mut two = Two { now_ns: 5_000_000_000, offset_millionths: 0 };
            let mut estimate = Estimate::default();
            for (there, back) in ways {
                estimate.after(two.exchange(ppm, there, back));
                let drift = estimate.drift();
                prop_assert!(drift.is_none_or(|drift| is_within(drift, ppm)), "{drift:?} {ppm}");
                two.pass(100_000_000, ppm);
            }
            let drift = estimate.drift();
            prop_assert!(drift.is_some_and(|drift| drift.bound_ppb < 1_000), "{drift:?}");
        }
    }

    fn is_within(drift: Drift, ppm: i64) -> bool {
        i64::from(drift.ppb).abs_diff(ppm * 1_000) <= u64::from(drift.bound_ppb)
    }

    #[test]
    fn a_drift_is_known_once_its_bound_says_something_and_is_of_ten_minutes_at_most() {
        let (mut estimate, shown) = (Estimate::default(), Offset::default());
        let mut known_at = |ms: u64, offset| {
            estimate.after(exchange(ms * 1_000_000, offset, 10_000, 10_000));
            shown.know_drift(estimate.drift());
            shown.drift().map(|drift| (drift.ppb, drift.bound_ppb))
        };
        assert_eq!(known_at(1_000, 0), None, "one answer has no slope");
        assert_eq!(known_at(1_010, 0), None, "2000 ppm are as good as nothing");
        // Both have half of the way, 2 ns of rounding, 200 ppm of 21 µs; and 1 ppb of rounding.
        assert_eq!(known_at(2_000, 50_000), Some((50_000, 20_015)));
        assert_eq!(known_at(601_000, 0), Some((0, 35)));
        assert_eq!(known_at(602_000, -7_000), Some((-7_000, 20_015)), "the first is too long ago");
        shown.set(0, 0);
        assert_eq!(shown.drift(), None, "nothing is asked any more");
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
