//! Outcomes that were not measured, for the tests of what is stated about them.

use serde_json::{Value, json};

use super::{Chart, Curve, Facts, Measure, SiteFacts, Spot, Study, SweepOutcome};
use crate::study::{Figure, RoundValue};

/// With the paper's facts and no figures.
pub(crate) fn outcome(paper: &Facts) -> SweepOutcome {
    let host = json!({ "hostname": "", "kernel": "", "cpu_model": "", "cores": 4, "memory_bytes": 0, "more": {} });
    let rounds = ["planned", "valid", "disturbed", "emulator_late", "failed", "skipped", "repeated"];
    let rounds: Value = rounds.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
    let document = json!({
        "schema": 1, "study": "", "run": "", "question": "", "started": "", "duration_s": 0.0, "depth": "quick",
        "complete": true, "takt_version": "", "host": host, "claims": [], "answer": "unknown", "rounds": rounds,
        "says": [], "does_not_say": [], "left_out": [], "records": [], "sites": [], "paper": paper, "charts": [],
        "noise": [], "warnings": [],
    });
    serde_json::from_value(document).expect("the keys of the document are stable")
}

/// Every chart and claim of a study is a figure of its paper, and these numbers are stated.
pub(crate) fn assert_of_its_paper(study: &Study, numbers: &[&str]) {
    let facts = (study.facts)();
    let known = |number: &str| facts.figures.iter().any(|figure| figure.number == number);
    assert!(study.charts.iter().all(|plan| known(plan.number)));
    assert!(facts.claims.iter().all(|claim| claim.figures.iter().all(|number| known(number))));
    for name in numbers {
        assert!(facts.number(name).is_finite(), "{name}");
    }
}

/// A figure of rounds that all count.
pub(crate) fn figure(rounds: &[f64]) -> Figure {
    Figure::from_rounds(rounds.iter().map(|&value| RoundValue { round_id: 1, value, counts: true }).collect())
}

/// A curve: its name and, for each point, where it is and what its rounds were.
pub(crate) type Points<'a> = (&'a str, &'a [(f64, &'a [f64])]);

pub(crate) fn chart(id: &str, x: &str, measure: Measure, curves: &[Points<'_>]) -> Chart {
    let spot = |(x, rounds): &(f64, &[f64])| Spot { x: *x, figure: figure(rounds), skipped: None };
    let curve =
        |(name, points): &Points<'_>| Curve { name: (*name).to_owned(), points: points.iter().map(spot).collect() };
    let [number, title, paper, part] = [const { String::new() }; 4];
    let (over, boxes) = (None, false);
    let curves = curves.iter().map(curve).collect();
    Chart { id: id.into(), number, title, paper, part, x: x.into(), measure, over, boxes, curves }
}

pub(crate) fn site(environment: &str, path: &str, in_force: Value) -> SiteFacts {
    SiteFacts { environment: environment.into(), path: path.into(), in_force, ..SiteFacts::default() }
}
