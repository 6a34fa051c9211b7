//! The rows of the store as values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_stats::{Histogram, Ns};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRun {
    pub experiment: String,
    pub file: String,
    /// `full` or `quick`.
    pub depth: String,
    pub seed: u64,
    /// Options of the command that change what is run (`--addr`, `--need`), as JSON.
    pub options: Value,
    pub host: Value,
    pub takt_version: String,
    /// The points, in the order of their numbers.
    pub points: Vec<PointRow>,
}

/// One combination of factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointRow {
    /// Which part of the experiment it belongs to: `udp`, `radio`.
    pub part: String,
    /// Varying settings and their levels here.
    pub factors: BTreeMap<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// Its name: `2026-11-21T100412-check`.
    pub id: String,
    pub experiment: String,
    #[serde(skip)]
    pub file: String,
    /// `full` or `quick`.
    pub depth: String,
    pub seed: u64,
    pub options: Value,
    pub host: Value,
    pub takt_version: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When its last round ended, if all were run; `None` while rounds remain.
    pub finished: Option<String>,
    pub rounds: u32,
}

/// Fate of a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundState {
    /// It counts.
    #[default]
    Valid,
    /// Something else used the machine: kept, marked, not counted.
    Disturbed,
    /// The emulator was late itself for too much of it: kept, marked, never blamed on the host.
    EmulatorLate,
    /// The workload could not be run.
    Failed,
    /// The workload could not be run, since this host was too busy: that is this host's doing.
    HostBusy,
    /// Not run, for the reason given.
    Skipped,
}

impl RoundState {
    pub const ALL: [RoundState; 6] = [
        RoundState::Valid,
        RoundState::Disturbed,
        RoundState::EmulatorLate,
        RoundState::Failed,
        RoundState::HostBusy,
        RoundState::Skipped,
    ];

    pub(super) fn word(self) -> &'static str {
        match self {
            RoundState::Valid => "valid",
            RoundState::Disturbed => "disturbed",
            RoundState::EmulatorLate => "emulator_late",
            RoundState::Failed => "failed",
            RoundState::HostBusy => "host_busy",
            RoundState::Skipped => "skipped",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<RoundState> {
        RoundState::ALL.into_iter().find(|state| state.word() == word)
    }
}

/// A round that has ended, about to be written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRound {
    /// Number of its point in the run.
    pub point: u32,
    /// Block it belongs to, from 0.
    pub block: u32,
    /// 0 for the first attempt; 1 and more replace one that did not count.
    pub attempt: u32,
    pub state: RoundState,
    /// Why it does not count, or was not run.
    pub why: Option<String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took with everything around it, seconds.
    pub took_s: f64,
    /// The measurement; `None` for a round that was not run.
    pub record: Option<Record>,
}

/// Measurement of one round, with everything in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Every setting of the point, with the defaults filled in.
    pub settings: Value,
    /// The workload's own result document, raw histograms included.
    pub result: Value,
    /// Counters of both sides before.
    pub before: Value,
    pub after: Value,
    /// Environment, path, engine, limits, accelerator, cores, policy in force.
    pub in_force: Value,
    /// The emulator's own summary; of one that was there already, how late it says it was. `null` with a radio that says
    /// nothing.
    pub emulator: Value,
    /// The machine during the round: foreign load, steal.
    pub machine: Value,
}

impl Record {
    /// Its documents by name, in the order of the columns of the store.
    pub fn documents(&self) -> impl Iterator<Item = (&'static str, &Value)> {
        let Record { settings, result, before, after, in_force, emulator, machine } = self;
        [
            ("settings", settings),
            ("result", result),
            ("before", before),
            ("after", after),
            ("in_force", in_force),
            ("emulator", emulator),
            ("machine", machine),
        ]
        .into_iter()
    }
}

/// A [`NewRound`] in the store, with what the store knows of its point.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoundRow {
    pub id: i64,
    pub point: u32,
    pub part: String,
    pub factors: BTreeMap<String, Value>,
    pub block: u32,
    pub attempt: u32,
    pub state: RoundState,
    pub why: Option<String>,
    pub started: String,
    pub took_s: f64,
    pub record: Option<Record>,
}

/// A histogram of the results of these rounds, all together. Unlike bounds would be another version's: then it is left out.
pub fn merged<'a>(rounds: impl IntoIterator<Item = &'a RoundRow>, pointer: &str) -> Histogram<Ns> {
    let mut all = Histogram::default();
    for document in rounds.into_iter().filter_map(|round| round.record.as_ref()?.result.pointer(pointer)) {
        if let Ok(histogram) = Histogram::deserialize(document) {
            let _ = all.merge(&histogram);
        }
    }
    all
}
