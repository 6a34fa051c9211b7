//! From a run in the store to the outcome of the study: a pure reading.

use std::collections::BTreeMap;

use crate::check::HOST;
use serde::Deserialize;
use serde_json::Value;
use takt_lab::StoredRun;
use takt_lab::store::{RoundRow, RoundState};
use takt_load::interface;
use takt_load::longest_packet::Longest;
use takt_load::waveform::{self, Floors};
use takt_stats::{Histogram, Ns};

use super::{
    AloeOutcome, BeatPoint, Elsewhere, InterfacePoint, LongestPoint, MemoryPoint, MemoryUse, Overhead, OverheadPoint,
    Role, SCHEMA, TwoOverOne, elsewhere, execution, facts, judge, nodes, overhead, words,
};
use crate::study::StudyRun;
use crate::study::figure::{Figure, RoundValue};
use crate::study::part::{Point, at, part};

/// Findings of a run, finished or not.
pub(crate) fn assemble(stored: &StoredRun) -> AloeOutcome {
    let part = |name: &str| part(stored, name);
    let paper = facts();
    let (alone, joined) = (part("longest"), part("longest-two-nodes"));
    let longest = longest(&alone, &joined);
    let interfaces = interfaces(&part("interface"));
    let costs = costs(&part("overhead"), &part("beat"), &paper);
    let parts = elsewhere::Parts {
        here: part("execution"),
        there: part("execution-aarch64"),
        capacity: part("capacity"),
        overhead: part("overhead-aarch64"),
        roles: part("roles-aarch64"),
        interface: part("interface-aarch64"),
    };
    let elsewhere = elsewhere::elsewhere(&parts, &paper.execution, paper.interface.packet_bits);
    let mut outcome = AloeOutcome {
        of: StudyRun::of(stored, SCHEMA),
        real_time: real_time(&rounds_here(stored)),
        two_over_one: two_over_one(&alone),
        two_nodes: nodes::two_nodes(&joined, &alone, [&part("split"), &part("split-aarch64")]),
        roles: roles(&part("roles"), &interfaces, &costs, &elsewhere),
        memory: memory(&part("memory")),
        execution: execution::execution(&part("execution"), &paper.execution),
        floors: floors(&rounds_here(stored)),
        paper,
        elsewhere,
        longest,
        interface: interfaces,
        overhead: costs,
    };
    let claims = judge::claims(&outcome, &part("same"));
    outcome.of.conclude(claims);
    outcome.of.summary = words::summary(&outcome);
    outcome.of.caveats = words::caveats(&outcome);
    outcome
}

/// All rounds with the components of their point.
pub(super) fn by_components<'a>(part: &[Point<'a>]) -> Vec<(usize, &'a RoundRow)> {
    let of =
        |point: &Point<'a>| point.rounds.iter().map(|round| (point.whole("components"), *round)).collect::<Vec<_>>();
    part.iter().flat_map(of).collect()
}

/// A record of another version is left out: its round is in the list, and in no figure.
pub(super) fn read<T: for<'de> Deserialize<'de>>(round: &RoundRow) -> Option<T> {
    T::deserialize(&round.record.as_ref()?.result).ok()
}

fn longest(alone: &[Point<'_>], joined: &[Point<'_>]) -> Vec<LongestPoint> {
    let point = |point: &Point<'_>| LongestPoint {
        slot_us: point.slot_us(),
        nodes: 1,
        workers: point.whole("workers"),
        bits: point.at("/bits"),
        throughput_bps: point.at("/throughput_bps"),
        used_share: point.at("/used_share"),
        cable_used_share: Figure::default(),
        ended_by: ended_by(point),
        skipped: point.skipped(),
    };
    let mut all: Vec<LongestPoint> = alone.iter().map(point).collect();
    all.extend(nodes::curve(joined, ended_by));
    all.sort_by(|a, b| (a.nodes, a.workers).cmp(&(b.nodes, b.workers)).then(a.slot_us.total_cmp(&b.slot_us)));
    all
}

fn ended_by(point: &Point<'_>) -> BTreeMap<String, usize> {
    let mut ended_by: BTreeMap<String, usize> = BTreeMap::new();
    for found in point.counted().filter_map(read::<Longest>) {
        let who = found.blamed.first().map(|one| one.component.clone().unwrap_or_else(|| HOST.to_owned()));
        *ended_by.entry(who.unwrap_or_else(|| "nothing".into())).or_default() += 1;
    }
    ended_by
}

/// Throughput and round of each block.
type Blocks = BTreeMap<u32, (f64, i64)>;

