//! Two runs beside each other: what changed, and how sure that is. `takt experiment compare` prints it.
//!
//! Runs are not paired: between them the machine, the program and the day may have changed, and a comparison shows all of that
//! together. Many figures are looked at, so each interval is made so wide that all of them hold at once in 95 % of comparisons
//! (C. E. Bonferroni): what is called a change is one even though there were many chances to find it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;
use takt_stats::{Contrast, contrast};

use crate::about::host_and_kernel;
use crate::experiment::{Experiment, label};
use crate::nodes::mean;
use crate::store::{RunRow, Store, StoreError};
use crate::summary::{FigureSummary, PointSummary, Summary};

/// Two runs beside each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    pub a: String,
    pub b: String,
    /// Differences between them besides the rounds: the file, the host, the version, the options.
    pub differ: Vec<String>,
    pub points: Vec<PointCompared>,
    pub only_a: Vec<String>,
    pub only_b: Vec<String>,
    /// Figures that both have rounds of: so many chances to find a change.
    pub figures: usize,
    /// How often all intervals together hold the truth: 0.95.
    pub level_together: f64,
    pub level_each: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PointCompared {
    pub part: String,
    pub factors: BTreeMap<String, Value>,
    pub figures: Vec<FigureCompared>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FigureCompared {
    /// Its name, unit included.
    pub name: &'static str,
    /// Rounds of each that count.
    pub rounds: [usize; 2],
    /// Mean of each; `None` without a round.
    pub means: [Option<f64>; 2],
    /// From A to B; `None` where one of them has fewer than two rounds.
    pub change: Option<Contrast>,
    /// Whether that interval leaves out "no change".
    pub changed: bool,
}

const TOGETHER: f64 = 0.95;

impl Compared {
    pub fn of(store: &Store, a: &str, b: &str) -> Result<Compared, StoreError> {
        let (row_a, row_b) = (store.run(a)?, store.run(b)?);
        let (of_a, of_b) = (Summary::of(store, &row_a.id)?, Summary::of(store, &row_b.id)?);
        let of = |row: RunRow| {
            let host = host_and_kernel(&row.host);
            [("host", host), ("takt", row.takt_version), ("depth", row.depth), ("options", row.options.to_string())]
        };
        let same_file = row_a.file == row_b.file;
        let rules = [&row_a, &row_b].map(rules_of);
        let both = of(row_a).into_iter().zip(of(row_b)).filter(|(a, b)| a != b);
        let mut differ: Vec<String> = both.map(|((what, a), (_, b))| format!("{what}: {a}; {b}")).collect();
        differ.extend((!same_file).then(|| "the experiment file".to_owned()));
        differ.extend(other_rules(rules));
        Ok(compare(&of_a, &of_b, differ))
    }
}

/// The number of the rules that a run's study was measured by, or why there is none.
fn rules_of(run: &RunRow) -> String {
    match Experiment::recorded(&run.experiment, &run.file) {
        Ok(file) => file.study.and_then(|study| study.rules).map_or("none".into(), |rules| rules.number.to_string()),
        Err(_) => "not readable".into(),
    }
}

/// That two runs answer two questions, where their studies have different rules.
fn other_rules([a, b]: [String; 2]) -> Option<String> {
    (a != b).then(|| {
        format!("the rules of the study: {a}; {b}: what changed may be the rules' doing, and the runs do not add up")
    })
}

fn same<'a>(point: &PointSummary, among: &'a [PointSummary]) -> Option<&'a PointSummary> {
    among.iter().find(|other| other.part == point.part && other.factors == point.factors)
}

/// The figures of both, one by one. A function of the summaries alone.
fn compare(a: &Summary, b: &Summary, differ: Vec<String>) -> Compared {
    let pairs: Vec<(&PointSummary, &PointSummary)> =
        a.points.iter().filter_map(|point| Some((point, same(point, &b.points)?))).collect();
    let both = |(a, b): &(&PointSummary, &PointSummary)| {
        let has = |figure: &&FigureSummary| find(b, figure.name).is_some_and(|other| other.rounds.len() > 1);
        a.figures.iter().filter(|figure| figure.rounds.len() > 1).filter(has).count()
    };
    let figures: usize = pairs.iter().map(both).sum();
    let level_each = 1.0 - (1.0 - TOGETHER) / figures.max(1) as f64;
    let alone = |of: &Summary, other: &Summary| -> Vec<String> {
        let alone = of.points.iter().filter(|point| same(point, &other.points).is_none());
        alone.map(|point| label(&point.part, &point.factors)).collect()
    };
    Compared {
        a: a.run.clone(),
        b: b.run.clone(),
        differ,
        points: pairs.into_iter().map(|(a, b)| point(a, b, level_each)).collect(),
        only_a: alone(a, b),
        only_b: alone(b, a),
        figures,
        level_together: TOGETHER,
        level_each,
    }
}

