//! A point of the study: how many answers failed, and where their time went.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_lab::experiment::plain;
use takt_lab::store::{RoundRow, merged};
use takt_load::deadline::STAGES;
use takt_stats::{FailureBound, Histogram, Ns, sum};

use super::failed::Account;
use crate::study::Figure;
use crate::study::part::{Point, at};

/// A point of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    pub part: String,
    pub settings: BTreeMap<String, Value>,
    pub paper: Option<f64>,
    /// Failures over subframes, without those that a late radio or a core that stood still spoilt. A round that could not be
    /// run has failed altogether.
    pub failure: Figure,
    /// How large that may be, by the rounds that count; `None` below two.
    pub bound: Option<FailureBound>,
    /// Failures over subframes, of every round that ran and all of its subframes.
    pub all: Figure,
    /// How large that may be.
    pub bound_all: Option<FailureBound>,
    /// Processes of the disturbance that ran at the end of a round: the fewest of all rounds; `None` without a disturbance.
    pub loops: Option<u64>,
    /// Share of the subframes that were excluded.
    pub excluded: Figure,
    /// For how long the watched cores stood still, over all rounds that count, milliseconds.
    #[serde(default)]
    pub stalls_ms: f64,
    /// How much of these cores was stolen by the kernel's account, milliseconds.
    #[serde(default)]
    pub steal_ms: f64,
    /// Why it was not watched whether the machine below stopped a core, if it was not.
    pub unwatched: Option<String>,
    /// Answers that the radio called late, over subframes.
    pub radio_late: Figure,
    /// Blocks decoded without an error, over answers.
    pub decoded: Figure,
    /// From the first downlink slot to the answer, all rounds that count together.
    pub total: StageFacts,
    pub stages: Vec<StageFacts>,
    /// Stages in which the worst late answers lost most of their time, by how often.
    pub blamed: BTreeMap<String, u64>,
    /// CPU time of the disturbance, in CPUs.
    pub disturbance_cpus: Figure,
    /// Why nothing was measured, if nothing was.
    pub skipped: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StageFacts {
    pub name: String,
    /// Half of the answers took less, microseconds.
    pub p50_us: Option<f64>,
    pub p99_9_us: Option<f64>,
    pub max_us: Option<f64>,
}

impl Case {
    /// Level of a setting there, as a person writes it.
    #[must_use]
    pub fn level(&self, name: &str) -> Option<String> {
        self.settings.get(name).map(plain)
    }
}

/// Points that differ in `replicate` alone are one, with more rounds.
pub(super) fn of(name: &str, part: &[Point<'_>]) -> Vec<Case> {
    let mut alike: Vec<Point<'_>> = Vec::new();
    for Point { settings, rounds } in part {
        let mut settings = settings.clone();
        settings.remove("replicate");
        match alike.iter_mut().find(|other| other.settings == settings) {
            Some(other) => other.rounds.extend(rounds),
            None => alike.push(Point { settings, rounds: rounds.clone() }),
        }
    }
    alike.iter().map(|point| case(name, point)).collect()
}

fn case(part: &str, point: &Point<'_>) -> Case {
    let rounds = &point.rounds;
    let counted: Vec<&RoundRow> = point.counted().collect();
    let share = |of: &'static str, over: &'static str| {
        Figure::of(rounds, move |round| Some(at(round, of)? / at(round, over)?.max(1.0)))
    };
    let times = |name: &str, pointer: &str| stage(name, &merged(point.counted(), pointer));
    let failure = Account::Own.figure(rounds);
    Case {
        part: part.into(),
        settings: point.settings.clone(),
        paper: None,
        bound: Account::Own.bound(rounds),
        all: Account::All.figure(rounds),
        bound_all: Account::All.bound(rounds),
        loops: counted.iter().filter_map(|round| loops(round)).min(),
        excluded: share("/excluded/subframes", "/subframes"),
        stalls_ms: sum_ms(&counted, "/excluded/stalls_ns"),
        steal_ms: sum_ms(&counted, "/excluded/steal_ns"),
        unwatched: counted.iter().find_map(|round| unwatched(round)),
        radio_late: share("/radio/late", "/subframes"),
        decoded: share("/decoded", "/answers"),
        total: times("total", "/total_ns"),
        stages: STAGES.iter().map(|one| times(one.name(), &format!("/budget/stages/{}", one.name()))).collect(),
        blamed: blamed(&counted),
        disturbance_cpus: Figure::of(rounds, disturbance_cpus),
        skipped: point.skipped().filter(|_| failure.value.is_none()),
        failure,
    }
}

fn sum_ms(rounds: &[&RoundRow], pointer: &'static str) -> f64 {
    sum(rounds.iter().filter_map(|round| at(round, pointer))) / 1e6
}

fn unwatched(round: &RoundRow) -> Option<String> {
    Some(round.record.as_ref()?.result.pointer("/excluded/unwatched")?.as_str()?.to_owned())
}

fn loops(round: &RoundRow) -> Option<u64> {
    round.record.as_ref()?.in_force.pointer("/disturbance/running")?.as_u64()
}

fn stage(name: &str, histogram: &Histogram<Ns>) -> StageFacts {
    let us = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e3);
    StageFacts {
        name: name.into(),
        p50_us: us(histogram.quantile(0.5)),
        p99_9_us: us(histogram.quantile(0.999)),
        max_us: us(histogram.max()),
    }
}

/// Among the late ones of each round's worst: the stage that took longest, the air left out.
fn blamed(rounds: &[&RoundRow]) -> BTreeMap<String, u64> {
    let mut blamed = BTreeMap::new();
    for round in rounds {
        let Some(result) = round.record.as_ref().map(|record| &record.result) else { continue };
        let limit = result.get("limit_ns").and_then(Value::as_i64).unwrap_or(i64::MAX);
        for answer in result.get("worst").and_then(Value::as_array).into_iter().flatten() {
            let late = answer.get("total_ns").and_then(Value::as_i64).is_some_and(|total| total > limit);
            let stages = answer.get("stages_ns").and_then(Value::as_object).into_iter().flatten();
            let longest = stages.filter(|(name, _)| *name != "air").max_by_key(|(_, ns)| ns.as_i64());
            if let (true, Some((name, _))) = (late, longest) {
                *blamed.entry(name.clone()).or_default() += 1;
            }
        }
    }
    blamed
}

/// CPU time of the disturbing processes over the time of the round.
fn disturbance_cpus(round: &RoundRow) -> Option<f64> {
    let record = round.record.as_ref()?;
    let pids = record.in_force.pointer("/disturbance/pids")?.as_array()?;
    let usage = record.machine.get("usage")?;
    let wall_ns = usage.get("wall_ns")?.as_f64()?;
    let companions = usage.get("companions")?.as_array()?;
    let of = companions.iter().filter(|process| process.get("pid").is_some_and(|pid| pids.contains(pid)));
    Some(sum(of.filter_map(|process| process.get("cpu_ns")?.as_f64())) / wall_ns)
}
