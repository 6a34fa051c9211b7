//! Families of values, as prometheus-client writes them.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use takt_runtime::ComponentTally;

/// Characters of a label's value: more than any name may have that a node lets in.
pub(super) const MOST_CHARS: usize = 512;

/// Upper ends of the histogram of execution times: 1, 2 and 5 of each decade from a microsecond to a second.
pub(crate) const TIMES_NS: [u64; 19] = [
    1_000,
    2_000,
    5_000,
    10_000,
    20_000,
    50_000,
    100_000,
    200_000,
    500_000,
    1_000_000,
    2_000_000,
    5_000_000,
    10_000_000,
    20_000_000,
    50_000_000,
    100_000_000,
    200_000_000,
    500_000_000,
    1_000_000_000,
];

/// Labels of a value, by name.
pub(super) type Labels = Vec<(&'static str, String)>;

/// Labels by name. A node's or tenant's text may be long, or have characters that command a terminal.
pub(super) fn labels<const N: usize>(all: [(&'static str, &str); N]) -> Labels {
    let visible = |c: char| if c.is_control() && c != '\n' { char::REPLACEMENT_CHARACTER } else { c };
    all.map(|(name, text)| (name, text.chars().take(MOST_CHARS).map(visible).collect())).to_vec()
}

/// The only value of its family.
pub(super) fn alone<N>(value: N) -> (Labels, N) {
    (Vec::new(), value)
}

/// Values that differ in one label.
pub(super) fn by<N>(
    label: &'static str,
    all: impl Iterator<Item = (&'static str, N)>,
) -> impl Iterator<Item = (Labels, N)> {
    all.map(move |(name, value)| (labels([(label, name)]), value))
}

/// Writes families; one without values is left out.
pub(super) struct Page<'a, 'b>(pub(super) &'a mut DescriptorEncoder<'b>);

impl Page<'_, '_> {
    pub(super) fn gauges<N: EncodeGaugeValue>(
        &mut self,
        name: &str,
        help: &str,
        all: impl IntoIterator<Item = (Labels, N)>,
    ) -> fmt::Result {
        let all: Vec<_> = all.into_iter().map(|(labels, value)| (labels, ConstGauge::new(value))).collect();
        self.family(name, help, &all)
    }

    pub(super) fn counters(
        &mut self,
        name: &str,
        help: &str,
        all: impl IntoIterator<Item = (Labels, u64)>,
    ) -> fmt::Result {
        let all: Vec<_> = all.into_iter().map(|(labels, value)| (labels, ConstCounter::new(value))).collect();
        self.family(name, help, &all)
    }

    pub(super) fn family<M: EncodeMetric>(&mut self, name: &str, help: &str, all: &[(Labels, M)]) -> fmt::Result {
        let Some((_, first)) = all.first() else { return Ok(()) };
        let mut family = self.0.encode_descriptor(name, help, None, first.metric_type())?;
        all.iter().try_for_each(|(labels, value)| value.encode(family.encode_family(labels)?))
    }
}

/// Execution times of a component.
pub(super) struct Times {
    /// Upper ends, and how many lie between each and the one before.
    bars: Vec<(f64, u64)>,
    count: u64,
    sum_s: f64,
}

impl Times {
    pub(super) fn of(tally: &ComponentTally) -> Times {
        let mut below = 0;
        let within = tally.within.iter().copied().chain(std::iter::repeat(0));
        let bars = TIMES_NS.iter().zip(within).map(|(&end, within)| {
            // A node that begins to count has no bars yet.
            let bar = within.saturating_sub(below);
            below = within.max(below);
            (seconds(end), bar)
        });
        let mut bars: Vec<_> = bars.collect();
        bars.push((f64::INFINITY, tally.executions.saturating_sub(below)));
        Times { bars, count: tally.executions, sum_s: seconds(tally.sum_ns) }
    }
}

impl EncodeMetric for Times {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> fmt::Result {
        encoder.encode_histogram::<NoLabelSet>(self.sum_s, self.count, &self.bars, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

pub(super) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