/// The same block on two and on one: what drifts hits both.
fn two_over_one(part: &[Point<'_>]) -> Vec<TwoOverOne> {
    let mut by_slot: BTreeMap<u64, [Blocks; 2]> = BTreeMap::new();
    for point in part {
        let Some(side) = point.whole("workers").checked_sub(1).filter(|side| *side < 2) else { continue };
        let blocks = by_slot.entry(point.slot_us() as u64).or_default();
        for round in point.counted() {
            if let Some(bps) = at(round, "/throughput_bps") {
                blocks[side].insert(round.block, (bps, round.id));
            }
        }
    }
    let ratio = |(slot, [one, two]): (u64, [Blocks; 2])| {
        let paired = two.iter().filter_map(|(block, (bps, id))| {
            let (alone, _) = one.get(block)?;
            Some(RoundValue { round_id: *id, value: bps / alone, counts: true })
        });
        TwoOverOne { slot_us: slot as f64, ratio: Figure::from_rounds(paired.collect()) }
    };
    by_slot.into_iter().map(ratio).filter(|one| one.ratio.value.is_some()).collect()
}

fn interfaces(part: &[Point<'_>]) -> Vec<InterfacePoint> {
    let point = |point: &Point<'_>| {
        let mut all = Histogram::<Ns>::with_bound(1_000_000_000);
        let mut tails = BTreeMap::new();
        for round in &point.rounds {
            let Some(outcome) = read::<interface::InterfaceOutcome>(round) else { continue };
            tails.insert(round.id, outcome.hand_over.quantile(0.999).map(|ns| ns as f64));
            if round.state == RoundState::Valid {
                // Unlike bounds would be another version's; then its rounds are in the figures and not in the curve.
                let _ = all.merge(&outcome.latency);
            }
        }
        InterfacePoint {
            packet_bits: 8 * point.whole("packet_bytes") as u64,
            reader: point.settings.get("reader").and_then(Value::as_str).unwrap_or("same-core").to_owned(),
            mean_ns: point.at("/mean_ns"),
            median_ns: point.at("/median_ns"),
            hand_over_ns: point.at("/hand_over_mean_ns"),
            hand_over_p99_9_ns: Figure::of(&point.rounds, |round| *tails.get(&round.id)?),
            over_floor: point.at("/over_floor"),
            throughput_bps: point.at("/throughput_bps"),
            largest_over_mean: point.at("/largest_over_mean"),
            measured: all.len(),
            ecdf_ns: all.ecdf(300).iter().map(|point| (point.value, point.share)).collect(),
        }
    };
    let mut all: Vec<InterfacePoint> = part.iter().map(point).collect();
    all.sort_by(|a, b| b.reader.cmp(&a.reader).then(a.packet_bits.cmp(&b.packet_bits)));
    all
}

fn costs(free: &[Point<'_>], beat: &[Point<'_>], paper: &super::Facts) -> Overhead {
    let per_slot = |round: &RoundRow| at(round, "/overhead_ns_per_slot");
    let (base_ns, module_ns) = overhead::lines(&by_components(free), per_slot);
    let mut one_by_one = Histogram::<Ns>::with_bound(1_000_000_000);
    for outcome in free.iter().flat_map(Point::counted).filter_map(read::<waveform::WaveformOutcome>) {
        let _ = one_by_one.merge(&outcome.between);
    }
    let on_beat = |point: &Point<'_>| BeatPoint {
        components: point.whole("components"),
        slot_us: point.slot_us(),
        share: Figure::of(&point.rounds, |round| Some(per_slot(round)? / at(round, "/slot_ns")?)),
    };
    let as_fast_as_it_goes = |point: &Point<'_>| OverheadPoint {
        components: point.whole("components"),
        overhead_ns: Figure::of(&point.rounds, per_slot),
    };
    let mut points: Vec<OverheadPoint> = free.iter().map(as_fast_as_it_goes).collect();
    points.sort_by_key(|point| point.components);
    let mut beat: Vec<BeatPoint> = beat.iter().map(on_beat).collect();
    beat.sort_by(|a, b| a.components.cmp(&b.components).then(a.slot_us.total_cmp(&b.slot_us)));
    let between = overhead::between(&one_by_one);
    let mut all = Overhead { points, base_ns, module_ns, between, beat, relative: Vec::new() };
    all.relative = overhead::relative(&all, paper);
    all
}

