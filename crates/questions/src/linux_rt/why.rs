//! Threads that ran while the worst answers waited: from the traces in the records.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_host::core_watch::WATCHES;
use takt_lab::experiment::plain;

use crate::study::part::Point;

/// A trace around the worst answer of a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceFacts {
    pub round_id: i64,
    pub cap: String,
    /// From the first downlink slot to the answer, milliseconds.
    pub total_ms: f64,
    /// The stage that took longest.
    pub stage: String,
    /// How long it took, milliseconds.
    pub stage_ms: f64,
    /// Thread that waited in it.
    pub waited: String,
    /// The core on which it ran in the end.
    pub cpu: Option<u64>,
    /// Threads that ran on that core meanwhile, the longest first.
    pub ran: Vec<Ran>,
    /// Events that the kernel does not let be seen, if there are such.
    pub hidden: Option<String>,
}

/// A process that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Ran {
    pub name: String,
    /// For how long, milliseconds.
    pub ms: f64,
    /// Times it was put on the core.
    pub times: u64,
    /// The longest of these, milliseconds: a slice, if it was not woken out of it.
    pub longest_ms: f64,
}

pub(super) fn of(part: &[Point<'_>]) -> Vec<TraceFacts> {
    let mut traces = Vec::new();
    for point in part {
        let cap = point.settings.get("cap").map(plain).unwrap_or_default();
        for round in point.counted() {
            let trace = round.record.as_ref().and_then(|record| record.result.get("trace"));
            traces.extend(trace.and_then(|trace| facts(round.id, &cap, trace)));
        }
    }
    traces
}

fn facts(round_id: i64, cap: &str, trace: &Value) -> Option<TraceFacts> {
    let text = |name: &str| trace.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let ms = |name: &str| trace.get(name).and_then(Value::as_f64).map(|ns| ns / 1e6);
    let hidden = trace.get("hidden").and_then(Value::as_str).map(str::to_owned);
    let ran = trace.get("ran").and_then(Value::as_array).into_iter().flatten().filter_map(|one| {
        let name = one.get("name")?.as_str()?.to_owned();
        let ms = |key: &str| Some(one.get(key)?.as_f64()? / 1e6);
        Some(Ran { name, ms: ms("ns")?, times: one.get("times")?.as_u64()?, longest_ms: ms("longest_ns")? })
    });
    Some(TraceFacts {
        round_id,
        cap: cap.to_owned(),
        total_ms: ms("total_ns").unwrap_or_default(),
        stage: text("stage"),
        stage_ms: ms("stage_ns").unwrap_or_default(),
        waited: text("waited"),
        cpu: trace.get("cpu").and_then(Value::as_u64),
        ran: ran.collect(),
        hidden,
    })
    .filter(|facts| facts.hidden.is_some() || !facts.stage.is_empty())
}

/// The processes that delayed the answers over the limit: for how long in all and in a turn, milliseconds. Threads that watch
/// the machine below take a few microseconds and are left out.
pub(super) fn culprits(traces: &[TraceFacts], limit_ms: f64) -> Vec<(String, f64, f64)> {
    let mut by: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    let late = traces.iter().filter(|trace| trace.total_ms > limit_ms);
    for ran in late.flat_map(|trace| &trace.ran).filter(|ran| !ran.name.starts_with(WATCHES)) {
        let (all, longest) = by.entry(&ran.name).or_default();
        *all += ran.ms;
        *longest = longest.max(ran.longest_ms);
    }
    let mut all: Vec<(String, f64, f64)> =
        by.into_iter().map(|(name, (ms, longest))| (name.to_owned(), ms, longest)).collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}
