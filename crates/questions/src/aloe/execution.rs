//! Table I and Figure 1: what each component of the UTRAN chain takes, in microseconds and in the paper's metric.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use takt_lab::store::{RoundRow, RoundState};
use takt_load::waveform;
use takt_stats::{Histogram, Ns};

use super::assemble::read;
use super::facts::{ExecutionFacts, ExecutionRow};
use crate::study::Figure;
use crate::study::part::{Point, at};

/// Times of the components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Execution {
    /// Slots of the shorter runs, as the paper's.
    pub few_slots: u64,
    /// Slots of the longer runs.
    pub many_slots: u64,
    /// Length of a slot, µs.
    pub slot_us: f64,
    /// Multiply-accumulates a second of this host, measured in the same rounds.
    pub mac_per_s: Figure,
    /// Table I, in the paper's order.
    pub components: Vec<ExecutionPoint>,
    pub total: Option<ExecutionPoint>,
    /// Figure 1.
    pub histograms: Vec<Scatter>,
    /// Slots of components missed, all rounds that count.
    pub misses: u64,
    pub slots: u64,
}

/// A row of Table I.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExecutionPoint {
    pub paper: ExecutionRow,
    /// Mean of the shorter runs, ns.
    pub few_ns: Figure,
    /// Mean of the longer runs, ns.
    pub many_ns: Figure,
    /// Thousands of multiply-accumulates that this host makes in the mean of the longer runs.
    pub kmac: Option<f64>,
    /// By how much the time here is missed when it is estimated from the paper's x86 by multiply-accumulates, %; as the paper
    /// counts it, of the time to be estimated.
    pub mac_error_pct: Option<f64>,
}

/// How the execution times of a component scatter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scatter {
    /// As the paper calls it.
    pub name: String,
    pub measured: u64,
    pub mean_ns: Option<f64>,
    pub p50_ns: Option<u64>,
    pub p99_9_ns: Option<u64>,
    pub max_ns: Option<u64>,
    /// From where a bin begins, ns, and the share of executions in it; ends with an empty one.
    pub bins: Vec<(f64, f64)>,
}

/// The components whose times the paper draws.
const DRAWN: [&str; 2] = ["1st Interl.", "TurboDec"];

/// Width of a bin: each begins at so many times the one before.
const BIN: f64 = 1.05;

/// Rounds of one number of slots.
#[derive(Default)]
pub(super) struct Group<'a> {
    pub(super) slots: u64,
    pub(super) slot_us: f64,
    pub(super) rounds: Vec<&'a RoundRow>,
}

/// The shortest runs and the longest; `None` without any.
pub(super) fn by_slots<'a>(part: &[Point<'a>]) -> Option<(Group<'a>, Group<'a>)> {
    let of = |slots: usize| {
        let mut group = Group { slots: slots as u64, ..Group::default() };
        for point in part.iter().filter(|point| point.whole("slots") == slots) {
            group.rounds.extend(&point.rounds);
            group.slot_us = point.slot_us();
        }
        group
    };
    let slots = || part.iter().map(|point| point.whole("slots"));
    Some((of(slots().min()?), of(slots().max()?)))
}

pub(super) fn execution(part: &[Point<'_>], paper: &ExecutionFacts) -> Execution {
    let Some((few, many)) = by_slots(part) else { return Execution::default() };
    let (few_runs, many_runs) = (runs(&few.rounds), runs(&many.rounds));
    let mac_per_s = Figure::of(&many.rounds, |round| at(round, "/floors/mac_per_s").filter(|rate| *rate > 0.0));
    let point = |row: &ExecutionRow, names: &[&str]| {
        let of = |runs: &Runs<'_>| Figure::of(&runs.rounds(), |round| runs.mean_ns(round, names));
        let many_ns = of(&many_runs);
        let kmac = mac_per_s.value.zip(many_ns.value).map(|(rate, ns)| ns * rate / 1e12);
        let mac_error_pct = kmac.filter(|kmac| *kmac > 0.0).map(|kmac| 100.0 * (row.x86_kmac - kmac).abs() / kmac);
        ExecutionPoint { paper: row.clone(), few_ns: of(&few_runs), many_ns, kmac, mac_error_pct }
    };
    let all: Vec<&str> = paper.components.iter().map(|row| row.component.as_str()).collect();
    let counted = |of: fn(&waveform::WaveformOutcome) -> u64| many_runs.counted().map(of).sum();
    Execution {
        few_slots: few.slots,
        many_slots: many.slots,
        slot_us: many.slot_us,
        components: paper.components.iter().map(|row| point(row, &[&row.component])).collect(),
        total: Some(point(&paper.total, &all)),
        histograms: DRAWN.iter().filter_map(|name| scatter(paper, name, &many_runs)).collect(),
        misses: counted(|outcome| outcome.misses),
        slots: counted(|outcome| outcome.slots),
        mac_per_s,
    }
}

pub(super) struct Runs<'a>(Vec<(&'a RoundRow, Option<waveform::WaveformOutcome>)>);

