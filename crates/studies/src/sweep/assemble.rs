//! From a run in the store to the outcome of a study: a pure reading.

use takt_lab::aa_pairs;
use takt_lab::store::Store;

use super::chart::{Chart, ChartPlan};
use super::{ClaimFacts, Judged, Outcome, SCHEMA, Study, noise, words};
use crate::claim::{Claim, answer};
use crate::stored::Stored;
use crate::{PaperError, sweep_of};

/// The outcome of a run of such a study, finished or not.
///
/// # Errors
/// There is no such run, it is of something else, or it can't be read.
pub fn assemble(store: &Store, run: &str) -> Result<Outcome, PaperError> {
    let stored = Stored::read(store, run)?;
    let Some(study) = sweep_of(stored.study()) else { return Err(stored.other_than("a sweep")) };
    let paper = (study.facts)();
    let chart = |plan: &ChartPlan| Chart::of(plan, &stored.part(plan.part), &paper);
    let evidence = |(title, plan): &(&str, ChartPlan)| {
        let mut evidence = Chart { title: (*title).to_owned(), ..chart(plan) };
        evidence.curves.retain(|curve| curve.measured().next().is_some());
        evidence
    };
    let mut outcome = Outcome {
        of: stored.about(SCHEMA),
        sites: noise::sites(&stored.rounds),
        charts: study.charts.iter().map(chart).collect(),
        evidence: study.evidence.iter().map(evidence).filter(Chart::is_measured).collect(),
        noise: aa_pairs::noise(&stored.file, &stored.points, &stored.rounds),
        warnings: Vec::new(),
        rules: stored.file.study.as_ref().and_then(|study| study.rules.clone()),
        paper,
    };
    outcome.of.claims = claims(study, &outcome);
    outcome.of.answer = answer(&outcome.of.claims);
    outcome.warnings = words::warnings(&outcome);
    outcome.of.says = words::says(&outcome);
    outcome.of.does_not_say = words::does_not_say(study, &outcome);
    Ok(outcome)
}

fn claims(study: &Study, outcome: &Outcome) -> Vec<Claim> {
    let claim = |claim: &ClaimFacts| {
        let Judged { answer, seen } = (study.judge)(claim.number, outcome);
        Claim {
            number: claim.number,
            claim: claim.says.clone(),
            answer,
            covered: true,
            by_construction: claim.by_construction.clone(),
            seen,
        }
    };
    outcome.paper.claims.iter().map(claim).collect()
}
