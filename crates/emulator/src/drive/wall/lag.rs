//! How late the emulator itself was: from when a datagram ought to have left to when the kernel had it.
//!
//! A radio has no such lag. A test that blames a host must first look here: in a span in which it was above the limit the
//! emulator, not the host, may have broken the beat.

use std::collections::VecDeque;
use std::time::Duration;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use takt_base::MonoNs;

use super::late_by::{LateBy, LateSpan, SpansBy};
use super::waiting::Waiting;

/// Longest lag told apart: a minute.
const LONGEST_NS: u64 = 60_000_000_000;
/// Spans of lateness that are less than this apart are one: a driver that catches up sends some datagrams in time.
const APART_NS: u64 = 2_000_000;
/// Spans kept. If a driver is late more often than that in its life, the oldest become one. A host that asks now wants
/// to know about its own round.
const SPANS: usize = 4096;

pub(super) struct Lag {
    histogram: Histogram<u64>,
    limit_ns: u64,
    over_limit: u64,
    max_ns: u64,
    unsent: u64,
    latest_ns: u64,
    spans: VecDeque<LateSpan>,
}

/// Facts of an emulator about its own punctuality.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LagReport {
    /// Above this a host could have noticed, in microseconds.
    pub limit_us: u64,
    /// Datagrams that left later than the limit, or not at all.
    pub over_limit: u64,
    /// Largest lag, microseconds, rounded up.
    pub max_us: u64,
    /// Half of all datagrams left within this, microseconds.
    pub p50_us: u64,
    pub p99_us: u64,
    pub p99_9_us: u64,
    pub datagrams: u64,
    /// Datagrams that never left: the kernel would not take them, or they were more than a quarter of a second late.
    pub unsent: u64,
    pub histogram: LagHistogram,
    #[serde(default)] // summaries older than this key
    pub late_spans: Vec<LateSpan>,
    /// Those spans by who held the driver up for most of each.
    #[serde(default)] // as above
    pub late_by: SpansBy,
    /// How the driver waited for its beats; `None`: it never ran.
    #[serde(default)]
    pub waiting: Option<Waiting>,
}

/// Lag in nanoseconds (upper end of a bucket of 1 %) and how many datagrams had it, rising. As text: pairs `ns:count`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LagHistogram(pub Vec<(u64, u64)>);

