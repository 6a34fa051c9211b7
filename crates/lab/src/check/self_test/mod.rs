//! Would `takt check` have said no? Hosts that are made bad by a known amount, the verdict about each, and the truth.
//!
//! ```text
//!   known-bad.toml --> rounds on an impaired host --> the check's own judge  --> yes, no, not known
//!                                                 --> numbers, radio's report --> loses, keeps up
//! ```
//!
//! As many rounds as a quick check has make a trial: one host, one verdict. The file and [`Truth`] fix what is tried,
//! for how long, and what counts as a loss, before anything is run. Rounds that do not count for the verdict count for
//! nothing; a trial that lacks rounds is one whose answer is "not known".
//!
//! A trial that freezes the radio too has a twin: the same stream, with only the host side frozen for the same time. The twin's
//! radio goes on, and the fate of its samples is the truth about both.

#[cfg(test)]
mod model_tests;
mod rates;
mod truth;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_load::{Model, WorkloadKind};

use super::collect::{levels, rate_point, skipped};
use super::{AssembleError, Evidence, Need, RoundState, StoredRun, judge, stops_of};
use super::{CheckAnswer, Mode, RatePoint};
use crate::about::About;
use crate::experiment::{Part, plain};
use crate::nodes::mean;
use crate::store::{PointRow, RoundRow, RunRow, Store};

pub use rates::{ErrorRate, ErrorRates, GOALS, Goals};
pub use truth::Truth;

pub const NAME: &str = "known-bad";
/// Version of the outcome's document.
pub const SCHEMA: &str = "takt.self-test/1";
/// Rounds of a trial: what `check --quick` gives a needed rate.
pub const TRIAL_ROUNDS: u32 = 3;

/// Outcome of all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    pub schema: String,
    #[serde(flatten)]
    pub about: About,
    /// `holds`: the verdict errs no more often than the goals allow, on this host.
    pub answer: CheckAnswer,
    #[serde(rename = "says")]
    pub summary: Vec<String>,
    pub error_rates: ErrorRates,
    /// The same by kind: a part of the file.
    #[serde(default)] // outcomes older than this key
    pub by_kind: Vec<KindRates>,
    /// Impairments of hosts, and the answers: the table of confusion.
    pub table: Vec<TableRow>,
    pub trials: Vec<Trial>,
    pub not_tried: Vec<NotTried>,
}

/// How often the verdict errs about hosts to which one kind of thing is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KindRates {
    pub part: String,
    #[serde(flatten)]
    pub rates: ErrorRates,
}

/// All trials in which one thing was done to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    pub part: String,
    /// The impairment: `hog 4.5ms every 5ms`.
    pub done: String,
    /// Answers for hosts that lose.
    pub loses: Answers,
    /// Answers for hosts that keep up.
    pub keeps_up: Answers,
}

impl TableRow {
    fn note(&mut self, loses: bool, answer: CheckAnswer) {
        let answers = if loses { &mut self.loses } else { &mut self.keeps_up };
        answers.note(answer);
    }
}

/// How often each answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The host keeps up.
    pub yes: usize,
    /// It does not.
    pub no: usize,
    /// It gave neither.
    pub not_known: usize,
}

impl Answers {
    #[must_use]
    pub fn all(self) -> usize {
        self.yes + self.no + self.not_known
    }

    fn note(&mut self, answer: CheckAnswer) {
        match answer {
            CheckAnswer::Holds => self.yes += 1,
            CheckAnswer::Fails => self.no += 1,
            CheckAnswer::Unknown => self.not_known += 1,
        }
    }

    fn add(self, other: Answers) -> Answers {
        Answers { yes: self.yes + other.yes, no: self.no + other.no, not_known: self.not_known + other.not_known }
    }
}

/// One host, made what it is, and the verdict about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub part: String,
    pub done: String,
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    pub truth: Truth,
    pub loses: bool,
    pub answer: CheckAnswer,
    pub why: String,
    pub counted: usize,
    /// Share of them that was excluded, since the emulator was late, 0 to 1.
    pub excluded_share: f64,
    /// Rows of its rounds in the store.
    pub round_ids: Vec<i64>,
}

/// An impairment that this host could not be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    pub done: String,
    pub why: String,
}

#[must_use]
pub fn is_self_test(run: &RunRow) -> bool {
    run.options.pointer("/more/self_test").and_then(Value::as_bool).unwrap_or(false)
}

pub fn assemble(store: &Store, run: &str) -> Result<SelfTest, AssembleError> {
    let stored = StoredRun::read(store, run)?;
    let (mut trials, mut not_tried) = (Vec::new(), Vec::new());
    for (part, point, rounds) in stored.by_point().filter(|(part, ..)| part.kind == WorkloadKind::Rate) {
        match skipped(&rounds) {
            Some(why) => not_tried.push(NotTried { done: done(part, point), why }),
            None => trials.extend(trials_of(part, point, &rounds)?),
        }
    }
    not_tried.dedup();
    let trials = with_truth_of_twins(trials, &mut not_tried);
    let about = About::of(&stored.run, &stored.file, &stored.rounds);
    let table = table(&trials);
    let error_rates = ErrorRates::of(&table);
    let by_kind = by_kind(&table);
    let contradictions = trials.iter().map(|trial| trial.truth.accounts_differ).sum();
    let answer = error_rates.answer(&GOALS.on(about.host.cores), contradictions);
    let mut summary = words::summary(&error_rates, &trials, contradictions, about.host.cores);
    summary.extend(words::kinds_that_err(&by_kind, about.host.cores));
    Ok(SelfTest { schema: SCHEMA.into(), about, answer, summary, error_rates, by_kind, table, trials, not_tried })
}

