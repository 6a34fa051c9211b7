//! From a run in the store to the outcome of a study: a pure reading.

use super::chart::{Chart, ChartPlan};
use super::{ClaimFacts, Judged, Outcome, SCHEMA, Study, noise, words};
use crate::check::{Answer, AssembleError, host_facts, summary};
use crate::experiment::{Depth, Experiment};
use crate::paper::claim::{Claim, answer};
use crate::paper::part::Part;
use crate::paper::record::{left_out, records};
use crate::paper::{PaperError, sweep_of};
use crate::store::Store;

/// The outcome of a run of such a study, finished or not.
///
/// # Errors
/// There is no such run, it is of something else, or it can't be read.
pub fn assemble(store: &Store, run: &str) -> Result<Outcome, PaperError> {
    let run = store.run(run)?;
    let file = Experiment::parse(&run.experiment, &run.file);
    let file = file.map_err(|source| AssembleError::File { run: run.id.clone(), source })?;
    let named = file.study.as_ref().map(|study| study.name.clone()).unwrap_or_default();
    let Some(study) = sweep_of(&named) else {
        return Err(PaperError::OtherStudy { run: run.id, experiment: run.experiment, study: "a sweep" });
    };
    let depth = if run.depth == Depth::Quick.name() { Depth::Quick } else { Depth::Full };
    let (rounds, points) = (store.rounds(&run.id)?, store.points(&run.id)?);
    let paper = (study.facts)();
    let chart = |plan: &ChartPlan| Chart::of(plan, &Part::of(&file, &points, &rounds, plan.part, depth), &paper);
    let mut outcome = Outcome {
        schema: SCHEMA,
        study: study.name.into(),
        question: file.question.clone(),
        started: run.started.clone(),
        duration_s: rounds.iter().map(|round| round.took_s).sum(),
        depth: run.depth.clone(),
        complete: run.finished.is_some(),
        takt_version: run.takt_version.clone(),
        host: host_facts(&run),
        sites: noise::sites(&rounds),
        charts: study.charts.iter().map(chart).collect(),
        noise: noise::noise(&file, &points, &rounds),
        claims: Vec::new(),
        answer: Answer::Unknown,
        warnings: Vec::new(),
        rounds: summary(&rounds, points.len() * file.round_count(depth) as usize),
        says: Vec::new(),
        does_not_say: Vec::new(),
        left_out: left_out(&file, depth, &points),
        records: records(&file, &points, &rounds),
        paper,
        run: run.id,
    };
    outcome.claims = claims(study, &outcome);
    outcome.answer = answer(&outcome.claims);
    outcome.warnings = words::warnings(&outcome);
    outcome.says = words::says(&outcome);
    outcome.does_not_say = words::does_not_say(study, &outcome);
    Ok(outcome)
}

fn claims(study: &Study, outcome: &Outcome) -> Vec<Claim> {
    let claim = |claim: &ClaimFacts| {
        let Judged { answer, seen } = (study.judge)(claim.number, outcome);
        Claim { number: claim.number, claim: claim.says.clone(), answer, covered: true, seen }
    };
    outcome.paper.claims.iter().map(claim).collect()
}
