//! Would `takt check` have said no? Hosts that are made bad by a known amount, the verdict about each, and the truth.
//!
//! ```text
//!   known-bad.toml --> rounds on an impaired host --> the check's own judge  --> yes, no, not known
//!                                                 --> numbers, radio's report --> loses, keeps up
//! ```
//!
//! As many rounds as a quick check has make a trial: one host, one verdict. What is tried, for how long, and what counts as
//! a loss stand in the file and in [`Truth`] before anything is run. Rounds that do not count for the verdict count for
//! nothing; a trial that lacks rounds is one whose answer is "not known".

#[cfg(test)]
mod model_tests;
mod rates;
mod truth;
mod words;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_load::Kind;

use super::collect::{rate_point, settings};
use super::{Answer, Mode, RatePoint, RateRound};
use super::{AssembleError, Evidence, Need, RoundState, RoundsSummary, judge};
use crate::about::About;
use crate::experiment::{Experiment, Part};
use crate::store::{PointRow, RoundRow, RunRow, Store};

pub use rates::{ErrorRate, ErrorRates, GOALS, Goals};
pub use truth::Truth;

/// Name of the experiment.
pub const NAME: &str = "known-bad";
/// Version of the outcome's document.
pub const SCHEMA: &str = "takt.self-test/1";
/// Rounds of a trial: what `check --quick` gives a needed rate.
pub const TRIAL_ROUNDS: u32 = 3;

/// What became of all trials.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfTest {
    /// [`SCHEMA`].
    pub schema: String,
    /// The run.
    #[serde(flatten)]
    pub about: About,
    /// `holds`: the verdict errs no more often than the goals allow, on this host.
    pub answer: Answer,
    /// Why, a sentence each.
    pub says: Vec<String>,
    /// How often it erred.
    pub error_rates: ErrorRates,
    /// What was done to hosts, and what was answered: the table of confusion.
    pub table: Vec<TableRow>,
    /// Every trial.
    pub trials: Vec<Trial>,
    /// What could not be tried here.
    pub not_tried: Vec<NotTried>,
}

/// All trials in which one thing was done to a host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRow {
    /// The part of the experiment.
    pub part: String,
    /// What was done: `hog 4.5ms every 5ms`.
    pub done: String,
    /// Of hosts that lose.
    pub loses: Answers,
    /// Of hosts that keep up.
    pub keeps_up: Answers,
}

/// How often each answer was given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answers {
    /// The host keeps up.
    pub yes: usize,
    /// It does not.
    pub no: usize,
    /// Neither was said.
    pub not_known: usize,
}

impl Answers {
    /// All of them.
    #[must_use]
    pub fn all(self) -> usize {
        self.yes + self.no + self.not_known
    }

    fn note(&mut self, answer: Answer) {
        match answer {
            Answer::Holds => self.yes += 1,
            Answer::Fails => self.no += 1,
            Answer::Unknown => self.not_known += 1,
        }
    }

    fn add(self, other: Answers) -> Answers {
        Answers { yes: self.yes + other.yes, no: self.no + other.no, not_known: self.not_known + other.not_known }
    }
}

/// One host, made what it is, and the verdict about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// The part of the experiment.
    pub part: String,
    /// What was done to it.
    pub done: String,
    /// Which way samples flowed.
    pub mode: Mode,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// What became of the samples.
    pub truth: Truth,
    /// Whether it loses.
    pub loses: bool,
    /// What the check answers.
    pub answer: Answer,
    /// Why, in its words.
    pub why: String,
    /// Rounds that count.
    pub counted: usize,
    /// Share of them that was set aside, since the emulator was late, 0 to 1.
    pub aside_share: f64,
    /// Rows of its rounds in the store.
    pub round_ids: Vec<i64>,
}

/// What could not be done to this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotTried {
    /// What.
    pub done: String,
    /// Why.
    pub why: String,
}

/// Whether a run in the store is a self-test.
#[must_use]
pub fn is_self_test(run: &RunRow) -> bool {
    run.options.pointer("/more/self_test").and_then(Value::as_bool).unwrap_or(false)
}

