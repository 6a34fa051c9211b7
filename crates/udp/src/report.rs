//! Measurements of a load: the JSON document of `takt udp send`.
//!
//! Keys are stable and carry their units. `docs/reference/udp.md` explains each.

use serde::{Deserialize, Deserializer, Serialize};
use takt_stats::{Histogram, Ns, Quantiles};

use super::clock::Relation;
use super::options::UdpOptions;
use super::place::Places;
use super::side::{Cpu, Evidence};

/// Version of the document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 2;

/// The document. The figures of [`Way`] stand at its top: to the server, or from it with `--reverse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpReport {
    pub schema: u32,
    pub options: UdpOptions,
    /// The way that was requested; with `--bidir` the way to the server.
    #[serde(flatten)]
    pub way: Way,
    pub from_server: Option<Way>,
    pub cpu: Cpu,
    pub clock: Relation,
    pub evidence: Evidence,
    /// Whether load was sent for as long as was planned; `false` after Ctrl-C.
    pub complete: bool,
}

impl UdpReport {
    /// Whether everything that was to be sent was, and arrived.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        let mut ways = std::iter::once(&self.way).chain(&self.from_server);
        ways.all(|way| way.sent.datagrams > 0 && way.lost.total == 0 && way.unsent == 0)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Way {
    pub direction: WayName,
    pub sent: SentFigures,
    pub received: ReceivedFigures,
    pub lost: Lost,
    pub duplicates: u64,
    /// Received after one with a higher number (RFC 4737).
    pub reordered: u64,
    #[serde(default)]
    pub reordering: Reordered,
    /// Received so late (131 072 numbers) that nobody can tell late from repeated; among the lost.
    pub too_old: u64,
    /// Received with a number so far ahead (131 072 numbers) that nobody believes it: the next of its flow was not near;
    /// among the lost.
    #[serde(default)]
    pub too_far: u64,
    /// Due by the schedule and not sent in its time: the sender did not keep up. Not among the lost.
    pub unsent: u64,
    pub datagrams_per_s: f64,
    pub throughput_bps: f64,
    /// Interarrival jitter of RFC 3550 (6.4.1, A.8) from the kernel's arrival stamps and intended send times, µs; the mean
    /// over flows. `None`: fewer than two datagrams.
    pub jitter_us: Option<f64>,
    pub latency_kind: LatencyKind,
    pub latency_us: Quantiles,
    /// From intended send time to when it was handed to the kernel, µs: the sender's own error.
    pub pacing_error_us: Quantiles,
    pub crossed_as: CrossedAs,
    pub flows: Vec<FlowReceived>,
    pub intervals: Vec<Interval>,
    pub histograms: Histograms,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayName {
    ToServer,
    FromServer,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentFigures {
    pub datagrams: u64,
    pub payload_bytes: u64,
    pub calls: u64,
    pub span_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceivedFigures {
    pub datagrams: u64,
    pub payload_bytes: u64,
    pub calls: u64,
    pub span_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    pub total: u64,
    pub share: f64,
    pub by_place: Places,
    pub unplaced: u64,
}

/// How far out of order datagrams came: RFC 4737.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordered {
    pub share: f64,
    /// Arrivals since the first datagram with a higher number: the mean over the reordered (4.2.1). `None`: none was.
    pub extent_mean: Option<f64>,
    pub extent_max: u64,
    pub late_max_us: f64,
    /// Each of the last three arrivals had a higher number: what a TCP would take for lost (5.2).
    pub three_reordered: u64,
    pub beyond_memory: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// One way, both stamps from the clock of one machine.
    OneWay,
    /// One way, by clocks of two machines, set against each other by round trips before the round: good to
    /// `clock.uncertainty_ns` and the drift since.
    OneWayEstimated,
}

/// Unit that crossed the path as one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrossedAs {
    /// The receiver's device counted at least as many frames as datagrams arrived.
    Datagrams,
    /// The path's frames are shorter than the datagrams: each crossed as several IP fragments.
    Fragments,
    /// It counted fewer: several datagrams crossed as one frame, so datagrams/s are no packets/s.
    Aggregates,
    Unknown,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowReceived {
    #[serde(default)]
    pub sent: u64,
    pub datagrams: u64,
    pub reordered: u64,
    pub duplicates: u64,
    pub jitter_us: Option<f64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    pub start_s: f64,
    /// Since the first arrival; the last interval has no end.
    pub end_s: f64,
    /// Datagrams due so long after the start, and sent; 0 where only the receiver speaks.
    #[serde(default)]
    pub sent: u64,
    pub datagrams: u64,
    pub payload_bytes: u64,
    /// Numbers that were skipped in it and had not come by its end; what was lost after the last arrival is in none.
    #[serde(deserialize_with = "not_below_zero")]
    pub lost: u64,
    /// Datagrams that came in it whose numbers had been skipped in an earlier one.
    #[serde(default)]
    pub late: u64,
    pub latency_max_us: f64,
}

/// Older versions took what came late off the count, which could then be negative.
fn not_below_zero<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    i64::deserialize(deserializer).map(|count| count.max(0).unsigned_abs())
}

/// The distributions, in a form that can be merged: `HdrHistogram` V2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histograms {
    pub latency_ns: Histogram<Ns>,
    pub pacing_error_ns: Histogram<Ns>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_an_older_version_that_is_below_zero_is_read() {
        let text = |lost: &str| {
            format!(
                r#"{{"start_s": 1.0, "end_s": 2.0, "datagrams": 5, "payload_bytes": 9, "lost": {lost}, "latency_max_us": 0.5}}"#
            )
        };
        for (text, lost) in [(text("-3"), 0), (text("7"), 7)] {
            let interval: Interval = serde_json::from_str(&text).unwrap();
            assert_eq!((interval.lost, interval.late, interval.datagrams), (lost, 0, 5));
        }
    }
}
