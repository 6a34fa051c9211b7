//! Bursts of a transmitter, kept in memory: for tests that look at the samples, their frequency and their time.
//!
//! A thread copies what has left, as it does for a file. So a device never waits, and a reader sees a burst as far as it has left.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_base::{Complex32, Ticks};

use super::begin::Begin;
use super::counts::Counts;

/// Samples without a gap, of one rate and around one radio frequency: a burst, or its part before or after a retuning.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Burst {
    /// Time of the device at the first sample, as its host has set it, in ticks.
    pub device_tick: u64,
    /// Ticks in a second.
    pub clock_hz: u32,
    /// Ticks from sample to sample.
    pub step: u32,
    /// The radio frequency of 0 Hz.
    pub centre_hz: f64,
    /// Full scale is 1.
    pub samples: Vec<Complex32>,
    /// All of it has left.
    pub complete: bool,
}

/// Bursts that a transmitter has sent so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered {
    /// In the order in which they left.
    pub bursts: Vec<Burst>,
    /// Samples that are not there: beyond the limit, or sent faster than they could be copied.
    pub dropped_samples: u64,
}

/// The memory of a transmitter. It outlives the radio, and its clones are one.
#[derive(Clone)]
pub struct Memory {
    counts: Arc<Counts>,
    most_samples: u64,
    kept: Arc<Mutex<Kept>>,
}

#[derive(Default)]
struct Kept {
    bursts: Vec<Burst>,
    samples: u64,
    beyond: u64,
}

impl Memory {
    pub(super) fn new(counts: Arc<Counts>, most_samples: u64) -> Memory {
        Memory { counts, most_samples, kept: Arc::default() }
    }

    /// All that has left until now. May wait for some milliseconds.
    #[must_use]
    pub fn read(&self) -> Remembered {
        self.counts.catch_up();
        let kept = self.kept();
        Remembered { bursts: kept.bursts.clone(), dropped_samples: kept.beyond + self.counts.dropped() }
    }

    /// How many bursts have left until now, to their end. May wait for some milliseconds.
    #[must_use]
    pub fn complete_bursts(&self) -> usize {
        self.counts.catch_up();
        self.kept().bursts.iter().filter(|burst| burst.complete).count()
    }

