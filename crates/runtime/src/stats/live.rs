//! Facts about a component's executions. Its worker writes the counters, and any thread may read them at any time,
//! while the waveform runs and for the report when it has ended.
//!
//! Wait-free on both sides. Each counter has one writer, the worker that owns the component (a component that moves keeps
//! its counters, handed over with its table), so an addition is a load and a store, without a locked instruction.
//! All accesses are `Relaxed`: no counter says anything about other memory. A reader sees each counter at some moment of
//! its reading; what is recorded meanwhile may be in one and not yet in another. The number of executions is the sum of
//! the buckets it saw, so its quantiles are always those of a set of executions that took place.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use takt_stats::{Histogram, Ns};

/// Places of a time that tell its bucket: it is known to one part in 128.
const FINE: u32 = 7;
/// Values below are a bucket each.
const EXACT: u64 = 1 << (FINE + 1);
/// Octaves up to a minute.
const OCTAVES: usize = 28;
const BUCKETS: usize = EXACT as usize + (OCTAVES << FINE);

/// Executions beyond this are counted apart in reports: a second.
pub(crate) const BOUND_NS: u64 = 1_000_000_000;

/// One writer, any readers.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    #[inline]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The record of one component.
#[derive(Debug)]
pub(crate) struct Live {
    buckets: Box<[Count; BUCKETS]>,
    min_ns: AtomicU64,
    max_ns: AtomicU64,
    /// As in [`ComponentSnapshot`].
    pub(crate) missed: Count,
    pub(crate) lost: Count,
    pub(crate) late: Count,
    pub(crate) faults: Count,
}

impl Default for Live {
    fn default() -> Live {
        let buckets = Box::new([const { Count(AtomicU64::new(0)) }; BUCKETS]);
        let (min_ns, max_ns) = (AtomicU64::new(u64::MAX), AtomicU64::new(0));
        let (missed, lost, late, faults) = Default::default();
        Live { buckets, min_ns, max_ns, missed, lost, late, faults }
    }
}

impl Live {
    /// So many executions that took this long each.
    #[inline]
    pub(crate) fn record(&self, ns: u64, executions: u64) {
        self.buckets[bucket(ns)].add(executions);
        if ns > self.max_ns.load(Ordering::Relaxed) {
            self.max_ns.store(ns, Ordering::Relaxed);
        }
        if ns < self.min_ns.load(Ordering::Relaxed) {
            self.min_ns.store(ns, Ordering::Relaxed);
        }
    }

    /// All executions, for the report: each in the middle of its bucket, but the shortest and the longest, which are exact.
    pub(crate) fn histogram(&self) -> Histogram<Ns> {
        let mut histogram = Histogram::with_bound(BOUND_NS);
        let (min_ns, max_ns) = (self.min_ns.load(Ordering::Relaxed), self.max_ns.load(Ordering::Relaxed));
        let ends = [min_ns, max_ns].map(|ns| (bucket(ns), ns));
        for (index, mut count) in self.buckets.iter().map(Count::get).enumerate().filter(|&(_, count)| count > 0) {
            for (_, ns) in ends.into_iter().filter(|&(end, _)| end == index) {
                // Both ends of a single execution are the same.
                histogram.record_n_saturating(ns, count.min(1));
                count = count.saturating_sub(1);
            }
            histogram.record_n_saturating(middle(index).clamp(min_ns, max_ns), count);
        }
        histogram
    }

    /// Counts of all buckets, the shortest times first.
    pub(super) fn counts(&self) -> impl Iterator<Item = &Count> {
        self.buckets.iter()
    }

    /// Buckets that are not empty: the middle of each, ns, and its count.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counts = self.buckets.iter().map(Count::get).enumerate();
        counts.filter(|&(_, count)| count > 0).map(|(index, count)| (middle(index), count))
    }

    /// Mean of what was recorded, each in the middle of its bucket; `None`: nothing was.
    pub(crate) fn mean_ns(&self) -> Option<f64> {
        let (sum, all) =
            self.buckets().fold((0.0, 0), |(sum, all), (ns, count)| (sum + ns as f64 * count as f64, all + count));
        (all > 0).then(|| sum / all as f64)
    }

    pub(crate) fn snapshot(&self, name: &str, kind: &str) -> ComponentSnapshot {
        let counts: Vec<u64> = self.buckets.iter().map(Count::get).collect();
        let executions = counts.iter().sum();
        let max_ns = self.max_ns.load(Ordering::Relaxed);
        let quantile = |share: f64| {
            let rank = ((executions as f64 * share).ceil() as u64).max(1);
            let mut below = 0;
            let at = counts.iter().position(|count| {
                below += count;
                below >= rank
            });
            at.map(|index| highest(index).min(max_ns))
        };
        ComponentSnapshot {
            name: name.to_owned(),
            kind: kind.to_owned(),
            executions,
            missed: self.missed.get(),
            lost: self.lost.get(),
            late: self.late.get(),
            faults: self.faults.get(),
            p50_ns: quantile(0.5),
            p99_ns: quantile(0.99),
            max_ns: (executions > 0).then_some(max_ns),
        }
    }
}

