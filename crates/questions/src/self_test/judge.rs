//! From the records of a run to its trials: the verdict of the check about each host, beside the truth.

use std::collections::BTreeMap;

use takt_lab::experiment::{Part, plain};
use takt_lab::nodes::mean;
use takt_lab::store::{PointRow, RoundRow, StoreError};
use takt_lab::{About, StoredRun};
use takt_load::{Model, WorkloadKind};

use super::{ErrorRates, GOALS, KindRates, NotTried, SCHEMA, SelfTest, TableRow, Trial, Truth, words};
use crate::check::collect::{levels, rate_point, skipped};
use crate::check::{Evidence, Need, RatePoint, RoundState, judge, stops_of};

/// Rounds of a trial: what `check --quick` gives a needed rate.
pub const TRIAL_ROUNDS: u32 = 3;

/// The outcome of a run, finished or not.
///
/// # Errors
/// A record can't be read.
pub fn assemble(stored: &StoredRun) -> Result<SelfTest, StoreError> {
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
fn trials_of(part: &Part, point: &PointRow, rounds: &[&RoundRow]) -> Result<Vec<Trial>, StoreError> {
    let mut blocks: BTreeMap<u32, Vec<&RoundRow>> = BTreeMap::new();
    for round in rounds {
        blocks.entry(round.block / TRIAL_ROUNDS).or_default().push(round);
    }
    let levels = levels(part, point);
    let trial = |rounds: &Vec<&RoundRow>| {
        let measured = rate_point(&levels, rounds)?;
        Ok(measured.map(|measured| judged(part, point, &measured, rounds)))
    };
    let trials: Result<Vec<Option<Trial>>, StoreError> = blocks.values().map(trial).collect();
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
pub(super) fn of_one_trial(points: &[RatePoint]) -> Evidence<'_> {
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