    /// Forgets the bursts that have left until now, to their end. Samples that are missing still count.
    pub fn forget(&self) {
        self.counts.catch_up();
        let mut kept = self.kept();
        kept.bursts.retain(|burst| !burst.complete);
        kept.samples = kept.bursts.iter().map(|burst| burst.samples.len() as u64).sum();
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Nothing panics while it is locked.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn begin(&self, run: Begin) {
        self.kept().bursts.push(Burst {
            device_tick: run.tick.0.wrapping_add(run.mark.offset),
            clock_hz: run.mark.clock.rate().hz(),
            step: run.step,
            centre_hz: run.centre_hz,
            ..Burst::default()
        });
    }

    pub(super) fn write(&self, samples: &[Complex32]) {
        let mut kept = self.kept();
        let room = self.most_samples.saturating_sub(kept.samples).min(samples.len() as u64);
        kept.samples += room;
        kept.beyond += samples.len() as u64 - room;
        if let Some(burst) = kept.bursts.last_mut() {
            burst.samples.extend_from_slice(&samples[..room as usize]);
        }
    }

    pub(super) fn end(&self) {
        if let Some(burst) = self.kept().bursts.last_mut() {
            burst.complete = true;
        }
    }
}

impl Burst {
    /// Time of the device where a further sample would stand, in ticks.
    #[must_use]
    pub fn end_tick(&self) -> u64 {
        self.device_tick.wrapping_add(Ticks(self.samples.len() as u64 * u64::from(self.step)).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sink::{BurstEdges, Recording, Setting, Sink, remember};
    use takt_base::{Tick, TickRate};

    const WHOLE: BurstEdges = BurstEdges { start: true, end: true };

    fn remembering(most_samples: u64) -> (impl Sink, Recording, Memory) {
        let clock = TickRate::from_hz(100_000_000).unwrap();
        remember(&Setting { clock, hw: "N200".to_owned(), utc_at_tick_0_ns: None }, most_samples).unwrap()
    }

    fn ramp(n: usize) -> Vec<Complex32> {
        (0..n).map(|k| Complex32::new(k as f32, 0.0)).collect()
    }

    fn shapes(memory: &Memory) -> Vec<(u64, u32, f64, usize, bool)> {
        let shape = |b: &Burst| (b.device_tick, b.step, b.centre_hz, b.samples.len(), b.complete);
        memory.read().bursts.iter().map(shape).collect()
    }

    #[test]
    fn bursts_that_follow_each_other_stay_apart_and_have_the_time_of_the_device() {
        let (mut sink, _recording, memory) = remembering(1000);
        sink.tuned(Tick(0), 1e9);
        sink.burst(Tick(1000), 50);
        sink.take(Tick(1000), 10, &ramp(10), WHOLE);
        // Right behind it, and the time was set in between.
        sink.burst(Tick(1100), u64::MAX);
        sink.take(Tick(1100), 10, &ramp(5), WHOLE);
        sink.passed(Tick(1150));
        assert_eq!(shapes(&memory), [(50, 10, 1e9, 10, true), (u64::MAX, 10, 1e9, 5, true)]);
        let read = memory.read();
        assert_eq!((&read.bursts[0].samples, read.bursts[0].end_tick(), read.dropped_samples), (&ramp(10), 150, 0));
        assert_eq!(read.bursts[1].end_tick(), 49);
    }

    #[test]
    fn a_burst_is_complete_when_all_of_it_has_left_and_a_retuning_begins_another_part() {
        let (mut sink, _recording, memory) = remembering(1000);
        sink.burst(Tick(1000), 1000);
        sink.take(Tick(1000), 10, &ramp(10), BurstEdges { start: true, end: false });
        sink.passed(Tick(1050));
        assert_eq!(shapes(&memory), [(1000, 10, 0.0, 5, false)]);
        assert_eq!(memory.complete_bursts(), 0);
        sink.tuned(Tick(1070), 2e9);
        sink.take(Tick(1070), 10, &ramp(3), BurstEdges { start: false, end: true });
        assert_eq!(shapes(&memory), [(1000, 10, 0.0, 7, true)]);
        sink.passed(Tick(1100));
        assert_eq!(shapes(&memory), [(1000, 10, 0.0, 7, true), (1070, 10, 2e9, 3, true)]);
    }

    #[test]
    fn a_burst_that_breaks_off_is_complete_and_so_is_all_when_the_radio_is_gone() {
        let (mut sink, recording, memory) = remembering(1000);
        sink.burst(Tick(1000), 1000);
        sink.take(Tick(1000), 10, &ramp(10), BurstEdges { start: true, end: false });
        sink.passed(Tick(1100));
        assert_eq!(memory.complete_bursts(), 0);
        sink.take(Tick(1100), 10, &[], BurstEdges { start: false, end: true });
        assert_eq!(memory.complete_bursts(), 1);
        sink.burst(Tick(2000), 2000);
        sink.take(Tick(2000), 10, &ramp(10), BurstEdges { start: true, end: false });
        drop(sink);
        recording.finish();
        assert_eq!(shapes(&memory), [(1000, 10, 0.0, 10, true), (2000, 10, 0.0, 10, true)]);
    }

    #[test]
    fn beyond_the_limit_samples_are_counted_until_some_are_forgotten() {
        let (mut sink, _recording, memory) = remembering(12);
        for k in 1..=3 {
            sink.burst(Tick(k * 1000), k);
            sink.take(Tick(k * 1000), 10, &ramp(5), WHOLE);
        }
        sink.passed(Tick(4000));
        let read = memory.read();
        assert_eq!(read.bursts.iter().map(|burst| burst.samples.len()).collect::<Vec<_>>(), [5, 5, 2]);
        assert_eq!(read.dropped_samples, 3);
        memory.forget();
        assert_eq!(memory.read(), Remembered { bursts: vec![], dropped_samples: 3 });
        sink.burst(Tick(5000), 9);
        sink.take(Tick(5000), 10, &ramp(12), WHOLE);
        sink.passed(Tick(6000));
        assert_eq!(shapes(&memory), [(9, 10, 0.0, 12, true)]);
    }
}
