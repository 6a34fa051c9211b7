//! The paper's claims, and what was seen of each.

use std::collections::BTreeSet;

use crate::check::CheckAnswer;
use takt_base::words::plural;
use takt_lab::store::RoundRow;

use super::words::{figure, rate, time, two_cores};
use super::{AloeOutcome, Errors, LongestPoint, SplitPoint, TwoOverOne};
use crate::study::claim::Judged;
use crate::study::part::{Point, at};
use crate::study::{Claim, Figure};

pub(super) fn claims(outcome: &AloeOutcome, same: &[Point<'_>]) -> Vec<Claim> {
    let judge = |number: u32, part: &str| match (number, part) {
        (1, _) => certain(outcome, same),
        (2, _) => relaxed(outcome),
        (3, _) => measured(outcome),
        (4, ONE_OUTPUT) => one_output(outcome, same),
        (4, _) => faster(outcome),
        (5, pair) => synchronised(outcome, pair),
        (6, _) => scattered(outcome),
        (7, _) => predicted(outcome),
        (8, _) => carried(outcome),
        _ => Judged::not_here("nothing judges this claim", ""),
    };
    let claim = |claim: &super::ClaimFacts| {
        let covered = match claim.number {
            5 => outcome.two_nodes.split.iter().any(|point| point.rounds > 0),
            8 => longest_slot(outcome).is_some(),
            7 => outcome.elsewhere.predicted(),
            _ => true,
        };
        let parts = claim.parts.iter().map(|part| (part.clone(), judge(claim.number, part))).collect();
        Claim { covered, ..Claim::of(claim.number, &claim.says, claim.by_construction.as_ref(), parts) }
    };
    outcome.paper.claims.iter().map(claim).collect()
}

fn counted<'a>(same: &'a [Point<'_>]) -> impl Iterator<Item = (usize, &'a str, &'a RoundRow)> {
    same.iter().flat_map(|point| {
        let latency = point.settings.get("latency").and_then(|value| value.as_str()).unwrap_or_default();
        point.counted().map(move |round| (point.whole("workers"), latency, round))
    })
}

fn certain(outcome: &AloeOutcome, same: &[Point<'_>]) -> Judged {
    let fixed: Vec<_> = counted(same).filter(|(_, latency, _)| *latency == "fixed").collect();
    let slots: BTreeSet<u64> =
        fixed.iter().filter_map(|(.., round)| Some(at(round, "/latency_slots")? as u64)).collect();
    let workers: BTreeSet<usize> = fixed.iter().map(|(workers, ..)| *workers).collect();
    let lost = takt_stats::sum(fixed.iter().filter_map(|(.., round)| at(round, "/missing_packets")));
    let Some(first) = slots.first() else { return without(outcome, "one latency", &[("same", "fixed")]) };
    let text = format!(
        "with a slot a hop, the plan has a latency of {first} slots in all {} rounds, the same on {}; of packets that workers \
         wait for, {lost} were missing",
        fixed.len(),
        cores(&workers),
    );
    Judged::new(if slots.len() == 1 && lost == 0.0 { CheckAnswer::Holds } else { CheckAnswer::Fails }, text)
}

fn relaxed(outcome: &AloeOutcome) -> Judged {
    let across = outcome.interface.iter().filter(|point| point.reader == "other-core");
    let worst = across.filter_map(|point| point.hand_over_p99_9_ns.value).fold(f64::NAN, f64::max);
    let cores = outcome.longest.iter().filter(|point| point.nodes == 1 && point.workers > 1);
    let held = cores.filter(|point| point.bits.value.is_some());
    let shortest = held.map(|point| point.slot_us).fold(f64::INFINITY, f64::min);
    if !worst.is_finite() || !shortest.is_finite() {
        return without(outcome, "two cores", &[("interface", "other-core"), ("longest", "2")]);
    }
    let text = format!(
        "a packet has a whole slot to reach another core, at least {} here; 99.9 % of hand-overs take at most {}",
        time(shortest * 1e3),
        time(worst),
    );
    Judged::new(if worst < shortest * 1e3 { CheckAnswer::Holds } else { CheckAnswer::Fails }, text)
}

fn measured(outcome: &AloeOutcome) -> Judged {
    let (Some(module), floors) = (&outcome.overhead.module_ns.value, &outcome.floors) else {
        return Judged::without("what a component costs", false);
    };
    let text = format!(
        "takt times every execution with two readings of a clock, {} each, and keeps it in a histogram; a bare call measured so \
         takes {}, a component of the runtime {} beside its own work",
        time(floors.clock_read_ns),
        time(floors.measured_call_ns),
        time(*module),
    );
    // The reading of the clock is what an execution time is uncertain by.
    let answer = if floors.clock_read_ns > 0.0 && floors.clock_read_ns < 1_000.0 {
        CheckAnswer::Holds
    } else {
        CheckAnswer::Fails
    };
    Judged::new(answer, text)
}

/// The longest slot decides.
fn faster(outcome: &AloeOutcome) -> Judged {
    let judged = at_longest_slot(&outcome.longest, &outcome.two_over_one);
    let (Some(judged), Some(ratios)) = (judged, two_cores(&outcome.two_over_one)) else {
        return without(outcome, "two cores at the longest slot", &[("longest", "2")]);
    };
    Judged::new(answer(above(&judged.ratio, 1.0)), format!("throughput of {ratios}; the longest slot decides"))
}

/// The part of claim 4 that no clock decides.
const ONE_OUTPUT: &str = "output of 2x86 as of 1x86";

fn one_output(outcome: &AloeOutcome, same: &[Point<'_>]) -> Judged {
    let hashes: BTreeSet<String> = counted(same).filter_map(|(.., round)| hash(round)).collect();
    let with_hash = counted(same).filter(|(.., round)| hash(round).is_some());
    let workers: BTreeSet<usize> = with_hash.map(|(workers, ..)| workers).collect();
    if workers.len() < 2 {
        return without(outcome, "output on one core and on two", &[("same", "1"), ("same", "2")]);
    }
    let (plans, rounds) = (if hashes.len() == 1 { "one" } else { "more than one" }, counted(same).count());
    let text = format!("{plans} output hash over {rounds} runs on all cores and latencies tried");
    Judged::new(if hashes.len() == 1 { CheckAnswer::Holds } else { CheckAnswer::Fails }, text)
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

fn scattered(outcome: &AloeOutcome) -> Judged {
    let mut far = Vec::new();
    let mut texts = Vec::new();
    for one in &outcome.execution.histograms {
        let (Some(median), Some(tail), Some(max)) = (one.p50_ns, one.p99_9_ns, one.max_ns) else { continue };
        let [median, tail, max] = [median, tail, max].map(|ns| ns as f64);
        far.push(max > FAR * median);
        texts.push(format!("{}: median {}, 99.9 % {}, largest {}", one.name, time(median), time(tail), time(max)));
    }
    if far.is_empty() {
        return Judged::without("executions one by one", outcome.of.tried("execution", None));
    }
    let answer = if far.contains(&true) { CheckAnswer::Holds } else { CheckAnswer::Fails };
    Judged::new(answer, format!("of {} executions each, {}", outcome.execution.slots, texts.join("; ")))
}

fn predicted(outcome: &AloeOutcome) -> Judged {
    let (elsewhere, enough) = (&outcome.elsewhere, outcome.paper.numbers.enough_pct);
    let Errors { clock_pct, mac_pct, instructions_pct } = &elsewhere.mean_error;
    if !elsewhere.predicted() {
        return Judged::without("a second kind of processor", outcome.of.tried("execution-aarch64", None))
            .skipped(elsewhere.skipped.as_ref());
    }
    let text = format!(
        "times of {} components on an emulated aarch64, estimated from those here, err on average by {} % with the integer rate \
         for the clock frequency and by {} % with multiply-accumulates, where {enough} % would be enough; with counted \
         instructions, takt's own metric, by {} %",
        elsewhere.components.len(),
        figure(clock_pct, 0),
        figure(mac_pct, 0),
        figure(instructions_pct, 0),
    );
    let answer = match (above(&elsewhere.clock_over_mac_pct, 0.0), above(mac_pct, enough)) {
        (Some(true), Some(true)) => CheckAnswer::Holds,
        (Some(false), _) | (_, Some(false)) => CheckAnswer::Fails,
        _ => CheckAnswer::Unknown,
    };
    Judged::new(answer, text)
}

/// Environments that stand for the paper's pairs of nodes, by the parts of claim 5.
const PAIRS: [(&str, [&str; 2]); 3] = [
    ("2x86", ["native", "native"]),
    ("an emulated ARM and x86", ["aarch64", "native"]),
    ("2ARM, emulated", ["aarch64", "aarch64"]),
];

/// On two nodes as on one, every slot begun at one instant of one clock.
fn synchronised(outcome: &AloeOutcome, name: &str) -> Judged {
    let pair = PAIRS.iter().find(|(known, _)| *known == name).map(|(_, pair)| *pair);
    let split: Vec<&SplitPoint> = outcome.two_nodes.split.iter().filter(|point| Some(point.pair()) == pair).collect();
    let count = |of: fn(&SplitPoint) -> usize| split.iter().map(|point| of(point)).sum::<usize>();
    let (rounds, same, other) = (count(|p| p.rounds), count(|p| p.same_output), count(|p| p.other_output));
    let emulated = name != PAIRS[0].0;
    if rounds == 0 {
        let tried = outcome.of.tried(if emulated { "split-aarch64" } else { "split" }, None);
        return Judged::without(name, tried).skipped(split.iter().find_map(|point| point.skipped.as_ref()));
    }
    let worst = |of: fn(&SplitPoint) -> &Figure| split.iter().filter_map(|p| of(p).value).fold(0.0, f64::max);
    let (off, bound) = (worst(|p| &p.clock_off_ns), worst(|p| &p.clock_bound_ns));
    let shortest = split.iter().filter(|p| p.rounds > 0).map(|p| p.slot_us).fold(f64::INFINITY, f64::min);
    let text = format!(
        "the UTRAN chain on two nodes gave the output of one node in {same} of {rounds} rounds, and another output without a \
         missed slot in {other}; the second node was off the first one's clock by at most {} on average and estimated at most \
         {}, where the shortest slot is {}",
        time(off),
        time(bound),
        time(shortest * 1e3),
    );
    match (other, bound < shortest * 1e3) {
        (0, true) if 2 * same > rounds => Judged::new(CheckAnswer::Holds, text),
        (0, true) if emulated => Judged::not_here("emulated nodes too slow for most rounds", text),
        (0, true) => Judged::new(CheckAnswer::Unknown, text),
        _ => Judged::new(CheckAnswer::Fails, text),
    }
}

/// The longest slot of Figure 2's third curve at which a packet was held.
fn longest_slot(outcome: &AloeOutcome) -> Option<&LongestPoint> {
    let held = outcome.longest.iter().filter(|point| point.nodes > 1 && point.cable_used_share.value.is_some());
    held.max_by(|a, b| a.slot_us.total_cmp(&b.slot_us))
}

/// The cable of the paper's ARMs, in use.
fn carried(outcome: &AloeOutcome) -> Judged {
    let Some(point) = longest_slot(outcome) else {
        return Judged::without("two nodes joined by a cable", outcome.of.tried("longest-two-nodes", None))
            .skipped(outcome.two_nodes.skipped.as_ref());
    };
    let least = outcome.paper.numbers.cable_share;
    let percent = point.cable_used_share.scaled(100.0);
    let text = format!(
        "two nodes joined by {} carry {} from the source without a missed slot at slots of {}; with its samples that is {} % of \
         what the cable carries, where {} % would be enough",
        outcome.two_nodes.cable_bps.map_or_else(|| "a cable".to_owned(), rate),
        point.throughput_bps.value.map(rate).unwrap_or_default(),
        time(point.slot_us * 1e3),
        figure(&percent, 0),
        100.0 * least,
    );
    Judged::new(answer(above(&point.cable_used_share, least)), text)
}

/// Nothing to judge by: whether rounds were run that could have told, by parts of the file and a level there.
fn without(outcome: &AloeOutcome, what: &str, told_by: &[(&str, &str)]) -> Judged {
    Judged::without(what, told_by.iter().all(|(part, level)| outcome.of.tried(part, Some(level))))
}

fn answer(above: Option<bool>) -> CheckAnswer {
    match above {
        Some(true) => CheckAnswer::Holds,
        Some(false) => CheckAnswer::Fails,
        None => CheckAnswer::Unknown,
    }
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

fn cores(workers: &BTreeSet<usize>) -> String {
    workers.iter().map(|count| plural(*count as u64, "core")).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::facts;
    use super::*;
    use crate::study::RoundValue;

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

    #[test]
    fn parts_that_are_judged_by_their_names_are_named_in_the_file() {
        let parts = |number: usize| facts().claims[number - 1].parts.clone();
        assert!(parts(4).iter().any(|part| part == ONE_OUTPUT));
        assert_eq!(parts(5), PAIRS.map(|(name, _)| name));
    }
}
