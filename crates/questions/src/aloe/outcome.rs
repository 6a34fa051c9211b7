//! Findings of the study, as data: `takt paper aloe --json` prints them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_load::waveform::Floors;

use super::{Elsewhere, Execution, Facts, TwoNodes};
use crate::study::{Figure, StudyRun};

/// Version of the document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 1;

/// Everything the study found: what `takt paper aloe --json` prints. Keys are stable and carry their units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AloeOutcome {
    #[serde(flatten)]
    pub of: StudyRun,
    /// Whether workers had real-time priority; `None` where no round tells.
    pub real_time: Option<bool>,
    pub paper: Facts,
    /// Table I and Figure 1; empty in documents of before they were looked at.
    #[serde(default)]
    pub execution: Execution,
    /// The ARM columns; empty in documents of before they were looked at.
    #[serde(default)]
    pub elsewhere: Elsewhere,
    /// Figure 2: longest packets, by nodes, workers and slot.
    pub longest: Vec<LongestPoint>,
    pub two_over_one: Vec<TwoOverOne>,
    /// Two nodes joined by a cable; empty in documents of before they were looked at.
    #[serde(default)]
    pub two_nodes: TwoNodes,
    /// Figures 3 and 4, by reader and length.
    pub interface: Vec<InterfacePoint>,
    /// Figures 5 and 6.
    pub overhead: Overhead,
    /// Table II.
    pub roles: Vec<Role>,
    /// Table III.
    pub memory: MemoryUse,
    /// Lower limits, medians over all rounds of this processor that count and measured them.
    pub floors: Floors,
}

/// One slot duration of Figure 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LongestPoint {
    pub slot_us: f64,
    /// Machines: 1, or 2 joined by a cable.
    #[serde(default = "one")]
    pub nodes: usize,
    /// Workers of each, each on a core of its own.
    pub workers: usize,
    /// Longest packet, bits at the source.
    pub bits: Figure,
    /// Bits a second at that length.
    pub throughput_bps: Figure,
    /// Share of the slot in use in 99.9 % of slots at that length.
    pub used_share: Figure,
    /// Share of what the cable between two nodes carries in a slot.
    #[serde(default)]
    pub cable_used_share: Figure,
    /// Rounds by the cause that ended their search, to which the first length that failed was attributed. It is a
    /// component or `release`; between two nodes `cable`, where it was full, or `bridge`, where a packet was late all
    /// the same.
    pub ended_by: BTreeMap<String, usize>,
    /// Why no round was run, if none was.
    pub skipped: Option<String>,
}

fn one() -> usize {
    1
}

/// Two cores, or two nodes, beside one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoOverOne {
    pub slot_us: f64,
    /// Throughput on two over that on one core, block by block.
    pub ratio: Figure,
}

/// One packet length of Figures 3 and 4.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InterfacePoint {
    pub packet_bits: u64,
    /// `same-core` or `other-core`.
    pub reader: String,
    /// Mean of write, hand-over and read, ns.
    pub mean_ns: Figure,
    /// Median of the same, ns.
    pub median_ns: Figure,
    /// The hand-over alone, mean, ns.
    pub hand_over_ns: Figure,
    /// The hand-over in 99.9 % of packets, ns.
    pub hand_over_p99_9_ns: Figure,
    /// Median latency over that of the same copies without a link.
    pub over_floor: Figure,
    /// Packet bits over mean latency.
    pub throughput_bps: Figure,
    /// Largest latency over the mean.
    pub largest_over_mean: Figure,
    /// Packets measured in all rounds that count.
    pub measured: u64,
    /// Their distribution: ns and the share of packets up to it.
    pub ecdf_ns: Vec<(f64, f64)>,
}

/// Overhead of the runtime itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overhead {
    /// By components, as fast as slots go.
    pub points: Vec<OverheadPoint>,
    /// Intercept of the line through them: a slot without components, ns.
    pub base_ns: Figure,
    /// Slope: each component, ns.
    pub module_ns: Figure,
    /// Overhead between two components of a slot: Figure 5, one by one.
    pub between: BetweenComponents,
    /// On the beat.
    pub beat: Vec<BeatPoint>,
    /// Share of a slot by the line, beside the paper's model: Figure 6.
    pub relative: Vec<Relative>,
}

/// One length of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OverheadPoint {
    pub components: usize,
    pub overhead_ns: Figure,
}

/// Overhead between two components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BetweenComponents {
    pub measured: u64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p99_ns: Option<u64>,
    pub p99_9_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// ns and the share up to it.
    pub ecdf_ns: Vec<(f64, f64)>,
}

/// A chain where slots begin at their edges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BeatPoint {
    pub components: usize,
    pub slot_us: f64,
    /// Overhead over the slot, 0 to 1.
    pub share: Figure,
}

/// Figure 6.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relative {
    pub components: usize,
    pub slot_us: f64,
    /// By the line through what was measured here, 0 to 1.
    pub share: f64,
    /// By the paper's model, x86; more than 1 does not fit.
    pub paper_share: f64,
}

/// A row of Table II.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Role {
    pub name: String,
    pub does: String,
    /// The paper's, µs a slot, x86.
    pub paper_x86_us: f64,
    pub paper_arm_us: Option<f64>,
    /// Here, ns a slot; `None` where the role has no cost a slot.
    pub per_slot_ns: Option<Figure>,
    /// Here, ns once; where it is not a slot's.
    pub once_ns: Option<Figure>,
    /// On the emulated aarch64, ns a slot, or once as here.
    #[serde(default)]
    pub elsewhere_ns: Option<Figure>,
    /// Its stand-in here, and how that was measured.
    pub how: String,
}

/// Table III.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// Written by the process before a waveform is there, bytes.
    pub base_bytes: Figure,
    /// In memory at all then, the program's file included, bytes.
    pub base_resident_bytes: Figure,
    /// Each further component of a chain with everything that belongs to it, bytes.
    pub component_bytes: Figure,
    /// By components: what the process has written while the waveform is there.
    pub points: Vec<MemoryPoint>,
}

/// One length of a chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryPoint {
    pub components: usize,
    pub private_bytes: Figure,
}
