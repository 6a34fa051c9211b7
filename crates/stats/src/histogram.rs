//! [`Histogram`]: what a round measured, kept whole, in fixed memory.

mod log;
mod text;

use std::fmt;
use std::marker::PhantomData;

use crate::EcdfPoint;

pub use log::{LogLine, write_log};

/// Decimal digits kept: a value is known to one part in a thousand.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Default bound of nanoseconds: a minute. Takes 228 KiB.
const MINUTE_NS: u64 = 60_000_000_000;

/// Unit of a histogram; it is part of the type, so nanoseconds are never merged with ticks.
pub trait Unit: sealed::Sealed + Copy + fmt::Debug {
    /// As it stands in files and in front of readers: `ns`, `ticks`.
    const NAME: &'static str;
}

/// Nanoseconds of a host clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ns;

/// Ticks of a radio's master clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks;

impl Unit for Ns {
    const NAME: &'static str = "ns";
}

impl Unit for Ticks {
    const NAME: &'static str = "ticks";
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Ns {}
    impl Sealed for super::Ticks {}
}

/// Counts of values from 0 to a bound, each known to one part in a thousand; smallest and largest value exactly.
///
/// Memory is fixed when it is made: recording allocates nothing, takes no lock, cannot fail and costs some
/// nanoseconds. Values beyond the bound are counted apart ([`Self::beyond`]): they count in every share, but a quantile
/// that falls among them is not known, and `None`. As text (serde, [`Self::to_base64`]) it is `HdrHistogram`'s V2 format.
///
/// ```
/// use takt_stats::{Histogram, Ns};
/// let mut late = Histogram::<Ns>::default();
/// for ns in 1..=1000 {
///     late.record_saturating(ns * 1_000);
/// }
/// assert_eq!((late.len(), late.min(), late.max()), (1000, Some(1_000), Some(1_000_000)));
/// assert_eq!(late.quantile(0.99), Some(990_207), "990 µs, to one part in a thousand, from above");
/// ```
#[derive(Clone)]
pub struct Histogram<U: Unit> {
    counts: hdrhistogram::Histogram<u64>,
    beyond: u64,
    min: u64,
    max: u64,
    unit: PhantomData<U>,
}

/// Two histograms do not fit together, or a text is no histogram.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages say it")]
pub enum HistogramError {
    #[error("histograms with bounds {ours} and {theirs} do not merge")]
    Bounds {
        /// Bound of the one merged into.
        ours: u64,
        /// Bound of the one merged.
        theirs: u64,
    },
    #[error("the histogram counts {found}; expected: {wanted}")]
    Unit {
        /// The unit in the text.
        found: String,
        /// The unit of the type.
        wanted: &'static str,
    },
    /// The text is damaged, or made by something else.
    #[error("the text is not a histogram: {what}")]
    Text {
        /// Which of its parts is wrong.
        what: &'static str,
    },
}

impl Default for Histogram<Ns> {
    /// Up to a minute.
    fn default() -> Self {
        Self::with_bound(MINUTE_NS)
    }
}

impl<U: Unit> Histogram<U> {
    /// For values from 0 to `bound` (at least 2), in units of `U`. Allocates once, about 9 KiB for each doubling of
    /// the bound above 2048.
    pub fn with_bound(bound: u64) -> Self {
        let counts = hdrhistogram::Histogram::new_with_bounds(1, bound.max(2), SIGNIFICANT_DIGITS)
            .expect("1 to a bound of at least 2 with 3 digits is always possible");
        Self { counts, beyond: 0, min: u64::MAX, max: 0, unit: PhantomData }
    }

    /// Counts one value. One beyond the bound is counted as such. Never allocates, never fails.
    pub fn record_saturating(&mut self, value: u64) {
        self.record_n_saturating(value, 1);
    }

    /// Counts a value that was seen `count` times.
    pub fn record_n_saturating(&mut self, value: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        if value <= self.bound() {
            self.counts.saturating_record_n(value, count);
        } else {
            self.beyond = self.beyond.saturating_add(count);
        }
    }

    /// Adds all that `other` counted. # Errors: their bounds differ.
    pub fn merge(&mut self, other: &Self) -> Result<(), HistogramError> {
        let bounds = HistogramError::Bounds { ours: self.bound(), theirs: other.bound() };
        if self.bound() != other.bound() {
            return Err(bounds);
        }
        self.counts.add(&other.counts).map_err(|_| bounds)?;
        self.beyond = self.beyond.saturating_add(other.beyond);
        (self.min, self.max) = (self.min.min(other.min), self.max.max(other.max));
        Ok(())
    }

    /// Forgets all values, keeps memory and bound.
    pub fn clear(&mut self) {
        self.counts.reset();
        (self.beyond, self.min, self.max) = (0, u64::MAX, 0);
    }

    /// Values counted, those beyond the bound included.
    pub fn len(&self) -> u64 {
        self.counts.len().saturating_add(self.beyond)
    }

    /// Nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Largest value that can be counted as itself.
    pub fn bound(&self) -> u64 {
        self.counts.high()
    }

