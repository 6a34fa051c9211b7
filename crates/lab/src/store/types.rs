//! The rows of the store as values.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A run about to begin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRun {
    /// Name of the experiment: `check`.
    pub experiment: String,
    /// The experiment file, whole, as it was read.
    pub file: String,
    /// `full` or `quick`.
    pub depth: String,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// Options of the command that change what is run (`--addr`, `--need`), as JSON.
    pub options: Value,
    /// The host's fingerprint, as JSON.
    pub host: Value,
    /// Version of takt with its commit.
    pub takt_version: String,
    /// The points, in the order of their numbers.
    pub points: Vec<PointRow>,
}

/// One combination of factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PointRow {
    /// Which part of the experiment it belongs to: `udp`, `radio`.
    pub part: String,
    /// What varies and its level here.
    pub factors: BTreeMap<String, Value>,
}

/// A run in the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunRow {
    /// Its name: `2026-11-21T100412-check`.
    pub id: String,
    /// Name of the experiment.
    pub experiment: String,
    /// The experiment file as it was read.
    #[serde(skip)]
    pub file: String,
    /// `full` or `quick`.
    pub depth: String,
    /// Seed of the order of rounds.
    pub seed: u64,
    /// Options of the command.
    pub options: Value,
    /// The host's fingerprint.
    pub host: Value,
    /// Version of takt with its commit.
    pub takt_version: String,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// When its last round ended, if all were run; `None` while rounds remain.
    pub finished: Option<String>,
    /// Rounds in the store.
    pub rounds: u32,
}

/// What became of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoundState {
    /// It counts.
    Valid,
    /// Something else used the machine: kept, marked, not counted.
    Disturbed,
    /// The emulator was late itself for too much of it: kept, marked, never blamed on the host.
    EmulatorLate,
    /// The workload could not be run.
    Failed,
    /// Not run, for the reason given.
    Skipped,
}

impl RoundState {
    /// The word in the file.
    pub(super) fn word(self) -> &'static str {
        match self {
            RoundState::Valid => "valid",
            RoundState::Disturbed => "disturbed",
            RoundState::EmulatorLate => "emulator_late",
            RoundState::Failed => "failed",
            RoundState::Skipped => "skipped",
        }
    }

    pub(super) fn of_word(word: &str) -> Option<RoundState> {
        use RoundState::{Disturbed, EmulatorLate, Failed, Skipped, Valid};
        [Valid, Disturbed, EmulatorLate, Failed, Skipped].into_iter().find(|state| state.word() == word)
    }
}

/// A round that has ended, about to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRound {
    /// Number of its point in the run.
    pub point: u32,
    /// Block it belongs to, from 0.
    pub block: u32,
    /// 0 for the first attempt; 1 and more replace one that did not count.
    pub attempt: u32,
    /// What became of it.
    pub state: RoundState,
    /// Why it does not count, or was not run.
    pub why: Option<String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took with everything around it, seconds.
    pub took_s: f64,
    /// What was measured; `None` for a round that was not run.
    pub record: Option<Record>,
}

/// What one round measured, with everything in force.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// Every setting of the point, with the defaults filled in.
    pub settings: Value,
    /// The workload's own result document, raw histograms included.
    pub result: Value,
    /// Counters of both sides before.
    pub before: Value,
    /// Counters of both sides after.
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

/// A round in the store.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoundRow {
    /// Its row.
    pub id: i64,
    /// Number of its point.
    pub point: u32,
    /// The part of its point.
    pub part: String,
    /// The factors of its point.
    pub factors: BTreeMap<String, Value>,
    /// Block, from 0.
    pub block: u32,
    /// Attempt, from 0.
    pub attempt: u32,
    /// What became of it.
    pub state: RoundState,
    /// Why it does not count, or was not run.
    pub why: Option<String>,
    /// When it began, RFC 3339, UTC.
    pub started: String,
    /// How long it took, seconds.
    pub took_s: f64,
    /// What was measured.
    pub record: Option<Record>,
}