impl From<LagHistogram> for String {
    fn from(histogram: LagHistogram) -> String {
        let pairs = histogram.0.iter().map(|(ns, count)| format!("{ns}:{count}"));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a pair of lag and count such as 1023:7")]
pub struct LagHistogramError {
    pub got: String,
}

impl TryFrom<String> for LagHistogram {
    type Error = LagHistogramError;
    fn try_from(text: String) -> Result<LagHistogram, LagHistogramError> {
        let pair = |text: &str| {
            let pair = text.split_once(':').and_then(|(ns, count)| ns.parse().ok().zip(count.parse().ok()));
            pair.ok_or_else(|| LagHistogramError { got: text.to_owned() })
        };
        text.split_whitespace().map(pair).collect::<Result<_, _>>().map(LagHistogram)
    }
}

impl Lag {
    pub(super) fn new(limit: Duration) -> Lag {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, 2);
        Lag {
            // Bounds and digits are constants in range.
            histogram: histogram.unwrap_or_else(|_| unreachable!("constant bounds")),
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
            over_limit: 0,
            max_ns: 0,
            unsent: 0,
            latest_ns: 0,
            spans: VecDeque::with_capacity(SPANS),
        }
    }

    /// A datagram that was due at `due` has left at `left`.
    pub(super) fn note(&mut self, due: MonoNs, left: MonoNs) {
        let lag_ns = left.0.saturating_sub(due.0);
        self.histogram.saturating_record(lag_ns.max(1));
        self.max_ns = self.max_ns.max(lag_ns);
        if lag_ns > self.limit_ns {
            self.over_limit += 1;
            self.late(due, left);
        }
    }

    /// A datagram that was due at `due` and will never leave, as was seen at `now`.
    pub(super) fn lose(&mut self, due: MonoNs, now: MonoNs) {
        self.unsent += 1;
        self.over_limit += 1;
        self.late(due, now.max(due));
    }

    /// Notes the causes that held up the last late one.
    pub(super) fn held_up(&mut self, by: &LateBy) {
        if let Some(last) = self.spans.back_mut() {
            last.by += *by;
        }
    }

    /// The largest lag above the limit since the last call, nanoseconds; 0: none.
    pub(super) fn take_latest_ns(&mut self) -> u64 {
        std::mem::take(&mut self.latest_ns)
    }

    fn late(&mut self, due: MonoNs, until: MonoNs) {
        let lag_ns = until.0.saturating_sub(due.0);
        self.latest_ns = self.latest_ns.max(lag_ns);
        match self.spans.back_mut() {
            Some(last) if due.0 <= last.to_ns.saturating_add(APART_NS) => {
                last.from_ns = last.from_ns.min(due.0);
                last.to_ns = last.to_ns.max(until.0);
                last.lag_ns = last.lag_ns.max(lag_ns);
            }
            _ => {
                self.make_room();
                self.spans.push_back(LateSpan { from_ns: due.0, to_ns: until.0, by: LateBy::default(), lag_ns });
            }
        }
    }

    /// For one more: the two oldest become one, which allocates nothing.
    fn make_room(&mut self) {
        let oldest = if self.spans.len() >= SPANS { self.spans.pop_front() } else { None };
        if let (Some(oldest), Some(next)) = (oldest, self.spans.front_mut()) {
            next.from_ns = oldest.from_ns;
            next.by += oldest.by;
            next.lag_ns = next.lag_ns.max(oldest.lag_ns);
        }
    }

    pub(super) fn report(&self) -> LagReport {
        let counts = self.histogram.iter_recorded();
        LagReport {
            limit_us: self.limit_ns / 1000,
            over_limit: self.over_limit,
            max_us: self.max_ns.div_ceil(1000),
            unsent: self.unsent,
            late_spans: self.spans.iter().copied().collect(),
            late_by: SpansBy::of(&self.spans),
            histogram: LagHistogram(counts.map(|v| (v.value_iterated_to(), v.count_at_value())).collect()),
            ..LagReport::default()
        }
        .with_quantiles()
    }
}

impl LagReport {
    /// This and another emulator's lag together. The limits are taken to be the same.
    #[must_use]
    pub fn merged(mut self, other: &LagReport) -> LagReport {
        self.limit_us = self.limit_us.max(other.limit_us);
        self.over_limit += other.over_limit;
        self.max_us = self.max_us.max(other.max_us);
        self.unsent += other.unsent;
        self.late_spans.extend(&other.late_spans);
        self.late_spans.sort_unstable();
        self.late_by = SpansBy::of(&self.late_spans);
        match (&mut self.waiting, &other.waiting) {
            (Some(own), Some(other)) => own.merge(other),
            (own, other) => *own = own.take().or_else(|| other.clone()),
        }
        self.histogram.0.extend(&other.histogram.0);
        self.histogram.0.sort_unstable();
        self.histogram.0.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0 };
            same
        });
        self.with_quantiles()
    }

    fn with_quantiles(mut self) -> LagReport {
        self.datagrams = self.histogram.0.iter().map(|pair| pair.1).sum();
        self.p50_us = self.quantile_us(500);
        self.p99_us = self.quantile_us(990);
        self.p99_9_us = self.quantile_us(999);
        self
    }

    /// The lag within which so many thousandths left.
    fn quantile_us(&self, thousandths: u64) -> u64 {
        let rank = (self.datagrams * thousandths).div_ceil(1000);
        let mut counted = 0;
        let reached = self.histogram.0.iter().find(|(_, count)| {
            counted += count;
            counted >= rank
        });
        reached.map_or(0, |(ns, _)| ns.div_ceil(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lag(lags_us: impl IntoIterator<Item = u64>) -> LagReport {
        let mut lag = Lag::new(Duration::from_millis(1));
        for us in lags_us {
            lag.note(MonoNs(1_000_000), MonoNs(1_000_000 + us * 1000));
        }
        lag.report()
    }

    #[test]
    fn what_is_over_the_limit_is_counted() {
        let report = lag([0, 10, 1000, 1001, 5000]);
        assert_eq!((report.over_limit, report.max_us, report.limit_us, report.datagrams), (2, 5000, 1000, 5));
    }

    #[test]
    fn lateness_that_is_close_together_is_one_span() {
        let mut lag = Lag::new(Duration::from_millis(1));
        let at = |us: u64| MonoNs(us * 1000);
        lag.note(at(1_000), at(3_500)); // late
        lag.note(at(3_600), at(3_700)); // in time
        lag.note(at(4_000), at(5_100)); // late again, soon after
        lag.note(at(20_000), at(20_100));
        lag.lose(at(30_000), at(300_000));
        let span = |(from, to, lag): (u64, u64, u64)| LateSpan {
            from_ns: from * 1000,
            to_ns: to * 1000,
            lag_ns: lag * 1000,
            ..LateSpan::default()
        };
        assert_eq!(lag.report().late_spans, [(1_000, 5_100, 2_500), (30_000, 300_000, 270_000)].map(span));
        assert_eq!(lag.report().late_spans[0].held_ns(), 2_500_000, "it caught up in the rest");
        assert_eq!(LateSpan { from_ns: 5, to_ns: 12, ..LateSpan::default() }.held_ns(), 7, "of an older summary");
        assert_eq!((lag.report().over_limit, lag.report().unsent), (3, 1));
    }

    #[test]
    fn of_more_spans_than_are_kept_the_oldest_become_one() {
        let mut lag = Lag::new(Duration::from_millis(1));
        let late = |n: u64| (MonoNs(n * 10_000_000), MonoNs(n * 10_000_000 + 2_000_000));
        let (all, room) = (SPANS as u64 + 7, lag.spans.capacity());
        for (due, left) in (0..all).map(late) {
            lag.note(due, left);
        }
        let spans = lag.report().late_spans;
        assert_eq!((spans.len(), lag.spans.capacity()), (SPANS, room));
        assert_eq!((spans[0].from_ns, spans[0].to_ns), (late(0).0.0, late(7).1.0));
        assert_eq!((spans[SPANS - 1].from_ns, spans[SPANS - 1].to_ns), (late(all - 1).0.0, late(all - 1).1.0));
    }

    #[test]
    fn merging_adds_counts_and_keeps_order() {
        let whole = lag(1..=1000);
        let parts = lag((1..=1000).step_by(2)).merged(&lag((2..=1000).step_by(2)));
        assert_eq!(whole, parts);
        assert!((495..=510).contains(&whole.p50_us), "{}", whole.p50_us);
        assert!((985..=1005).contains(&whole.p99_us), "{}", whole.p99_us);
    }

    #[test]
    fn the_histogram_survives_as_text() {
        let whole = lag([1, 1, 2000]).histogram;
        assert_eq!(LagHistogram::try_from(String::from(whole.clone())), Ok(whole));
        assert!(LagHistogram::try_from("1:2 3".to_owned()).is_err());
    }

    #[test]
    fn nothing_measured_is_nothing_claimed() {
        let report = Lag::new(Duration::from_millis(1)).report();
        assert_eq!(report, LagReport { limit_us: 1000, ..LagReport::default() });
    }
}
