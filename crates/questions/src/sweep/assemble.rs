//! From a run in the store to the outcome of a study: a pure reading.

use takt_lab::StoredRun;
use takt_lab::aa_pairs;

use super::chart::{Chart, ChartPlan};
use super::{SCHEMA, Study, SweepOutcome, noise, words};
use crate::study::StudyRun;
use crate::study::part::part;

/// Findings of a run, finished or not.
pub(crate) fn assemble(study: &Study, stored: &StoredRun) -> SweepOutcome {
    let paper = (study.facts)();
    let chart = |plan: &ChartPlan| Chart::of(plan, &part(stored, plan.part), &paper);
    let evidence = |(title, plan): &(&str, ChartPlan)| {
        let mut evidence = Chart { title: (*title).to_owned(), ..chart(plan) };
        evidence.curves.retain(|curve| curve.measured().next().is_some());
        evidence
    };
    let mut outcome = SweepOutcome {
        of: StudyRun::of(stored, SCHEMA),
        sites: noise::sites(&stored.rounds),
        charts: study.charts.iter().map(chart).collect(),
        evidence: study.evidence.iter().map(evidence).filter(Chart::is_measured).collect(),
        noise: aa_pairs::noise(&stored.file, &stored.points, &stored.rounds),
        link: (study.link)(stored),
        warnings: Vec::new(),
        paper,
    };
    let claims = outcome
        .paper
        .judged(|number| (study.points)(number, &outcome), |number, part| (study.judge)(number, part, &outcome));
    outcome.of.conclude(claims);
    outcome.warnings = words::warnings(&outcome);
    outcome.of.summary = words::summary(&outcome);
    outcome.of.caveats = words::caveats(study, &outcome);
    outcome
}
