//! Execution times of a waveform as a table: of one that runs, of a report, or of one that is tried.

use serde::Serialize;
use serde_json::Value as Json;
use takt_base::Stop;
use takt_graph::{Graph, Latency, Plan};
use takt_mapper::CalibrationError;

use crate::costs::{CostsError, capacities};
use crate::{Registry, Report, Session, SessionOptions};

/// Execution times of a waveform's components.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExecutionTimes {
    /// The waveform.
    pub waveform: String,
    /// Length of a slot, ns.
    pub slot_ns: u64,
    /// Multiply-accumulates a second of this core.
    pub mac_per_s: f64,
    /// Its components, in order.
    pub components: Vec<ComponentTimes>,
}

/// Execution times of one component; unknown where it was not executed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComponentTimes {
    /// Its name.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: String,
    /// How often it was executed.
    pub executions: u64,
    /// Median, ns.
    pub p50_ns: Option<u64>,
    /// 99 % take at most that, ns.
    pub p99_ns: Option<u64>,
    /// Longest, ns.
    pub max_ns: Option<u64>,
    /// Multiply-accumulates that this core does in the median time.
    pub p50_mac: Option<f64>,
}

/// Why there is no table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecutionTimesError {
    /// It is neither a report nor an answer of a waveform that runs.
    #[error("it lacks `waveform`, `slot_ns` or `components`")]
    NoResult,
    /// This core can't be calibrated.
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
}

impl ExecutionTimes {
    /// From a report or a snapshot: both name components alike; a report has quantiles apart.
    ///
    /// # Errors
    /// It is neither; the clock of this machine stands.
    pub fn of(measured: &Json) -> Result<ExecutionTimes, ExecutionTimesError> {
        let mac_per_s = capacities()?.mac_per_s;
        ExecutionTimes::read(measured, mac_per_s).ok_or(ExecutionTimesError::NoResult)
    }

    fn read(measured: &Json, mac_per_s: f64) -> Option<ExecutionTimes> {
        let components = measured["components"].as_array()?.iter().map(|one| ComponentTimes::read(one, mac_per_s));
        Some(ExecutionTimes {
            waveform: measured["waveform"].as_str()?.to_owned(),
            slot_ns: measured["slot_ns"].as_u64()?,
            mac_per_s,
            components: components.collect::<Option<_>>()?,
        })
    }
}

impl ComponentTimes {
    fn read(one: &Json, mac_per_s: f64) -> Option<ComponentTimes> {
        let times = if one["execution"].is_object() { &one["execution"] } else { one };
        let p50_ns = times["p50_ns"].as_u64();
        Some(ComponentTimes {
            name: one["name"].as_str()?.to_owned(),
            kind: one["kind"].as_str()?.to_owned(),
            executions: one["executions"].as_u64()?,
            p50_ns,
            p99_ns: times["p99_ns"].as_u64(),
            max_ns: times["max_ns"].as_u64(),
            p50_mac: p50_ns.map(|ns| ns as f64 * mac_per_s / 1e9),
        })
    }
}

/// Executes a waveform on one core for so many slots, as fast as it goes.
///
/// # Errors
/// It can't be opened or started.
pub fn tried(graph: &Graph, registry: &Registry, slots: u64) -> Result<Report, CostsError> {
    let options = SessionOptions { slots: Some(slots), ..SessionOptions::default() };
    let session = Session::open(graph, &Plan::single(graph, Latency::Compact), registry, options)?;
    Ok(session.run(&Stop::new())?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_report_and_a_snapshot_give_the_same_times() {
        let times = json!({ "p50_ns": 100, "p99_ns": 200, "max_ns": 300 });
        let (mut report, mut snapshot) = (json!({ "name": "a", "kind": "k", "executions": 7 }), times.clone());
        report["execution"] = times;
        for key in ["name", "kind", "executions"] {
            snapshot[key] = report[key].clone();
        }
        let table = |component: Json| {
            let measured = json!({ "waveform": "w", "slot_ns": 1000, "components": [component] });
            ExecutionTimes::read(&measured, 2e9).unwrap()
        };
        assert_eq!(table(report.clone()), table(snapshot));
        let [component] = &table(report).components[..] else { panic!("one") };
        assert_eq!((component.p50_mac, component.max_ns), (Some(200.0), Some(300)));
        assert!(ExecutionTimes::read(&json!({ "waveform": "w" }), 2e9).is_none());
    }
}
