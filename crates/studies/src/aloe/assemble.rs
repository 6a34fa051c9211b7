//! From a run in the store to the outcome of the study: a pure reading.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use takt_base::parse_duration;
use takt_lab::check::HOST;
use takt_lab::store::{RoundRow, RoundState, Store};
use takt_load::interface;
use takt_load::longest_packet::Longest;
use takt_load::waveform::{self, Floors};
use takt_stats::{Histogram, Ns};

use super::{
    BeatPoint, InterfacePoint, LongestPoint, MemoryPoint, MemoryUse, Outcome, Overhead, Role, SCHEMA, TwoOverOne,
    claims, execution, facts, overhead, words,
};
use crate::PaperError;
use crate::claim::answer;
use crate::figure::{Figure, RoundValue};
use crate::part::{Part, at};
use crate::stored::Stored;

/// The outcome of a run of the study, finished or not.
///
/// # Errors
/// There is no such run, it is of something else, or it can't be read.
pub fn assemble(store: &Store, run: &str) -> Result<Outcome, PaperError> {
    let stored = Stored::read(store, run)?;
    if stored.study() != "aloe" {
        return Err(stored.other_than("aloe"));
    }
    let paper = facts();
    let longest = longest(&stored.part("longest"));
    let interfaces = interfaces(&stored.part("interface"));
    let costs = costs(&stored.part("overhead"), &stored.part("beat"), &paper);
    let mut outcome = Outcome {
        of: stored.about(SCHEMA),
        real_time: real_time(&stored.rounds),
        two_over_one: two_over_one(&stored.part("longest")),
        roles: roles(&stored.part("roles"), &interfaces, &costs),
        memory: memory(&stored.part("memory")),
        execution: execution::execution(&stored.part("execution"), &paper.execution),
        floors: floors(&stored.rounds),
        paper,
        longest,
        interface: interfaces,
        overhead: costs,
    };
    outcome.of.claims = claims::claims(&outcome, &stored.part("same"));
    outcome.of.answer = answer(&outcome.of.claims);
    outcome.of.says = words::says(&outcome);
    outcome.of.does_not_say = words::does_not_say(&outcome);
    Ok(outcome)
}

