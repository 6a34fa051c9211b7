//! The beat of a radio: slots that are released when their samples are there.
//!
//! A slot ends when the radio has taken its last sample, by a reading of both clocks at the start. Its samples need a while to
//! get here: the radio's way, which the quickest arrival of the first slots shows. So a slot is due that much after its end.
//! From then on the host waits for the samples: first it watches, then it naps and looks. A radio's clock drifts against the
//! host's by some millionths; the quickest arrivals of many slots are all equally quick, so when they come to be later, or
//! earlier, it is the clock, and the due times follow.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, WallClock};
use takt_runtime::{Edges, Sleeper, wait_until};

/// How long a worker lets others run between two looks for samples.
const NAP: Duration = Duration::from_micros(20);

/// Share of a slot left for its components when its samples have not come: time to say that the radio owes them.
const LEFT: u64 = 16;

/// Slots whose quickest arrival counts.
const WINDOW: u32 = 64;

/// How long the first samples are waited for, by the host's clock: until they come nobody knows the way.
const FIRST: Duration = Duration::from_secs(2);

/// No samples have come yet.
const UNKNOWN: u64 = u64::MAX;

/// The workers' knowledge of a stream.
#[derive(Debug)]
pub struct RadioSlotClock {
    slot_ns: u64,
    /// When slot 0 begins, by the host's clock.
    start_ns: AtomicU64,
    /// From the end of a slot until its samples can be here, ns; [`UNKNOWN`] at first.
    way_ns: AtomicU64,
    /// Slots below are over: their samples are there, or lost for good.
    released: AtomicU64,
    /// Nothing comes any more.
    over: AtomicBool,
}

impl RadioSlotClock {
    /// A clock of slots so long by the host's clock; it begins with [`RadioSlotClock::begin`].
    pub(crate) fn new(slot_ns: u64) -> RadioSlotClock {
        RadioSlotClock {
            slot_ns: slot_ns.max(1),
            start_ns: AtomicU64::new(u64::MAX),
            way_ns: AtomicU64::new(UNKNOWN),
            released: AtomicU64::new(0),
            over: AtomicBool::new(false),
        }
    }

    /// Slot 0 begins at `start`.
    pub(crate) fn begin(&self, start: MonoNs) {
        self.start_ns.store(start.0, Ordering::Relaxed);
    }

    /// Samples can be here so long after the end of their slot.
    pub(crate) fn arrives_after(&self, way_ns: u64) {
        self.way_ns.store(way_ns.min(UNKNOWN - 1), Ordering::Relaxed);
    }

    /// That time; `None`: nobody knows it yet.
    fn way_ns(&self) -> Option<u64> {
        Some(self.way_ns.load(Ordering::Relaxed)).filter(|&way_ns| way_ns != UNKNOWN)
    }

    /// Slots below `slot` are over. Whoever sees it finds what was handed over before.
    pub(crate) fn release(&self, slot: u64) {
        self.released.store(slot, Ordering::Release);
    }

    /// Nobody is to wait any more.
    pub(crate) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// The radio's clock runs on by so much, as seen from here.
    pub(crate) fn shift(&self, by_ns: i64) {
        let start = self.start_ns.load(Ordering::Relaxed);
        self.start_ns.store(start.saturating_add_signed(by_ns), Ordering::Relaxed);
    }

    /// When a slot begins.
    pub(crate) fn begins(&self, slot: u64) -> MonoNs {
        MonoNs(self.start_ns.load(Ordering::Relaxed).saturating_add(slot.saturating_mul(self.slot_ns)))
    }

    /// How long after a slot is due its samples are waited for.
    fn patience(&self) -> Duration {
        let slot = Duration::from_nanos(self.slot_ns - self.slot_ns / LEFT);
        if self.way_ns().is_some() { slot } else { slot.max(FIRST) }
    }

    fn is_released(&self, slot: u64) -> bool {
        self.released.load(Ordering::Acquire) > slot || self.over.load(Ordering::Relaxed)
    }
}

impl Edges for RadioSlotClock {
    fn due(&self, slot: u64) -> MonoNs {
        MonoNs(self.begins(slot.saturating_add(1)).0.saturating_add(self.way_ns().unwrap_or(0)))
    }

    fn slot_at(&self, now: MonoNs) -> u64 {
        let first = self.due(0).0;
        now.0.saturating_sub(first) / self.slot_ns
    }