#[inline]
fn bucket(ns: u64) -> usize {
    if ns < EXACT {
        return ns as usize;
    }
    let octave = ns.ilog2();
    let fine = (ns >> (octave - FINE)) as usize & ((1 << FINE) - 1);
    (EXACT as usize + (((octave - FINE - 1) as usize) << FINE) + fine).min(BUCKETS - 1)
}

pub(super) fn middle(index: usize) -> u64 {
    let lowest = index.checked_sub(1).map_or(0, |below| highest(below) + 1);
    lowest + (highest(index) - lowest) / 2
}

pub(super) fn highest(index: usize) -> u64 {
    let Some(above) = index.checked_sub(EXACT as usize) else { return index as u64 };
    let (octave, fine) = (above >> FINE, (above & ((1 << FINE) - 1)) as u64);
    (((1 << FINE) + fine + 1) << (octave + 1)) - 1
}

/// Reads what a running waveform shows of itself. It may be cloned and sent to other threads, and outlives the run.
#[derive(Clone, Debug, Default)]
pub struct StatsReader {
    pub(crate) components: Vec<(String, String, Arc<Live>)>,
}

impl StatsReader {
    /// The state of all components: those of the waveform that ran when the reader was made.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { components: self.components.iter().map(|(name, kind, live)| live.snapshot(name, kind)).collect() }
    }

    /// Logical slots that each component was too slow for, by its name: not executed, or late.
    pub fn slow_slots(&self) -> impl Iterator<Item = (&str, u64)> {
        let slow = |live: &Live| live.missed.get().saturating_sub(live.lost.get()).saturating_add(live.late.get());
        self.components.iter().map(move |(name, _, live)| (name.as_str(), slow(live)))
    }
}

/// A look at a running waveform.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Snapshot {
    /// In the order of the waveform.
    pub components: Vec<ComponentSnapshot>,
}

/// A look at one component: what it did since its first slot. Quantiles are at most 1/128 too high.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ComponentSnapshot {
    pub name: String,
    pub kind: String,
    pub executions: u64,
    /// Logical slots not executed, or of which nothing came from outside.
    pub missed: u64,
    /// Slots among these of which nothing came from outside.
    pub lost: u64,
    /// Executions that ended behind their deadline.
    pub late: u64,
    pub faults: u64,
    /// Half of the executions took no longer; `None` before the first.
    pub p50_ns: Option<u64>,
    /// 99 of 100 executions took no longer.
    pub p99_ns: Option<u64>,
    pub max_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_lies_in_its_bucket_and_at_most_one_part_in_128_below_its_end() {
        for ns in (0..10_000).chain((0..36).map(|n| 1 << n)).chain((1..36).map(|n| (1 << n) - 1)) {
            let end = highest(bucket(ns));
            assert!(end >= ns && end - ns <= ns / 128, "{ns} in a bucket that ends at {end}");
            assert!(bucket(end + 1) == bucket(ns) + 1 || bucket(ns) == BUCKETS - 1, "{ns}");
        }
        assert_eq!(bucket(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn quantiles_are_those_of_what_was_recorded() {
        let live = Live::default();
        assert_eq!(live.snapshot("a", "b").p50_ns, None);
        (1..=1000).for_each(|ns| live.record(ns, 1));
        let read = live.snapshot("a", "b");
        assert_eq!((read.executions, read.max_ns), (1000, Some(1000)));
        let (p50, p99) = (read.p50_ns.expect("some"), read.p99_ns.expect("some"));
        assert!((500..=504).contains(&p50) && (990..=1000).contains(&p99), "{p50} {p99}");
    }

    #[test]
    fn the_report_has_every_execution_with_both_ends_exact() {
        for times in
            [&[][..], &[777], &[777, 777], &[10, 777_777], &[10, 500, 777_777], &[5, 5, 9, 9], &[100_001, 100_002]]
        {
            let live = Live::default();
            times.iter().for_each(|&ns| live.record(ns, 1));
            let all = live.histogram();
            assert_eq!(all.len(), times.len() as u64, "{times:?}");
            assert_eq!((all.min(), all.max()), (times.first().copied(), times.last().copied()), "{times:?}");
        }
        let live = Live::default();
        (1..=100_000).for_each(|ns| live.record(ns, 1));
        let all = live.histogram();
        let (p50, mean) = (all.quantile(0.5).expect("some"), all.mean().expect("some"));
        assert_eq!(all.len(), 100_000);
        assert!(p50.abs_diff(50_000) < 50_000 / 128 && (mean - 50_000.5).abs() < 50.0, "{p50} {mean}");
    }

    #[test]
    fn a_reader_beside_the_writer_sees_counts_that_only_grow() {
        let live = Arc::new(Live::default());
        let writer = Arc::clone(&live);
        let records = if cfg!(miri) { 100 } else { 100_000 };
        let thread = std::thread::spawn(move || (0..records).for_each(|n| writer.record(n % 500, 1)));
        let mut last = 0;
        while last < records {
            let now = live.snapshot("a", "b").executions;
            assert!(now >= last);
            last = now;
            std::thread::yield_now();
        }
        thread.join().expect("no panic");
        assert_eq!(live.snapshot("a", "b").executions, records);
    }
}