/// The outcome of a run, finished or not.
///
/// # Errors
/// There is no such run, or it can't be read.
pub fn assemble(store: &Store, run: &str) -> Result<SelfTest, AssembleError> {
    let run = store.run(run)?;
    let file = Experiment::parse(&run.experiment, &run.file);
    let experiment = file.map_err(|source| AssembleError::File { run: run.id.clone(), source })?;
    let (rounds, points) = (store.rounds(&run.id)?, store.points(&run.id)?);
    let (mut trials, mut not_tried) = (Vec::new(), Vec::new());
    for (number, point) in (0_u32..).zip(&points) {
        let part = experiment.parts.iter().find(|part| part.name == point.part);
        let Some(part) = part.filter(|part| part.kind == Kind::Rate) else { continue };
        let of_point: Vec<&RoundRow> = rounds.iter().filter(|round| round.point == number).collect();
        match skipped(&of_point) {
            Some(why) => not_tried.push(NotTried { done: done(part, point), why }),
            None => trials.extend(trials_of(part, point, &of_point)?),
        }
    }
    not_tried.dedup();
    let about = About::of(&run, &experiment, &rounds);
    let table = table(&trials);
    let error_rates = ErrorRates::of(&table);
    let answer = error_rates.answer(&GOALS.on(about.host.cores));
    let says = words::says(&error_rates, &trials, about.host.cores);
    Ok(SelfTest { schema: SCHEMA.into(), about, answer, says, error_rates, table, trials, not_tried })
}

/// Why nothing of a point was run, if nothing was.
fn skipped(rounds: &[&RoundRow]) -> Option<String> {
    let none = !rounds.is_empty() && rounds.iter().all(|round| round.state == RoundState::Skipped);
    rounds.first().filter(|_| none)?.why.clone()
}

/// The trials of a point: blocks in order, as many as a trial takes.
fn trials_of(part: &Part, point: &PointRow, rounds: &[&RoundRow]) -> Result<Vec<Trial>, AssembleError> {
    let mut blocks: BTreeMap<u32, Vec<&RoundRow>> = BTreeMap::new();
    for round in rounds {
        blocks.entry(round.block / TRIAL_ROUNDS).or_default().push(round);
    }
    let settings = settings(&part.fixed, point);
    let trial = |rounds: &Vec<&RoundRow>| {
        let measured = rate_point(&settings, rounds)?;
        Ok(measured.map(|measured| judged(part, point, &measured, rounds)))
    };
    let trials: Result<Vec<Option<Trial>>, AssembleError> = blocks.values().map(trial).collect();
    Ok(trials?.into_iter().flatten().collect())
}

/// What the check says of these rounds alone, beside the truth.
fn judged(part: &Part, point: &PointRow, measured: &RatePoint, rounds: &[&RoundRow]) -> Trial {
    let need = Need { model: "n200".into(), mode: measured.mode, rate_sps: measured.rate_sps, format: measured.format };
    let evidence = Evidence {
        points: std::slice::from_ref(measured),
        planned: TRIAL_ROUNDS as usize,
        interrupted: false,
        shared_core: false,
        receive_only: None,
        doctor: &[],
        rounds: RoundsSummary::default(),
    };
    let verdict = judge(&[need], &evidence);
    let valid = |round: &&RateRound| round.state == RoundState::Valid;
    let counts = rounds.iter().filter(|round| round.state == RoundState::Valid);
    let truth: Truth = counts.filter_map(|round| Truth::of(round)).sum();
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
        aside_share: mean(measured.rounds.iter().filter(valid).map(|round| round.aside_share)),
        round_ids: rounds.iter().map(|round| round.id).collect(),
    }
}

/// 0 of nothing.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, count), value| (sum + value, count + 1));
    sum / f64::from(count.max(1))
}

/// What is done to the host at a point, without what streams.
fn done(part: &Part, point: &PointRow) -> String {
    const STREAMS: [&str; 6] = ["mode", "rate_sps", "format", "source", "duration", "warm_up"];
    let settings = settings(&part.fixed, point);
    let told = settings.iter().filter(|(name, _)| !STREAMS.contains(&name.as_str()));
    let told: Vec<String> = told
        .map(|(name, level)| words::done(name, &crate::experiment::plain(level)))
        .filter(|text| !text.is_empty())
        .collect();
    if told.is_empty() { "nothing".into() } else { told.join(", ") }
}

/// A row for each thing that was done, in the order of the file.
fn table(trials: &[Trial]) -> Vec<TableRow> {
    let mut table: Vec<TableRow> = Vec::new();
    for trial in trials {
        let place = table.iter().position(|row| (&row.part, &row.done) == (&trial.part, &trial.done));
        let place = place.unwrap_or_else(|| {
            table.push(TableRow { part: trial.part.clone(), done: trial.done.clone(), ..TableRow::default() });
            table.len() - 1
        });
        if let Some(row) = table.get_mut(place) {
            let answers = if trial.loses { &mut row.loses } else { &mut row.keeps_up };
            answers.note(trial.answer);
        }
    }
    table
}