    /// A slot whose samples have not come shortly before the next is due is released without them.
    fn wait(&self, slot: u64, sleeper: &mut Sleeper, stop: &Stop) -> Option<MonoNs> {
        wait_until(self.due(slot), stop)?;
        loop {
            let now = WallClock.now();
            if stop.requested() {
                return None;
            }
            let waited = now - self.due(slot);
            if self.is_released(slot) || waited >= self.patience() {
                return Some(now);
            }
            if waited < sleeper.most() {
                std::hint::spin_loop();
            } else {
                wait_until(now + NAP, stop)?;
            }
        }
    }
}

/// How a radio's clock runs away from the host's, by what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Drift {
    /// Time of the way itself, by the first window.
    way_ns: Option<i64>,
    quickest_ns: i64,
    observed: u32,
}

impl Drift {
    /// The way, as far as it is known: never negative, whatever the reading of both clocks was off by.
    pub(crate) fn way_ns(&self) -> u64 {
        self.way_ns.unwrap_or(self.quickest_ns).max(0).cast_unsigned()
    }

    /// A slot arrived so long after it was due, by the present reckoning. Answers by how much that is to be moved, once a
    /// window.
    pub(crate) fn arrived(&mut self, late_ns: i64) -> Option<i64> {
        self.quickest_ns = if self.observed == 0 { late_ns } else { self.quickest_ns.min(late_ns) };
        self.observed += 1;
        if self.observed < WINDOW {
            return None;
        }
        self.observed = 0;
        let way_ns = *self.way_ns.get_or_insert(self.quickest_ns);
        let moved = self.quickest_ns - way_ns;
        (moved != 0).then_some(moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_is_due_at_its_end_and_the_one_at_an_instant_is_the_last_that_was() {
        let beat = RadioSlotClock::new(1000);
        assert_eq!(beat.due(3), MonoNs::NEVER, "not begun");
        beat.begin(MonoNs(50_000));
        assert_eq!((beat.due(0), beat.due(7)), (MonoNs(51_000), MonoNs(58_000)));
        beat.arrives_after(2500);
        assert_eq!((beat.due(0), beat.begins(1)), (MonoNs(53_500), MonoNs(51_000)), "the way moves no slot");
        assert_eq!([53_500, 54_500].map(|now| beat.slot_at(MonoNs(now))), [0, 1]);
        beat.arrives_after(0);
        for (now, slot) in [(0, 0), (51_000, 0), (51_999, 0), (52_000, 1), (58_500, 7)] {
            assert_eq!(beat.slot_at(MonoNs(now)), slot, "at {now}");
        }
        beat.shift(-300);
        assert_eq!(beat.due(0), MonoNs(50_700));
    }

    #[test]
    fn a_released_slot_is_not_waited_for_and_one_that_does_not_come_so_long_that_its_components_can_say_so() {
        let beat = RadioSlotClock::new(2_000_000);
        let begun = WallClock.now();
        beat.begin(begun);
        beat.arrives_after(0);
        beat.release(1);
        let stop = Stop::new();
        assert!(beat.wait(0, &mut Sleeper::new(Duration::ZERO), &stop).unwrap() >= beat.due(0));
        let waited = beat.wait(1, &mut Sleeper::new(Duration::ZERO), &stop).unwrap() - beat.due(1);
        assert!(waited >= beat.patience() && beat.due(1) + beat.patience() < beat.due(2), "never released: {waited:?}");
        beat.end();
        assert!(beat.wait(2, &mut Sleeper::new(Duration::ZERO), &stop).is_some());
        stop.request();
        assert_eq!(beat.wait(3, &mut Sleeper::new(Duration::ZERO), &stop), None);
    }

    #[test]
    fn due_times_follow_a_clock_that_runs_away_and_no_jitter() {
        // 20 millionths slow: a slot of 5 ms is 100 ns longer; arrivals are 30 to 1000 us late.
        let (mut drift, mut moved) = (Drift::default(), 0);
        for slot in 0..6400_i64 {
            let jitter = 30_000 + slot * 7919 % 97 * 10_000;
            if let Some(by) = drift.arrived(slot * 100 + jitter - moved) {
                moved += by;
            }
        }
        assert!((moved - 640_000).abs() < 40_000, "{moved}");
        assert_eq!(drift.way_ns(), 30_000, "the quickest of the first window");
        let mut steady = Drift::default();
        assert!((0..6400).all(|slot| steady.arrived(20_000 + slot % 64 * 1000).is_none()));
    }
}
