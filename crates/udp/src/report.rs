//! What a load measured: the JSON document of `takt udp send`.
//!
//! Keys are stable and carry their units. `docs/reference/udp.md` explains each.

use serde::{Deserialize, Serialize};
use takt_stats::{Histogram, Ns};

use super::clock::Relation;
use super::options::Options;
use super::place::Places;
use super::side::{Cpu, Evidence};

/// Version of the document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// The document. The figures of [`Way`] stand at its top: to the server, or from it with `--reverse`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UdpReport {
    /// [`SCHEMA`] of the program that wrote it.
    pub schema: u32,
    /// What was asked for.
    pub options: Options,
    /// The way that was asked for; with `--bidir` the way to the server.
    #[serde(flatten)]
    pub way: Way,
    /// With `--bidir`: the way from the server.
    pub from_server: Option<Way>,
    /// CPU of both ends and of their machines.
    pub cpu: Cpu,
    /// How the ends' clocks are related.
    pub clock: Relation,
    /// What each end's kernel counted.
    pub evidence: Evidence,
    /// Whether load was sent for as long as was planned; `false` after Ctrl-C.
    pub complete: bool,
}

/// One way of a load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Way {
    /// `to_server` or `from_server`.
    pub direction: WayName,
    /// What was sent.
    pub sent: SentFigures,
    /// What was received, each datagram once.
    pub received: ReceivedFigures,
    /// What was sent and not received.
    pub lost: Lost,
    /// Received again, beyond the first time.
    pub duplicates: u64,
    /// Received after one with a higher number (RFC 4737).
    pub reordered: u64,
    /// How far out of order (RFC 4737).
    #[serde(default)]
    pub reordering: Reordered,
    /// Received so late (131 072 numbers) that nobody can tell late from repeated; among the lost.
    pub too_old: u64,
    /// Due by the schedule and not sent in its time: the sender did not keep up. Not among the lost.
    pub unsent: u64,
    /// Received datagrams a second.
    pub datagrams_per_s: f64,
    /// Payload bits received a second.
    pub throughput_bps: f64,
    /// Interarrival jitter of RFC 3550 (6.4.1, A.8) from the kernel's arrival stamps and intended send times, µs; the mean
    /// over flows. `None`: fewer than two datagrams.
    pub jitter_us: Option<f64>,
    /// What `latency_us` is.
    pub latency_kind: LatencyKind,
    /// From intended send time to the kernel's arrival stamp, µs.
    pub latency_us: Quantiles,
    /// From intended send time to when it was handed to the kernel, µs: the sender's own error.
    pub pacing_error_us: Quantiles,
    /// What one datagram on the path was.
    pub crossed_as: CrossedAs,
    /// By flow.
    pub flows: Vec<FlowReceived>,
    /// By time since the first arrival.
    pub intervals: Vec<Interval>,
    /// The distributions, whole.
    pub histograms: Histograms,
}

/// Names of the ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WayName {
    /// From the client to the server.
    ToServer,
    /// From the server to the client.
    FromServer,
}

/// What was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SentFigures {
    /// Datagrams given to the kernel.
    pub datagrams: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// System calls it took, control messages included.
    pub calls: u64,
    /// How long was sent, seconds.
    pub span_s: f64,
}

/// What was received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReceivedFigures {
    /// Different datagrams.
    pub datagrams: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// System calls it took, control messages included.
    pub calls: u64,
    /// From the first arrival to the last, seconds.
    pub span_s: f64,
}

/// What was sent and not received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Lost {
    /// Datagrams.
    pub total: u64,
    /// Of the sent, 0 to 1.
    pub share: f64,
    /// Where they were seen to go.
    pub by_place: Places,
    /// Seen to go nowhere: no counter of either end moved.
    pub unplaced: u64,
}

/// How far out of order datagrams came: RFC 4737.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reordered {
    /// Of the different datagrams received, 0 to 1 (3.4).
    pub share: f64,
    /// Arrivals since the first datagram with a higher number: the mean over the reordered (4.2.1). `None`: none was.
    pub extent_mean: Option<f64>,
    /// The largest.
    pub extent_max: u64,
    /// The longest time since that arrival, µs (4.2.2).
    pub late_max_us: f64,
    /// Each of the last three arrivals had a higher number: what a TCP would take for lost (5.2).
    pub three_reordered: u64,
    /// More than 1024 gaps late: of these the extent is a lower bound.
    pub beyond_memory: u64,
}

/// What a latency was measured between.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatencyKind {
    /// One way, both stamps from the clock of one machine.
    OneWay,
    /// One way, by clocks of two machines, set against each other by round trips before the round: good to
    /// `clock.uncertainty_ns` and the drift since.
    OneWayEstimated,
}

/// Quantiles in µs; `None` when nothing was measured, or beyond a minute.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Smallest.
    pub min: Option<f64>,
    /// Half are below.
    pub p50: Option<f64>,
    /// 99 % are below.
    pub p99: Option<f64>,
    /// 99.9 % are below.
    pub p99_9: Option<f64>,
    /// Largest.
    pub max: Option<f64>,
}

impl Quantiles {
    /// Of a histogram of nanoseconds.
    #[must_use]
    pub fn of(histogram: &Histogram<Ns>) -> Quantiles {
        let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
        Quantiles {
            min: us(histogram.min()),
            p50: us(histogram.quantile(0.5)),
            p99: us(histogram.quantile(0.99)),
            p99_9: us(histogram.quantile(0.999)),
            max: us(histogram.max()),
        }
    }
}

/// What crossed the path as one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CrossedAs {
    /// The receiver's device counted at least as many frames as datagrams arrived.
    Datagrams,
    /// The path's frames are shorter than the datagrams: each crossed as several IP fragments.
    Fragments,
    /// It counted fewer: several datagrams crossed as one frame, so datagrams/s are no packets/s.
    Aggregates,
    /// It could not be asked.
    Unknown,
}

/// One flow, as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlowReceived {
    /// Datagrams sent; 0 where only the receiver speaks.
    #[serde(default)]
    pub sent: u64,
    /// Different datagrams.
    pub datagrams: u64,
    /// Of these, after one with a higher number.
    pub reordered: u64,
    /// Again.
    pub duplicates: u64,
    /// RFC 3550, µs.
    pub jitter_us: Option<f64>,
}

/// One interval, as received.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Since the first arrival.
    pub start_s: f64,
    /// Since the first arrival; the last interval has no end.
    pub end_s: f64,
    /// Datagrams due so long after the start, and sent; 0 where only the receiver speaks.
    #[serde(default)]
    pub sent: u64,
    /// Different datagrams.
    pub datagrams: u64,
    /// Their payload.
    pub payload_bytes: u64,
    /// Numbers that were skipped in it, less those that came late; what was lost after the last arrival is in none.
    pub lost: i64,
    /// Largest latency, µs.
    pub latency_max_us: f64,
}

/// The distributions, in a form that can be merged: `HdrHistogram` V2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Histograms {
    /// As `latency_us`.
    pub latency_ns: Histogram<Ns>,
    /// As `pacing_error_us`.
    pub pacing_error_ns: Histogram<Ns>,
}