    /// Values above the bound.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Smallest value, exactly, also beyond the bound. `None` when empty.
    pub fn min(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.min)
    }

    /// Largest value, exactly, also beyond the bound. `None` when empty.
    pub fn max(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.max)
    }

    /// Mean of the values, to one part in a thousand. `None` when empty or when values lie beyond the bound.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty() && self.beyond == 0).then(|| self.counts.mean())
    }

    /// The smallest value that at least a share `q` of all values does not exceed; to one part in a thousand, from
    /// above. `None` when empty, for `q` outside 0 to 1, and where it lies among values beyond the bound.
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.is_empty() || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let rank = ((q * self.len() as f64).ceil() as u64).max(1);
        if rank > self.counts.len() {
            return None;
        }
        let mut upto = 0_u64;
        self.steps().find_map(|(value, count)| {
            upto = upto.saturating_add(count);
            (upto >= rank).then_some(value)
        })
    }

    /// Values above `limit`, to one part in a thousand of `limit`.
    pub fn count_above(&self, limit: u64) -> u64 {
        let within: u64 = self.steps().take_while(|&(value, _)| value <= limit).map(|(_, count)| count).sum();
        self.len() - within
    }

    /// Distinct values within the bound, ascending, with their counts; each value is the upper end of its bin, and
    /// never above the largest value seen.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter_recorded().map(|s| (s.value_iterated_to().min(self.max), s.count_since_last_iteration()))
    }

    /// At most about `max_points` steps of the distribution function, dense where the share moves and in its upper
    /// tail, where real-time work is decided; first and last step always among them.
    pub fn ecdf(&self, max_points: usize) -> Vec<EcdfPoint> {
        let total = self.len() as f64;
        let half = (max_points / 2).max(1) as f64;
        let nines = |share: f64| -(1.0 - share).max(0.5 / total).log10();
        let (by_share, by_nines) = (1.0 / half, nines(1.0) / half);
        let last = self.counts.len();
        let mut upto = 0_u64;
        let mut kept: Vec<EcdfPoint> = Vec::new();
        for (value, count) in self.steps() {
            upto = upto.saturating_add(count);
            let share = upto as f64 / total;
            let moved = |p: &EcdfPoint| share - p.share >= by_share || nines(share) - nines(p.share) >= by_nines;
            if upto == last || kept.last().is_none_or(moved) {
                kept.push(EcdfPoint { value: value as f64, share });
            }
        }
        kept
    }
}

/// Equal if they counted the same, within the precision they keep.
impl<U: Unit> PartialEq for Histogram<U> {
    fn eq(&self, other: &Self) -> bool {
        let key = |h: &Self| (h.bound(), h.beyond, h.min, h.max);
        key(self) == key(other) && self.counts == other.counts
    }
}

/// A summary; thousands of bins help nobody.
impl<U: Unit> fmt::Debug for Histogram<U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Histogram")
            .field("unit", &U::NAME)
            .field("len", &self.len())
            .field("beyond", &self.beyond)
            .field("min", &self.min())
            .field("median", &self.quantile(0.5))
            .field("max", &self.max())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_beyond_the_bound_counts_in_every_share_and_has_no_value() {
        let mut h = Histogram::<Ns>::with_bound(1000);
        h.record_n_saturating(10, 90);
        h.record_n_saturating(5_000_000, 10);
        assert_eq!((h.len(), h.beyond(), h.max()), (100, 10, Some(5_000_000)));
        assert_eq!((h.quantile(0.9), h.quantile(0.91)), (Some(10), None));
        assert_eq!((h.mean(), h.count_above(10), h.count_above(9)), (None, 10, 100));
        assert_eq!(h.ecdf(100).last().map(|p| p.share), Some(0.9));
    }

    #[test]
    fn an_empty_histogram_says_nothing() {
        let h = Histogram::<Ticks>::with_bound(0);
        assert_eq!((h.quantile(0.5), h.min(), h.max(), h.mean(), h.ecdf(10).len()), (None, None, None, None, 0));
    }

    #[test]
    fn merging_is_recording_both_and_unlike_bounds_are_refused() {
        let (mut a, mut b, mut both) =
            (Histogram::<Ns>::default(), Histogram::<Ns>::default(), Histogram::<Ns>::default());
        for i in 0..1000_u64 {
            let value = i * i * 977;
            [&mut a, &mut b][i as usize % 2].record_saturating(value);
            both.record_saturating(value);
        }
        a.merge(&b).expect("alike");
        assert_eq!(a, both);
        let refused = a.merge(&Histogram::with_bound(7)).expect_err("unlike bounds");
        assert_eq!(refused.to_string(), "histograms with bounds 60000000000 and 7 do not merge");
    }

    #[test]
    fn the_thinned_ecdf_keeps_the_tail_and_is_monotone() {
        let mut h = Histogram::<Ns>::default();
        for i in 1..=100_000_u64 {
            h.record_saturating(1_000_000_000 / i);
        }
        let points = h.ecdf(200);
        assert!(points.len() <= 202, "{}", points.len());
        assert!(points.windows(2).all(|w| w[0].value < w[1].value && w[0].share < w[1].share));
        assert_eq!(points.last(), Some(&EcdfPoint { value: 1e9, share: 1.0 }));
        assert!(points.iter().filter(|p| p.share > 0.99).count() > 40, "the last per cent is where misses live");
    }
}