/// The word for what is done to both sides, and to the host side alone.
const BOTH_SIDES: (&str, &str) = ("freeze ", "hog ");

/// Gives each trial whose radio was frozen too the truth of its twin: the same stream, stopped for the same time, with a radio that
/// went on. A trial without a twin has no truth, and was not tried.
fn with_truth_of_twins(trials: Vec<Trial>, not_tried: &mut Vec<NotTried>) -> Vec<Trial> {
    let mut used = vec![false; trials.len()];
    let mut with_truth = Vec::with_capacity(trials.len());
    for trial in &trials {
        if !trial.done.contains(BOTH_SIDES.0) {
            with_truth.push(trial.clone());
            continue;
        }
        let done = trial.done.replace(BOTH_SIDES.0, BOTH_SIDES.1);
        let is_twin = |(n, other): &(usize, &Trial)| {
            !used[*n]
                && other.done == done
                && (other.mode, other.rate_sps) == (trial.mode, trial.rate_sps)
                && other.counted > 0
        };
        let Some((number, twin)) = trials.iter().enumerate().find(is_twin) else {
            let why = "no trial that stops only the host side counts".to_owned();
            not_tried.push(NotTried { done: trial.done.clone(), why });
            continue;
        };
        used[number] = true;
        let truth = trial.truth.as_of(twin.truth);
        with_truth.push(Trial { truth, loses: truth.loses(), ..trial.clone() });
    }
    with_truth
}

fn by_kind(table: &[TableRow]) -> Vec<KindRates> {
    let mut parts: Vec<&str> = table.iter().map(|row| row.part.as_str()).collect();
    parts.dedup();
    let of = |part: &str| {
        let rows: Vec<TableRow> = table.iter().filter(|row| row.part == part).cloned().collect();
        KindRates { part: part.to_owned(), rates: ErrorRates::of(&rows) }
    };
    parts.into_iter().map(of).collect()
}

/// The trials of a point: blocks in order, as many as a trial takes.
fn trials_of(part: &Part, point: &PointRow, rounds: &[&RoundRow]) -> Result<Vec<Trial>, AssembleError> {
    let mut blocks: BTreeMap<u32, Vec<&RoundRow>> = BTreeMap::new();
    for round in rounds {
        blocks.entry(round.block / TRIAL_ROUNDS).or_default().push(round);
    }
    let levels = levels(part, point);
    let trial = |rounds: &Vec<&RoundRow>| {
        let measured = rate_point(&levels, rounds)?;
        Ok(measured.map(|measured| judged(part, point, &measured, rounds)))
    };
    let trials: Result<Vec<Option<Trial>>, AssembleError> = blocks.values().map(trial).collect();
    Ok(trials?.into_iter().flatten().collect())
}

/// Verdict of the check on these rounds alone, beside the truth.
fn judged(part: &Part, point: &PointRow, measured: &RatePoint, rounds: &[&RoundRow]) -> Trial {
    let need = Need { model: Model::N200, mode: measured.mode, rate_sps: measured.rate_sps, format: measured.format };
    let points = std::slice::from_ref(measured);
    let stops = stops_of(points);
    let verdict = judge(&[need], &Evidence { stops: stops.as_ref(), ..of_one_trial(points) });
    let counted = measured.rounds.iter().filter(|round| round.state == RoundState::Valid);
    let excluded: Vec<f64> = counted.map(|round| round.excluded_share).collect();
    let counts = rounds.iter().filter(|round| round.state == RoundState::Valid);
    let truth: Truth = counts.filter_map(|round| Truth::of(round)).chain([Truth::beside(&measured.rounds)]).sum();
    Trial {
        part: part.name.clone(),
        done: done(part, point),
        mode: measured.mode,
        rate_sps: measured.rate_sps,
        truth,
        loses: truth.loses(),
        answer: verdict.answer,
        why: verdict.needs.first().map(|need| need.why.clone()).unwrap_or_default(),
        counted: measured.counted,
        excluded_share: mean(&excluded).unwrap_or_default(),
        round_ids: rounds.iter().map(|round| round.id).collect(),
    }
}

/// As in a run to its end, on cores of its own.
fn of_one_trial(points: &[RatePoint]) -> Evidence<'_> {
    Evidence { points, planned: TRIAL_ROUNDS as usize, ..Evidence::default() }
}

/// Impairments of the host at a point, without what streams.
fn done(part: &Part, point: &PointRow) -> String {
    const STREAMS: [&str; 6] = ["mode", "rate_sps", "format", "source", "duration", "warm_up"];
    let levels = levels(part, point);
    let done = levels.iter().filter(|(name, _)| !STREAMS.contains(&name.as_str()));
    let done: Vec<String> = done.filter_map(|(name, level)| words::done(name, &plain(level))).collect();
    if done.is_empty() { "nothing".into() } else { done.join(", ") }
}

/// A row for each thing that was done, in the order of the file.
fn table(trials: &[Trial]) -> Vec<TableRow> {
    let mut table: Vec<TableRow> = Vec::new();
    for trial in trials {
        let is = |row: &&mut TableRow| (&row.part, &row.done) == (&trial.part, &trial.done);
        if let Some(row) = table.iter_mut().find(is) {
            row.note(trial.loses, trial.answer);
        } else {
            let mut row = TableRow { part: trial.part.clone(), done: trial.done.clone(), ..TableRow::default() };
            row.note(trial.loses, trial.answer);
            table.push(row);
        }
    }
    table
}