/// All rounds with the components of their point.
fn by_components<'a>(part: &Part<'a>) -> Vec<(usize, &'a RoundRow)> {
    let of = |(settings, rounds): (&BTreeMap<String, Value>, &[&'a RoundRow])| {
        let components = whole(settings, "components");
        rounds.iter().map(|round| (components, *round)).collect::<Vec<_>>()
    };
    part.points().flat_map(of).collect()
}

pub(super) fn whole(settings: &BTreeMap<String, Value>, name: &str) -> usize {
    settings.get(name).and_then(Value::as_u64).unwrap_or(1) as usize
}

pub(super) fn slot_us(settings: &BTreeMap<String, Value>) -> f64 {
    let slot = settings.get("slot").and_then(Value::as_str).and_then(|text| parse_duration(text).ok());
    slot.unwrap_or_default().as_secs_f64() * 1e6
}

/// A record of another version is left out: its round is in the list, and in no figure.
pub(super) fn read<T: for<'de> Deserialize<'de>>(round: &RoundRow) -> Option<T> {
    T::deserialize(&round.record.as_ref()?.result).ok()
}

fn longest(part: &Part<'_>) -> Vec<LongestPoint> {
    let point = |(settings, rounds): (&BTreeMap<String, Value>, &[&RoundRow])| {
        let mut ended_by: BTreeMap<String, usize> = BTreeMap::new();
        let counted = rounds.iter().filter(|round| round.state == RoundState::Valid);
        for found in counted.filter_map(|round| read::<Longest>(round)) {
            let who = found.blamed.first().map(|one| one.component.clone().unwrap_or_else(|| HOST.to_owned()));
            *ended_by.entry(who.unwrap_or_else(|| "nothing".into())).or_default() += 1;
        }
        LongestPoint {
            slot_us: slot_us(settings),
            workers: whole(settings, "workers"),
            bits: Figure::of(rounds, |round| at(round, "/bits")),
            throughput_bps: Figure::of(rounds, |round| at(round, "/throughput_bps")),
            used_share: Figure::of(rounds, |round| at(round, "/used_share")),
            ended_by,
            skipped: rounds.iter().find(|round| round.record.is_none()).and_then(|round| round.why.clone()),
        }
    };
    let mut all: Vec<LongestPoint> = part.points().map(point).collect();
    all.sort_by(|a, b| a.workers.cmp(&b.workers).then(a.slot_us.total_cmp(&b.slot_us)));
    all
}

/// Throughput and round of each block.
type Blocks = BTreeMap<u32, (f64, i64)>;

/// The same block on two and on one: what drifts hits both.
fn two_over_one(part: &Part<'_>) -> Vec<TwoOverOne> {
    let mut by_slot: BTreeMap<u64, [Blocks; 2]> = BTreeMap::new();
    for (settings, rounds) in part.points() {
        let workers = whole(settings, "workers");
        let Some(side) = workers.checked_sub(1).filter(|side| *side < 2) else { continue };
        let blocks = by_slot.entry(slot_us(settings) as u64).or_default();
        for round in rounds.iter().filter(|round| round.state == RoundState::Valid) {
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

fn interfaces(part: &Part<'_>) -> Vec<InterfacePoint> {
    let point = |(settings, rounds): (&BTreeMap<String, Value>, &[&RoundRow])| {
        let mut all = Histogram::<Ns>::with_bound(1_000_000_000);
        let mut tails = BTreeMap::new();
        for round in rounds {
            let Some(outcome) = read::<interface::Outcome>(round) else { continue };
            tails.insert(round.id, outcome.hand_over.quantile(0.999).map(|ns| ns as f64));
            if round.state == RoundState::Valid {
                // Unlike bounds would be another version's; then its rounds are in the figures and not in the curve.
                let _ = all.merge(&outcome.latency);
            }
        }
        InterfacePoint {
            packet_bits: 8 * whole(settings, "packet_bytes") as u64,
            reader: settings.get("reader").and_then(Value::as_str).unwrap_or("same-core").to_owned(),
            mean_ns: Figure::of(rounds, |round| at(round, "/mean_ns")),
            median_ns: Figure::of(rounds, |round| at(round, "/median_ns")),
            hand_over_ns: Figure::of(rounds, |round| at(round, "/hand_over_mean_ns")),
            hand_over_p99_9_ns: Figure::of(rounds, |round| *tails.get(&round.id)?),
            over_floor: Figure::of(rounds, |round| at(round, "/over_floor")),
            throughput_bps: Figure::of(rounds, |round| at(round, "/throughput_bps")),
            largest_over_mean: Figure::of(rounds, |round| at(round, "/largest_over_mean")),
            measured: all.len(),
            ecdf_ns: all.ecdf(300).iter().map(|point| (point.value, point.share)).collect(),
        }
    };
    let mut all: Vec<InterfacePoint> = part.points().map(point).collect();
    all.sort_by(|a, b| b.reader.cmp(&a.reader).then(a.packet_bits.cmp(&b.packet_bits)));
    all
}

fn costs(free: &Part<'_>, beat: &Part<'_>, paper: &super::Facts) -> Overhead {
    let per_slot = |round: &RoundRow| at(round, "/overhead_ns_per_slot");
    let (base_ns, module_ns) = overhead::lines(&by_components(free), per_slot);
    let mut one_by_one = Histogram::<Ns>::with_bound(1_000_000_000);
    for (_, round) in by_components(free).iter().filter(|(_, round)| round.state == RoundState::Valid) {
        if let Some(outcome) = read::<waveform::Outcome>(round) {
            let _ = one_by_one.merge(&outcome.between);
        }
    }
    let on_beat = |(settings, rounds): (&BTreeMap<String, Value>, &[&RoundRow])| BeatPoint {
        components: whole(settings, "components"),
        slot_us: slot_us(settings),
        share: Figure::of(rounds, |round| Some(per_slot(round)? / at(round, "/slot_ns")?)),
    };
    let mut points: Vec<_> =
        free.points().map(|(settings, rounds)| overhead::point(whole(settings, "components"), rounds)).collect();
    points.sort_by_key(|point| point.components);
    let mut beat: Vec<BeatPoint> = beat.points().map(on_beat).collect();
    beat.sort_by(|a, b| a.components.cmp(&b.components).then(a.slot_us.total_cmp(&b.slot_us)));
    let between = overhead::between(&one_by_one);
    let mut all = Overhead { points, base_ns, module_ns, between, beat, relative: Vec::new() };
    all.relative = overhead::relative(&all, paper);
    all
}

fn roles(part: &Part<'_>, interfaces: &[InterfacePoint], costs: &Overhead) -> Vec<Role> {
    let rounds: Vec<&RoundRow> = part.points().flat_map(|(_, rounds)| rounds.to_vec()).collect();
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
            how: words::how(&role.name).to_owned(),
        }
    };
    facts().roles.iter().map(row).collect()
}

fn memory(part: &Part<'_>) -> MemoryUse {
    let before = |what: &'static str| move |round: &RoundRow| at(round, what);
    let rounds: Vec<&RoundRow> = part.points().flat_map(|(_, rounds)| rounds.to_vec()).collect();
    let with = |round: &RoundRow| at(round, "/memory/running/private_bytes");
    let (_, component_bytes) = overhead::lines(&by_components(part), with);
    let point = |(settings, rounds): (&BTreeMap<String, Value>, &[&RoundRow])| MemoryPoint {
        components: whole(settings, "components"),
        private_bytes: Figure::of(rounds, with),
    };
    let mut points: Vec<MemoryPoint> = part.points().map(point).collect();
    points.sort_by_key(|point| point.components);
    MemoryUse {
        base_bytes: Figure::of(&rounds, before("/memory/before/private_bytes")),
        base_resident_bytes: Figure::of(&rounds, before("/memory/before/resident_bytes")),
        component_bytes,
        points,
    }
}

/// Medians over all rounds that have them.
fn floors(rounds: &[RoundRow]) -> Floors {
    let median = |name: &str| {
        let of = |round: &RoundRow| {
            at(round, &format!("/floors/{name}")).or_else(|| at(round, &format!("/confirmed/floors/{name}")))
        };
        let mut all: Vec<f64> = rounds.iter().filter_map(of).collect();
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

fn real_time(rounds: &[RoundRow]) -> Option<bool> {
    let told = |round: &RoundRow| {
        let result = &round.record.as_ref()?.result;
        result.get("fifo").or_else(|| result.pointer("/confirmed/fifo"))?.as_bool()
    };
    let all: Vec<bool> = rounds.iter().filter_map(told).collect();
    (!all.is_empty()).then(|| all.iter().all(|fifo| *fifo))
}
