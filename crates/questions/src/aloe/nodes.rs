//! Two nodes joined by a cable: how long packets may be there (the third curve of Figure 2), and the UTRAN chain split by the
//! mapper.
//!
//! Both nodes are on one machine, each in a network namespace, with a virtual cable of the paper's rate between them. So both
//! have one clock: by how much the second misses the first one's is seen, not only bounded.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_graph::Share;
use takt_lab::store::RoundRow;
use takt_load::nodes::{Mapped, Nodes, OnNodes};

use super::assemble::read;
use super::{LongestPoint, TwoOverOne};
use crate::study::Figure;
use crate::study::figure::RoundValue;
use crate::study::part::{Point, at};

/// Findings on two nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TwoNodes {
    /// Rate of the cable each way, bits a second.
    pub cable_bps: Option<f64>,
    /// Throughput over that of one core of one machine, block by block.
    pub over_one_core: Vec<TwoOverOne>,
    /// The UTRAN chain on both.
    pub split: Vec<SplitPoint>,
    /// Why a round was not run, if one was not.
    pub skipped: Option<String>,
}

/// The UTRAN chain on two nodes, at one slot duration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SplitPoint {
    /// Environments of the nodes.
    pub first_node: String,
    pub second_node: String,
    pub slot_us: f64,
    /// Components of either node, by the mapper, in the last round that counts.
    pub on_first: Vec<String>,
    pub on_second: Vec<String>,
    /// Rounds by where the mapper cut: the last component of the first node.
    pub cut_after: BTreeMap<String, usize>,
    /// The busiest core or link by the mapper: the shortest slot it expects to hold, ns.
    pub period_ns: Figure,
    /// Expected time of all components, on the nodes that have them, and of the cable, ns.
    pub components_ns: Figure,
    pub link_ns: Figure,
    /// Slots of components missed, and slots, of all rounds that count.
    pub misses: u64,
    pub slots: u64,
    /// Rounds whose sinks received what they receive on one node, of those that count.
    pub same_output: usize,
    /// Rounds among these without a miss whose sinks received something else.
    pub other_output: usize,
    pub rounds: usize,
    pub latency_slots: Option<u64>,
    /// Share of what the cable carries in a slot.
    pub cable_used_share: Figure,
    /// Time that the ends of the bridges take of the workers, ns a slot: the role BRIDGE between machines.
    pub bridges_ns: Figure,
    /// By how much the second node missed the first one's clock, and how far off it held that to be at most, ns.
    pub clock_off_ns: Figure,
    pub clock_bound_ns: Figure,
    /// Why no round was run, if none was.
    pub skipped: Option<String>,
}

impl SplitPoint {
    /// The environments of both.
    #[must_use]
    pub fn pair(&self) -> [&str; 2] {
        [&self.first_node, &self.second_node]
    }
}

pub(super) fn two_nodes(curve: &[Point<'_>], one: &[Point<'_>], split: [&[Point<'_>]; 2]) -> TwoNodes {
    let mut points: Vec<SplitPoint> = split.into_iter().flatten().map(split_point).collect();
    points.sort_by(|a, b| b.pair().cmp(&a.pair()).then(a.slot_us.total_cmp(&b.slot_us)));
    let first = curve.iter().chain(split[0]).flat_map(Point::counted).find_map(nodes);
    TwoNodes {
        cable_bps: first.and_then(|nodes| nodes.cable.rate_bps),
        over_one_core: over(curve, one),
        split: points,
        skipped: curve.iter().chain(split[0]).find_map(Point::skipped),
    }
}

fn nodes(round: &RoundRow) -> Option<Nodes> {
    Nodes::deserialize(round.record.as_ref()?.result.get("nodes")?).ok()
}

/// The third curve.
pub(super) fn curve(part: &[Point<'_>], ended_by: impl Fn(&Point<'_>) -> BTreeMap<String, usize>) -> Vec<LongestPoint> {
    let point = |point: &Point<'_>| LongestPoint {
        slot_us: point.slot_us(),
        nodes: 2,
        workers: 1,
        bits: point.at("/bits"),
        throughput_bps: point.at("/throughput_bps"),
        used_share: point.at("/used_share"),
        cable_used_share: point.at("/nodes/cable/used_share"),
        ended_by: ended_by(point),
        skipped: point.skipped(),
    };
    part.iter().map(point).collect()
}

/// The same block on two nodes and on one core.
fn over(two: &[Point<'_>], one: &[Point<'_>]) -> Vec<TwoOverOne> {
    let of = |point: &Point<'_>| {
        let alone = one.iter().find(|other| other.slot_us() == point.slot_us() && other.whole("workers") == 1)?;
        let paired = point.counted().filter_map(|round| {
            let other = alone.counted().find(|other| other.block == round.block)?;
            let value = at(round, "/throughput_bps")? / at(other, "/throughput_bps")?;
            Some(RoundValue { round_id: round.id, value, counts: true })
        });
        let ratio = Figure::from_rounds(paired.collect());
        ratio.value.is_some().then(|| TwoOverOne { slot_us: point.slot_us(), ratio })
    };
    let mut all: Vec<TwoOverOne> = two.iter().filter_map(of).collect();
    all.sort_by(|a, b| a.slot_us.total_cmp(&b.slot_us));
    all
}

