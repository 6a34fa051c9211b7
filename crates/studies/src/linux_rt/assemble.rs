//! From a run in the store to the outcome of the study: a pure reading.

use takt_lab::check::StoredRun;

use super::failed::Account;
use super::{Case, Outcome, SCHEMA, case, claims, facts, measures, rules, why, words};
use crate::StudyRun;
use crate::claim::answer;
use crate::part::part;
use crate::sweep::{Chart, ChartPlan, Facts, Measure, sites};

const FIGURE_6: ChartPlan = ChartPlan {
    id: "figure-6",
    number: "6",
    part: "figure-6",
    x: "cap",
    by: "tick_hz",
    measure: Measure::Share,
    read: |round| Account::Own.ratio(round),
    ..ChartPlan::BLANK
};

/// What a run found, finished or not.
pub(crate) fn assemble(stored: &StoredRun) -> Outcome {
    let part = |name: &str| part(stored, name);
    let paper = facts();
    let cases = stored.file.parts.iter().flat_map(|one| case::of(&one.name, &part(&one.name)));
    let mut outcome = Outcome {
        of: StudyRun::of(stored, SCHEMA),
        sites: sites(&stored.rounds),
        cases: cases.map(|case| with_paper(case, &paper)).collect(),
        figure_6: Chart::of(&FIGURE_6, &part("figure-6"), &paper),
        effects: measures::of(&part("measures")),
        measures_not_had: measures::not_had(&part("measures")).into_iter().map(str::to_owned).collect(),
        traces: why::of(&part("why")),
        rules: stored.file.study.as_ref().and_then(|study| study.rules.clone()),
        warnings: Vec::new(),
        paper,
    };
    outcome.of.claims = outcome.paper.judged(|number| claims::judge(number, &outcome));
    outcome.of.answer = answer(&outcome.of.claims);
    outcome.warnings = words::warnings(&outcome);
    outcome.warnings.extend(outcome.rules.as_ref().and_then(|rules| rules::broken(rules, &stored.rounds)));
    outcome.of.says = words::says(&outcome);
    outcome.of.does_not_say = words::does_not_say(&outcome);
    outcome
}

/// The paper has four numbers.
fn with_paper(mut case: Case, paper: &Facts) -> Case {
    let is = |name: &str, level: &str| case.level(name).as_deref() == Some(level);
    let name = match case.part.as_str() {
        "cases" if is("disturbance", "none") && is("policy", "other") => Some("ideal"),
        "cases" if is("disturbance", "busy:2x") && is("policy", "other") => Some("disturbed"),
        "cases" if is("disturbance", "busy:2x") && is("policy", "fifo") => Some("priority"),
        "figure-6" if is("cap", "10") && is("tick_hz", "1024") => Some("best"),
        _ => None,
    };
    case.paper = name.map(|name| paper.number(name));
    case
}
