//! Outcomes that nobody measured, for the tests of what is said of them.

use serde_json::{Value, json};

use super::{Chart, Curve, Facts, Measure, Outcome, SiteFacts, Spot};
use crate::{Figure, RoundValue};

/// With the paper's facts and no figures.
pub(crate) fn outcome(paper: &Facts) -> Outcome {
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

/// A curve: its name and, for each point, where it is and what its rounds were.
pub(crate) type Points<'a> = (&'a str, &'a [(f64, &'a [f64])]);

/// A chart of some curves.
pub(crate) fn chart(id: &str, x: &str, measure: Measure, curves: &[Points<'_>]) -> Chart {
    let spot = |(x, rounds): &(f64, &[f64])| {
        let rounds = rounds.iter().map(|&value| RoundValue { round_id: 1, value, counts: true }).collect();
        Spot { x: *x, figure: Figure::from_rounds(rounds), skipped: None }
    };
    let curve =
        |(name, points): &Points<'_>| Curve { name: (*name).to_owned(), points: points.iter().map(spot).collect() };
    let [number, title, paper, part] = [const { String::new() }; 4];
    let (over, boxes) = (None, false);
    let curves = curves.iter().map(curve).collect();
    Chart { id: id.into(), number, title, paper, part, x: x.into(), measure, over, boxes, curves }
}

/// A site with what was in force there.
pub(crate) fn site(environment: &str, path: &str, in_force: Value) -> SiteFacts {
    SiteFacts { environment: environment.into(), path: path.into(), in_force, ..SiteFacts::default() }
}
