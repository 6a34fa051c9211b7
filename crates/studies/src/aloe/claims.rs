//! The paper's claims, and what was seen of each.

use std::collections::BTreeSet;

use takt_base::words::plural;
use takt_lab::check::Answer;
use takt_lab::store::RoundRow;

use super::words::{figure, rate, time, two_cores};
use super::{Errors, LongestPoint, Outcome, SplitPoint, TwoOverOne};
use crate::part::{Point, at};
use crate::{Claim, Figure};

pub(super) fn claims(outcome: &Outcome, same: &[Point<'_>]) -> Vec<Claim> {
    let measured = |number: u32| match number {
        1 => certain(same),
        2 => relaxed(outcome),
        3 => measured(outcome),
        4 => parallel(outcome, same),
        6 => scattered(outcome),
        7 => predicted(outcome),
        5 => synchronised(outcome),
        _ => carried(outcome),
    };
    let claim = |claim: &super::ClaimFacts| {
        let (answer, measured) = measured(claim.number);
        let covered = match claim.number {
            5 => outcome.two_nodes.split.iter().any(|point| point.rounds > 0),
            8 => longest_slot(outcome).is_some(),
            7 => outcome.elsewhere.predicted(),
            _ => true,
        };
        let by_construction = claim.by_construction.clone();
        Claim { number: claim.number, claim: claim.says.clone(), answer, covered, by_construction, measured }
    };
    outcome.paper.claims.iter().map(claim).collect()
}

fn counted<'a>(same: &'a [Point<'_>]) -> impl Iterator<Item = (usize, &'a str, &'a RoundRow)> {
    same.iter().flat_map(|point| {
        let latency = point.settings.get("latency").and_then(|value| value.as_str()).unwrap_or_default();
        point.counted().map(move |round| (point.whole("workers"), latency, round))
    })
}

fn certain(same: &[Point<'_>]) -> (Answer, String) {
    let fixed: Vec<_> = counted(same).filter(|(_, latency, _)| *latency == "fixed").collect();
    let slots: BTreeSet<u64> =
        fixed.iter().filter_map(|(.., round)| Some(at(round, "/latency_slots")? as u64)).collect();
    let workers: BTreeSet<usize> = fixed.iter().map(|(workers, ..)| *workers).collect();
    let lost: f64 = fixed.iter().filter_map(|(.., round)| at(round, "/missing_packets")).sum();
    let Some(first) = slots.first() else { return unknown() };
    let text = format!(
        "with a slot a hop the plan has a latency of {first} slots in all {} rounds, on {} alike; where workers wait for each \
         other, {lost} packets were missing",
        fixed.len(),
        cores(&workers),
    );
    (if slots.len() == 1 && lost == 0.0 { Answer::Holds } else { Answer::Fails }, text)
}

fn relaxed(outcome: &Outcome) -> (Answer, String) {
    let across = outcome.interface.iter().filter(|point| point.reader == "other-core");
    let worst = across.filter_map(|point| point.hand_over_p99_9_ns.value).fold(f64::NAN, f64::max);
    let cores = outcome.longest.iter().filter(|point| point.nodes == 1 && point.workers > 1);
    let held = cores.filter(|point| point.bits.value.is_some());
    let shortest = held.map(|point| point.slot_us).fold(f64::INFINITY, f64::min);
    if !worst.is_finite() || !shortest.is_finite() {
        return unknown();
    }
    let text = format!(
        "a packet has a whole slot to reach another core, {} at the least here; in 99.9 % of hand-overs it needs at most {}",
        time(shortest * 1e3),
        time(worst),
    );
    (if worst < shortest * 1e3 { Answer::Holds } else { Answer::Fails }, text)
}

fn measured(outcome: &Outcome) -> (Answer, String) {
    let (Some(module), floors) = (&outcome.overhead.module_ns.value, &outcome.floors) else { return unknown() };
    let text = format!(
        "every execution is timed with two readings of a clock of {} each and kept in a histogram; a bare call measured like \
         that takes {}, a component of the runtime {} beside its own work",
        time(floors.clock_read_ns),
        time(floors.measured_call_ns),
        time(*module),
    );
    // The reading of the clock is what an execution time is uncertain by.
    (if floors.clock_read_ns > 0.0 && floors.clock_read_ns < 1_000.0 { Answer::Holds } else { Answer::Fails }, text)
}

fn parallel(outcome: &Outcome, same: &[Point<'_>]) -> (Answer, String) {
    let hashes: BTreeSet<String> = counted(same).filter_map(|(.., round)| hash(round)).collect();
    let rounds = counted(same).count();
    let judged = at_longest_slot(&outcome.longest, &outcome.two_over_one);
    let (Some(judged), Some(ratios), false) = (judged, two_cores(&outcome.two_over_one), hashes.is_empty()) else {
        return unknown();
    };
    let plans = if hashes.len() == 1 { "one" } else { "more than one" };
    let text = format!(
        "throughput of {ratios}; the longest slot decides; {plans} output hash over {rounds} runs on all cores and latencies tried"
    );
    let answer = match (hashes.len(), above(&judged.ratio, 1.0)) {
        (2.., _) | (_, Some(false)) => Answer::Fails,
        (_, Some(true)) => Answer::Holds,
        (_, None) => Answer::Unknown,
    };
    (answer, text)
}

/// The rules fix the slot, so that nobody picks the best of several: the longest tried, which in a whole run is the paper's.
/// `None` where no block has both counts of cores there.
fn at_longest_slot<'a>(tried: &[LongestPoint], ratios: &'a [TwoOverOne]) -> Option<&'a TwoOverOne> {
    let slots_us = tried.iter().filter(|point| point.nodes == 1).map(|point| point.slot_us);
    let longest_us = slots_us.fold(0.0, f64::max);
    ratios.iter().find(|one| (one.slot_us - longest_us).abs() < 1.0)
}

/// How far is far: the largest over the median.
const FAR: f64 = 2.0;

fn scattered(outcome: &Outcome) -> (Answer, String) {
    let mut far = Vec::new();
    let mut texts = Vec::new();
    for one in &outcome.execution.histograms {
        let (Some(median), Some(tail), Some(max)) = (one.p50_ns, one.p99_9_ns, one.max_ns) else { continue };
        let [median, tail, max] = [median, tail, max].map(|ns| ns as f64);
        far.push(max > FAR * median);
        texts.push(format!("{}: median {}, 99.9 % {}, largest {}", one.name, time(median), time(tail), time(max)));
    }
    if far.is_empty() {
        return unknown();
    }
    let answer = if far.contains(&true) { Answer::Holds } else { Answer::Fails };
    (answer, format!("of {} executions each, {}", outcome.execution.slots, texts.join("; ")))
}

fn predicted(outcome: &Outcome) -> (Answer, String) {
    let (elsewhere, enough) = (&outcome.elsewhere, outcome.paper.numbers.enough_pct);
    let Errors { clock_pct, mac_pct, instructions_pct } = &elsewhere.mean_error;
    if !elsewhere.predicted() {
        return (Answer::Unknown, "not measured: it takes one program on two kinds of processor".to_owned());
    }
    let text = format!(
        "times of {} components on an emulated aarch64, estimated from those here, are missed by {} % in the mean by what stands \
         for the clock frequency and by {} % by multiply-accumulates, where {enough} % would be enough; by counted instructions, \
         takt's own metric, by {} %",
        elsewhere.components.len(),
        figure(clock_pct, 0),
        figure(mac_pct, 0),
        figure(instructions_pct, 0),
    );
    let answer = match (above(&elsewhere.clock_over_mac_pct, 0.0), above(mac_pct, enough)) {
        (Some(true), Some(true)) => Answer::Holds,
        (Some(false), _) | (_, Some(false)) => Answer::Fails,
        _ => Answer::Unknown,
    };
    (answer, text)
}

/// On two nodes as on one, every slot begun at one instant of one clock.
fn synchronised(outcome: &Outcome) -> (Answer, String) {
    let split = &outcome.two_nodes.split;
    let count = |of: fn(&SplitPoint) -> usize| split.iter().map(of).sum::<usize>();
    let (rounds, same, other) = (count(|p| p.rounds), count(|p| p.same_output), count(|p| p.other_output));
    if rounds == 0 {
        return (Answer::Unknown, format!("not measured: {}", no_nodes(outcome)));
    }
    let worst = |of: fn(&SplitPoint) -> &Figure| split.iter().filter_map(|p| of(p).value).fold(0.0, f64::max);
    let (off, bound) = (worst(|p| &p.clock_off_ns), worst(|p| &p.clock_bound_ns));
    let shortest = split.iter().filter(|p| p.rounds > 0).map(|p| p.slot_us).fold(f64::INFINITY, f64::min);
    let text = format!(
        "the UTRAN chain on two nodes gave what it gives on one in {same} of {rounds} rounds, and something else without a missed \
         slot in {other}; the second node missed the first one's clock by {} at most in the mean and held itself to be off by \
         {} at most, where the shortest slot is {}",
        time(off),
        time(bound),
        time(shortest * 1e3),
    );
    let answer = match (other, bound < shortest * 1e3) {
        (0, true) if 2 * same > rounds => Answer::Holds,
        (0, true) => Answer::Unknown,
        _ => Answer::Fails,
    };
    (answer, text)
}

/// The longest slot of Figure 2's third curve at which a packet was held.
fn longest_slot(outcome: &Outcome) -> Option<&LongestPoint> {
    let held = outcome.longest.iter().filter(|point| point.nodes > 1 && point.cable_used_share.value.is_some());
    held.max_by(|a, b| a.slot_us.total_cmp(&b.slot_us))
}

/// The cable of the paper's ARMs, in use.
fn carried(outcome: &Outcome) -> (Answer, String) {
    let Some(point) = longest_slot(outcome) else {
        return (Answer::Unknown, format!("not measured: {}", no_nodes(outcome)));
    };
    let least = outcome.paper.numbers.cable_share;
    let percent = point.cable_used_share.scaled(100.0);
    let text = format!(
        "two nodes joined by {} carry {} from the source without a missed slot at slots of {}; with its samples that is {} % of what \
         the cable carries, where {} % would be enough",
        outcome.two_nodes.cable_bps.map_or_else(|| "a cable".to_owned(), rate),
        point.throughput_bps.value.map(rate).unwrap_or_default(),
        time(point.slot_us * 1e3),
        figure(&percent, 0),
        100.0 * least,
    );
    let answer = match above(&point.cable_used_share, least) {
        Some(true) => Answer::Holds,
        Some(false) => Answer::Fails,
        None => Answer::Unknown,
    };
    (answer, text)
}

fn no_nodes(outcome: &Outcome) -> String {
    let skipped = outcome.two_nodes.skipped.clone();
    skipped.unwrap_or_else(|| "no round on two nodes counts".to_owned())
}

/// Whether a figure is above a bound, or below; `None`: its interval has the bound in it, or it has none.
fn above(figure: &Figure, bound: f64) -> Option<bool> {
    let estimate = figure.estimate?;
    match (estimate.low() > bound, estimate.high() < bound) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

fn hash(round: &RoundRow) -> Option<String> {
    Some(round.record.as_ref()?.result.get("output_hash")?.as_str()?.to_owned())
}

fn unknown() -> (Answer, String) {
    (Answer::Unknown, "no round that counts tells".to_owned())
}

fn cores(workers: &BTreeSet<usize>) -> String {
    workers.iter().map(|count| plural(*count as u64, "core")).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::facts;
    use super::*;
    use crate::RoundValue;

    #[test]
    fn a_figure_is_above_a_bound_where_its_whole_interval_is() {
        let of = |values: &[f64]| {
            let round = |value: &f64| RoundValue { round_id: 1, value: *value, counts: true };
            Figure::from_rounds(values.iter().map(round).collect())
        };
        let figure = of(&[40.0, 41.0, 42.0]);
        assert_eq!((above(&figure, 30.0), above(&figure, 60.0), above(&figure, 41.0)), (Some(true), Some(false), None));
        assert_eq!(above(&of(&[40.0]), 30.0), None, "one round has no interval");
    }

    fn tried(nodes: usize, slot_us: f64) -> LongestPoint {
        LongestPoint {
            slot_us,
            nodes,
            workers: 1,
            bits: Figure::default(),
            throughput_bps: Figure::default(),
            used_share: Figure::default(),
            cable_used_share: Figure::default(),
            ended_by: BTreeMap::new(),
            skipped: None,
        }
    }

    #[test]
    fn two_cores_are_judged_at_the_longest_slot_and_not_at_the_best() {
        let ratio = |slot_us, value| {
            let rounds = [0.99, 1.0, 1.01].map(|x| RoundValue { round_id: 1, value: x * value, counts: true });
            TwoOverOne { slot_us, ratio: Figure::from_rounds(rounds.to_vec()) }
        };
        let ratios = [ratio(500.0, 1.9), ratio(2_000.0, 0.8)];
        let slots = [tried(1, 500.0), tried(1, 2_000.0), tried(2, 10_000.0)];
        assert_eq!(at_longest_slot(&slots, &ratios), Some(&ratios[1]), "two nodes are not asked");
        assert_eq!(above(&ratios[1].ratio, 1.0), Some(false));
        assert_eq!(at_longest_slot(&slots, &ratios[..1]), None, "no other slot stands in for it");
    }

    /// The plan fixes the latency; the runtime reads the clock around every execution, and no clock in use takes a microsecond.
    #[test]
    fn that_latency_is_planned_and_that_executions_are_timed_are_not_counted_as_seen() {
        let made: Vec<u32> = facts().claims.iter().filter(|c| c.by_construction.is_some()).map(|c| c.number).collect();
        assert_eq!(made, [1, 3]);
    }
}