pub(super) fn runs<'a>(rounds: &[&'a RoundRow]) -> Runs<'a> {
    Runs(rounds.iter().map(|round| (*round, read::<waveform::WaveformOutcome>(round))).collect())
}

impl<'a> Runs<'a> {
    pub(super) fn rounds(&self) -> Vec<&'a RoundRow> {
        self.0.iter().map(|(round, _)| *round).collect()
    }

    pub(super) fn counted(&self) -> impl Iterator<Item = &waveform::WaveformOutcome> {
        let counted = self.0.iter().filter(|(round, _)| round.state == RoundState::Valid);
        counted.filter_map(|(_, outcome)| outcome.as_ref())
    }

    /// Mean of these components together; `None` unless the round has all.
    pub(super) fn mean_ns(&self, round: &RoundRow, names: &[&str]) -> Option<f64> {
        let (_, outcome) = self.0.iter().find(|(own, _)| own.id == round.id)?;
        let outcome = outcome.as_ref()?;
        names.iter().map(|name| of(outcome, name)?.mean()).sum()
    }
}

fn of<'a>(outcome: &'a waveform::WaveformOutcome, component: &str) -> Option<&'a Histogram<Ns>> {
    outcome.components.iter().find(|one| one.name == component).map(|one| &one.execution)
}

fn scatter(paper: &ExecutionFacts, name: &str, runs: &Runs<'_>) -> Option<Scatter> {
    let row = paper.components.iter().find(|row| row.name == name)?;
    let mut all: Option<Histogram<Ns>> = None;
    for histogram in runs.counted().filter_map(|outcome| of(outcome, &row.component)) {
        match &mut all {
            // Unlike bounds would be another version's; then its rounds are in the table and not in the drawing.
            Some(all) => drop(all.merge(histogram)),
            None => all = Some(histogram.clone()),
        }
    }
    let all = all.filter(|all| !all.is_empty())?;
    Some(Scatter {
        name: name.to_owned(),
        measured: all.len(),
        mean_ns: all.mean(),
        p50_ns: all.quantile(0.5),
        p99_9_ns: all.quantile(0.999),
        max_ns: all.max(),
        bins: bins(&all),
    })
}

/// Bins that grow with what they hold, from the smallest to the largest.
fn bins(all: &Histogram<Ns>) -> Vec<(f64, f64)> {
    let number = |ns: u64| ((ns.max(1) as f64).ln() / BIN.ln()).floor() as i32;
    let mut counts: BTreeMap<i32, u64> = BTreeMap::new();
    for (ns, count) in all.steps() {
        *counts.entry(number(ns)).or_default() += count;
    }
    let (Some((&first, _)), Some((&last, _))) = (counts.first_key_value(), counts.last_key_value()) else {
        return Vec::new();
    };
    let bin = |n: i32| (BIN.powi(n), counts.get(&n).copied().unwrap_or(0) as f64 / all.len() as f64);
    (first..=last + 1).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_everything_where_it_belongs_and_end_empty() {
        let mut all = Histogram::<Ns>::with_bound(1_000_000);
        all.record_n_saturating(1_000, 3);
        all.record_n_saturating(2_000, 1);
        let bins = bins(&all);
        assert!((bins.iter().map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
        let [first, .., last] = &bins[..] else { panic!("{bins:?}") };
        assert!(first.0 <= 1_000.0 && first.0 * BIN > 999.0 && first.1 == 0.75, "{first:?}");
        assert!(last.0 > 2_000.0 && last.1 == 0.0, "{last:?}");
    }
}
