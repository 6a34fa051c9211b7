//! From a run in the store to the outcome of the study: a pure reading.

use takt_lab::StoredRun;

use super::failed::Account;
use super::{Case, LinuxRtOutcome, SCHEMA, case, facts, judge, measures, rules, why, words};
use crate::study::StudyRun;
use crate::study::part::part;
use crate::sweep::{Chart, ChartPlan, Facts, Measure, sites};

const FIGURE_6: ChartPlan = ChartPlan {
    id: "figure-6",
    number: "6",
    part: "figure-6",
    x: "cap",
    by: "tick_hz",
    measure: Measure::Share,
    figure: |rounds, _| Account::Own.figure(rounds),
    ..ChartPlan::BLANK
};

/// Findings of a run, finished or not.
pub(crate) fn assemble(stored: &StoredRun) -> LinuxRtOutcome {
    let part = |name: &str| part(stored, name);
    let paper = facts();
    let cases = stored.file.parts.iter().flat_map(|one| case::of(&one.name, &part(&one.name)));
    let mut outcome = LinuxRtOutcome {
        of: StudyRun::of(stored, SCHEMA),
        sites: sites(&stored.rounds),
        cases: cases.map(|case| with_paper(case, &paper)).collect(),
        figure_6: Chart::of(&FIGURE_6, &part("figure-6"), &paper),
        effects: measures::of(&part("measures")),
        measures_not_had: measures::not_had(&part("measures")).into_iter().map(str::to_owned).collect(),
        traces: why::of(&part("why")),
        goal: String::new(),
        warnings: Vec::new(),
        paper,
    };
    let claims = outcome
        .paper
        .judged(|number| judge::points(number, &outcome), |number, part| judge::judge(number, part, &outcome));
    outcome.of.conclude(claims);
    outcome.warnings = words::warnings(&outcome);
    outcome.warnings.extend(outcome.of.rules.as_ref().and_then(|rules| rules::broken(rules, &stored.rounds)));
    outcome.goal = words::goal(&outcome);
    outcome.of.summary = words::summary(&outcome);
    outcome.of.caveats = words::caveats(&outcome);
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::study::part::Point;
    use takt_lab::store::{Record, RoundRow, RoundState, testing};

    /// Claims 4, 5 and 6 rest on this figure.
    #[test]
    fn a_round_that_could_not_be_run_has_failed_in_figure_6_and_no_point_is_free_of_doubt() {
        let result = json!({
            "own": { "failure_ratio": 0.0 },
            "segments": { "subframes": 10, "own": [[0, 10], [0, 10]], "all": [[0, 10], [0, 10]] },
        });
        let clean = testing::round(0, Record { result, ..Record::default() });
        let could_not = RoundRow { state: RoundState::Failed, record: None, ..clean.clone() };
        let point = |cap: u64, rounds| {
            let settings = [("cap".to_owned(), json!(cap)), ("tick_hz".to_owned(), json!(128))].into();
            Point { settings, rounds }
        };
        let points = [point(10, vec![&clean, &clean]), point(80, vec![&clean, &could_not])];
        let chart = Chart::of(&FIGURE_6, &points, &facts());
        let at = |cap| chart.curve("128").and_then(|curve| curve.at(cap)).map(|spot| &spot.figure).expect("measured");
        assert_eq!((at(80.0).value, at(80.0).counted()), (Some(0.5), 2));
        assert_eq!(at(10.0).value, Some(0.0));
        assert!(at(10.0).estimate.is_some_and(|estimate| estimate.high() > 0.1), "{:?}", at(10.0));
    }
}