fn split_point(point: &Point<'_>) -> SplitPoint {
    let counted: Vec<OnNodes> = point.counted().filter_map(read).collect();
    let same = |run: &&OnNodes| run.outcome.output_hash.is_some() && run.outcome.output_hash == run.output_hash_on_one;
    let other = |run: &&OnNodes| run.outcome.misses == 0 && run.outcome.lost_packets() == 0 && !same(run);
    let mut cut_after: BTreeMap<String, usize> = BTreeMap::new();
    for run in &counted {
        let last = run.nodes.cut.first.last().cloned().unwrap_or_default();
        *cut_after.entry(last).or_default() += 1;
    }
    let mapped =
        |value: fn(&Mapped) -> u64| Figure::of(&point.rounds, |round| Some(value(&nodes(round)?.cut.mapped?) as f64));
    let last = counted.last();
    let setting = |name: &str| point.settings.get(name).and_then(|value| value.as_str()).unwrap_or("native").to_owned();
    let first_node = setting("environment");
    SplitPoint {
        second_node: if setting("second_node") == "same" { first_node.clone() } else { "native".to_owned() },
        first_node,
        slot_us: point.slot_us(),
        on_first: last.map(|run| run.nodes.cut.first.clone()).unwrap_or_default(),
        on_second: last.map(|run| run.nodes.cut.second.clone()).unwrap_or_default(),
        cut_after,
        period_ns: mapped(|mapped| mapped.period_ns),
        components_ns: mapped(|mapped| mapped.core_ns.iter().sum()),
        link_ns: mapped(|mapped| mapped.link_ns),
        misses: counted.iter().map(|run| run.outcome.misses).sum(),
        slots: counted.iter().map(|run| run.outcome.slots).sum(),
        same_output: counted.iter().filter(same).count(),
        other_output: counted.iter().filter(other).count(),
        rounds: counted.len(),
        latency_slots: last.map(|run| run.outcome.latency_slots.into()),
        cable_used_share: point.at("/nodes/cable/used_share"),
        bridges_ns: Figure::of(&point.rounds, bridges_ns),
        clock_off_ns: Figure::of(&point.rounds, |round| Some(at(round, "/nodes/offset_ns")?.abs())),
        clock_bound_ns: point.at("/nodes/offset_bound_ns"),
        skipped: point.skipped(),
    }
}

/// Mean execution of both ends of all bridges, together.
fn bridges_ns(round: &RoundRow) -> Option<f64> {
    let run: OnNodes = read(round)?;
    let ends = run.outcome.components.iter().filter(|one| [Share::SEND, Share::RECEIVE].contains(&one.kind.as_str()));
    let means: Option<Vec<f64>> = ends.map(|end| end.execution.mean()).collect();
    means.filter(|all| !all.is_empty()).map(|all| all.iter().sum())
}