fn roles(part: &[Point<'_>], interfaces: &[InterfacePoint], costs: &Overhead, elsewhere: &Elsewhere) -> Vec<Role> {
    let rounds: Vec<&RoundRow> = part.iter().flat_map(|point| point.rounds.clone()).collect();
    let across = interfaces.iter().filter(|point| point.reader == "other-core");
    let shortest = across.min_by_key(|point| point.packet_bits);
    let measured = |name: &str| -> (Option<Figure>, Option<Figure>) {
        match name {
            "EXEC" => (Some(costs.base_ns.clone()), None),
            "STATS" => (Some(Figure::of(&rounds, |round| at(round, "/variable_ns"))), None),
            "SWLOAD" => (None, Some(Figure::of(&rounds, |round| at(round, "/load_ns_per_component")))),
            "BRIDGE" => (shortest.map(|point| point.hand_over_ns.clone()), None),
            _ => (None, None),
        }
    };
    let there = |name: &str| match name {
        "EXEC" => Some(elsewhere.base_ns.clone()),
        "STATS" => Some(elsewhere.variable_ns.clone()),
        "SWLOAD" => Some(elsewhere.load_ns.clone()),
        "BRIDGE" => Some(elsewhere.bridge_ns.clone()),
        _ => None,
    };
    let row = |role: &super::RoleFacts| {
        let (per_slot_ns, once_ns) = measured(&role.name);
        let kept = |figure: Option<Figure>| figure.filter(|figure| figure.value.is_some());
        Role {
            name: role.name.clone(),
            does: role.does.clone(),
            paper_x86_us: role.x86_us,
            paper_arm_us: role.arm_us,
            per_slot_ns: kept(per_slot_ns),
            once_ns: kept(once_ns),
            elsewhere_ns: kept(there(&role.name)),
            how: words::how(&role.name).to_owned(),
        }
    };
    facts().roles.iter().map(row).collect()
}

fn memory(part: &[Point<'_>]) -> MemoryUse {
    let rounds: Vec<&RoundRow> = part.iter().flat_map(|point| point.rounds.clone()).collect();
    let with = |round: &RoundRow| at(round, "/memory/running/private_bytes");
    let (_, component_bytes) = overhead::lines(&by_components(part), with);
    let point = |point: &Point<'_>| MemoryPoint {
        components: point.whole("components"),
        private_bytes: Figure::of(&point.rounds, with),
    };
    let mut points: Vec<MemoryPoint> = part.iter().map(point).collect();
    points.sort_by_key(|point| point.components);
    MemoryUse {
        base_bytes: Figure::of(&rounds, |round| at(round, "/memory/before/private_bytes")),
        base_resident_bytes: Figure::of(&rounds, |round| at(round, "/memory/before/resident_bytes")),
        component_bytes,
        points,
    }
}

/// Rounds of this processor itself: floors and priorities of an emulated one are its own.
fn rounds_here(stored: &StoredRun) -> Vec<&RoundRow> {
    let of = |round: &RoundRow| round.record.as_ref()?.in_force.get("environment")?.as_str().map(str::to_owned);
    stored.rounds.iter().filter(|round| of(round).is_none_or(|name| name == "native")).collect()
}

/// Medians over all rounds that count and have them.
fn floors(rounds: &[&RoundRow]) -> Floors {
    let median = |name: &str| {
        let of = |round: &&RoundRow| {
            at(round, &format!("/floors/{name}")).or_else(|| at(round, &format!("/confirmed/floors/{name}")))
        };
        let counted = rounds.iter().filter(|round| round.state == RoundState::Valid);
        let mut all: Vec<f64> = counted.filter_map(of).collect();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).copied().unwrap_or_default()
    };
    Floors {
        clock_read_ns: median("clock_read_ns"),
        null_call_ns: median("null_call_ns"),
        measured_call_ns: median("measured_call_ns"),
        memcpy_bytes_per_s: median("memcpy_bytes_per_s"),
        mac_per_s: median("mac_per_s"),
    }
}

fn real_time(rounds: &[&RoundRow]) -> Option<bool> {
    let of = |round: &&RoundRow| {
        let result = &round.record.as_ref()?.result;
        result.get("fifo").or_else(|| result.pointer("/confirmed/fifo"))?.as_bool()
    };
    let all: Vec<bool> = rounds.iter().filter_map(of).collect();
    (!all.is_empty()).then(|| all.iter().all(|fifo| *fifo))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use takt_lab::store::{Record, testing};

    use super::*;

    fn round(state: RoundState, clock_read_ns: f64) -> RoundRow {
        let result = json!({ "floors": { "clock_read_ns": clock_read_ns } });
        RoundRow { state, ..testing::round(0, Record { result, ..Record::default() }) }
    }

    #[test]
    fn a_round_that_does_not_count_is_in_no_floor() {
        let counted = [9.0, 10.0, 11.0].map(|ns| round(RoundState::Valid, ns));
        let disturbed = [30.0, 40.0, 50.0, 60.0].map(|ns| round(RoundState::Disturbed, ns));
        let all: Vec<&RoundRow> = counted.iter().chain(&disturbed).collect();
        assert_eq!(floors(&all).clock_read_ns, 10.0);
        assert_eq!(floors(&all[3..]).clock_read_ns, 0.0, "without a round that counts there is none");
    }
}
