//! Facts of a run about itself: the head of every outcome.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_host::fingerprint::Fingerprint;

use crate::experiment::Experiment;
use crate::store::{RoundRow, RunRow};

/// A run. In an outcome's document its keys stand beside those of the outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct About {
    /// Name of the run in the store: `2026-11-21T100412-check`.
    pub run: String,
    pub question: String,
    /// When the first round began, RFC 3339, UTC.
    pub started: String,
    /// Seconds that rounds took: pauses between a run and its resumption are left out.
    pub duration_s: f64,
    /// `quick` or `full`.
    pub depth: String,
    /// Whether every planned round was run; an interrupted run is judged by what it has.
    pub complete: bool,
    pub takt_version: String,
    pub host: HostFacts,
}

/// The machine, as far as the figures depend on it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HostFacts {
    pub hostname: String,
    /// `Linux 6.18.2`.
    pub kernel: String,
    pub cpu_model: String,
    /// Logical cores this process may use.
    pub cores: usize,
    pub memory_bytes: u64,
    /// `none`, `kvm`, `docker` ...; `None` if it could not be seen.
    pub virtualisation: Option<String>,
    /// Everything else that was read, for the appendix: name to value.
    pub more: BTreeMap<String, String>,
}

impl About {
    /// A run in the store, its rounds, and the experiment as its file is read today.
    #[must_use]
    pub fn of(run: &RunRow, experiment: &Experiment, rounds: &[RoundRow]) -> About {
        About {
            run: run.id.clone(),
            question: experiment.question.clone(),
            started: run.started.clone(),
            duration_s: takt_stats::sum(rounds.iter().map(|round| round.took_s)),
            depth: run.depth.clone(),
            complete: run.finished.is_some(),
            takt_version: run.takt_version.clone(),
            host: host_facts(run),
        }
    }
}

/// Words that tell one host from another, by the host's document of a run.
pub(crate) fn host_and_kernel(host: &Value) -> String {
    let text = |key: &str| host.get(key).and_then(Value::as_str).unwrap_or_default();
    format!("{} {}", text("hostname"), text("kernel"))
}

fn host_facts(run: &RunRow) -> HostFacts {
    let document = run.host.get("fingerprint").cloned().unwrap_or_default();
    let Ok(print) = Fingerprint::deserialize(&document) else { return HostFacts::default() };
    let plain = |value: &Value| match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    };
    let all = document.as_object().into_iter().flatten();
    let more = all.filter_map(|(name, value)| Some((name.clone(), plain(value)?))).collect();
    HostFacts {
        hostname: print.hostname.unwrap_or_default(),
        kernel: print.kernel.map(|release| format!("Linux {release}")).unwrap_or_default(),
        cpu_model: print.cpu_model.unwrap_or_default(),
        cores: print.cpus,
        memory_bytes: print.memory_bytes.unwrap_or_default(),
        virtualisation: document.get("virtualisation").and_then(plain),
        more,
    }
}