fn find<'a>(point: &'a PointSummary, name: &str) -> Option<&'a FigureSummary> {
    point.figures.iter().find(|figure| figure.name == name)
}

fn point(a: &PointSummary, b: &PointSummary, level: f64) -> PointCompared {
    let figure = |one: &FigureSummary| {
        let other = find(b, one.name)?;
        let change = contrast(&one.rounds, &other.rounds, level);
        Some(FigureCompared {
            name: one.name,
            rounds: [one.rounds.len(), other.rounds.len()],
            means: [mean(&one.rounds), mean(&other.rounds)],
            changed: change.is_some_and(|change| change.is_change()),
            change,
        })
    };
    PointCompared {
        part: a.part.clone(),
        factors: a.factors.clone(),
        figures: a.figures.iter().filter_map(figure).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(run: &str, points: &[(&str, Vec<f64>)]) -> Summary {
        let point = |(part, rounds): &(&str, Vec<f64>)| {
            let figure = FigureSummary { name: "x", rounds: rounds.clone(), ..FigureSummary::default() };
            PointSummary { part: (*part).into(), figures: vec![figure], ..PointSummary::default() }
        };
        Summary { run: run.into(), points: points.iter().map(point).collect(), ..Summary::default() }
    }

    #[test]
    fn a_change_is_called_one_and_noise_is_not() {
        let noise = vec![100.0, 101.0, 99.0, 100.5, 99.5];
        let a = summary("a", &[("same", noise.clone()), ("changed", noise.clone()), ("gone", noise.clone())]);
        let more: Vec<f64> = noise.iter().map(|x| x * 1.2).collect();
        let b = summary("b", &[("same", vec![99.8, 100.9, 99.3, 100.1, 100.0]), ("changed", more), ("new", noise)]);
        let compared = compare(&a, &b, Vec::new());
        let changed: Vec<(&str, bool)> =
            compared.points.iter().map(|point| (point.part.as_str(), point.figures[0].changed)).collect();
        assert_eq!(changed, [("same", false), ("changed", true)]);
        assert_eq!((compared.only_a, compared.only_b), (vec!["gone".to_owned()], vec!["new".to_owned()]));
        assert_eq!((compared.figures, compared.level_each), (2, 0.975));
    }

    #[test]
    fn runs_under_other_rules_are_reported_as_such() {
        let file = |rules: &str| {
            let rounds = "[rounds]\ncount = 2\norder = { seed = 1 }\n";
            let part = "[factors]\nslots = [1]\n[fixed]\nworkload = { kind = \"waveform\", duration = \"1s\" }\n";
            let text = format!("question = \"?\"\n[study]\nname = \"aloe\"\n{rules}{rounds}{part}");
            Experiment::parse("aloe", &text)
                .expect("a file")
                .study
                .and_then(|study| study.rules)
                .map_or_else(|| "none".to_owned(), |rules| rules.number.to_string())
        };
        let numbered =
            |number: u32| file(&format!("[study.rules]\nnumber = {number}\nsince = \"2026-11-23\"\nchanged = \"\"\n"));
        assert_eq!(other_rules([numbered(4), numbered(4)]), None);
        assert_eq!(other_rules([file(""), file("")]), None);
        let said = other_rules([numbered(4), numbered(5)]).expect("other rules");
        assert!(said.starts_with("the rules of the study: 4; 5: "), "{said}");
        assert!(other_rules([file(""), numbered(1)]).is_some_and(|said| said.contains("none; 1")));
    }

    /// Twenty figures that did not change: one at 95 % would be called changed in two of three comparisons.
    #[test]
    fn many_figures_do_not_make_a_change() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let mut rounds =
            || -> Vec<f64> { (0..6).map(|_| 100.0 + (0..12).map(|_| random.random::<f64>()).sum::<f64>()).collect() };
        let names: Vec<String> = (0..20).map(|n| n.to_string()).collect();
        let mut called = 0;
        for _ in 0..200 {
            let one: Vec<(&str, Vec<f64>)> = names.iter().map(|name| (name.as_str(), rounds())).collect();
            let two: Vec<(&str, Vec<f64>)> = names.iter().map(|name| (name.as_str(), rounds())).collect();
            let compared = compare(&summary("a", &one), &summary("b", &two), Vec::new());
            called += usize::from(compared.points.iter().any(|point| point.figures[0].changed));
        }
        assert!(called <= 22, "{called} of 200 comparisons of nothing with nothing; 5 % are 10");
    }
}
