//! The report of `takt paper linux-rt`: failures beside the paper's, what each measure buys, where the time went.

use takt_studies::linux_rt::{Case, EffectFacts, Outcome, Ran, StageFacts, TraceFacts, label};
use takt_studies::sweep::{Chart, Spot};

use super::common::{self, anchor, cell, cells, columns, point, section};
use takt_stats::FailureBound;

use crate::figure::{Axis, Figure, Look, Point, Reading, Reference, Series, Source};
use crate::{Cell, Report, Section, Table, Unit};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &Outcome) -> Report {
    let mut report = common::report_with(&outcome.of, &outcome.paper, &outcome.warnings);
    report.sections = sections(outcome);
    report
}

fn sections(outcome: &Outcome) -> Vec<Section> {
    let of = |part: &str| failures(outcome, part);
    let all = [
        section("cases", "The paper's cases", CASES, Vec::new(), vec![of("cases")]),
        section("figure-6", "Figure 6: cap and timer", FIGURE_6, figure_6(outcome), vec![of("figure-6")]),
        section("timers", "The timers without a load", TIMERS, Vec::new(), vec![of("timers")]),
        section("measures", "What each measure buys", MEASURES, Vec::new(), vec![effects(outcome), of("measures")]),
        section("policies", "Other policies", POLICIES, Vec::new(), vec![of("policies")]),
        section("best", "All that helps, for longer", BEST, Vec::new(), vec![of("best")]),
        section("why", "What a cap does to ordinary processes", WHY, Vec::new(), vec![of("why"), traces(outcome)]),
        section("budget", "Where the time goes", BUDGET, Vec::new(), vec![budget(outcome), blamed(outcome)]),
    ];
    all.into_iter().flatten().collect()
}

const CASES: &str = "An answer that is ready later than 3.45 ms after the first downlink slot has failed, and so has one that \
                     was never given. Subframes whose samples the radio sent late, or before whose limit the hypervisor stopped \
                     a core, are set aside however they ended; \"of all\" has them too, and the rounds that do not count. \"At most\" is \
                     the upper bound of 95 %.";
const FIGURE_6: &str = "The cap is a quota of a control group on all loops together, per cent of the cores they may use; the \
                        interface alone has a priority, and sleeps on a timer of that frequency until the samples are due.";
const TIMERS: &str = "What the ticks of Figure 6 cost by themselves: the samples are in 2.7 ms after the first downlink slot, \
                      and the sleep ends at the next tick.";
const MEASURES: &str = "Every combination of three measures under four loops a core. An effect is what a measure adds to the \
                        share that fails, over all combinations of the others; an interaction is what it does more, or less, \
                        in the company of another.";
const POLICIES: &str = "The same load, no other measure.";
const BEST: &str = "Priority, slot by slot, with cores that poll, under four loops for each core of the machine, on the core that \
                    answers too. The bound takes failures in clusters of at most 50 ms for one event each.";
const WHY: &str = "Two loops a core, no priority. The traces are the kernel's own account of who ran on the core where the worst \
                   answer of each round waited longest.";
const BUDGET: &str = "Each answer has all stages, from the intended beginning of the first downlink slot; they add up to its \
                      total.";

/// Every point of a part.
fn failures(outcome: &Outcome, part: &str) -> Table {
    let row = |case: &Case| {
        let at_most = |bound: Option<FailureBound>| {
            Cell::text(bound.map_or_else(|| "–".to_owned(), |bound| Unit::SHARE.show(bound.up_to, 2)))
        };
        let paper = case.paper.map_or_else(|| "–".to_owned(), |paper| Unit::SHARE.show(paper, 3));
        cells(vec![
            Cell::text(label(case)),
            Cell::text(paper),
            share(&case.failure),
            at_most(case.bound),
            share(&case.all),
            at_most(case.bound_all),
            cell(&case.radio_late, Unit::SHARE, 1.0),
            Cell::text(microseconds(case.total.p50_us)),
            Cell::text(microseconds(case.total.p99_9_us)),
            cell(&case.disturbance_cpus, Unit::CORES, 1.0),
        ])
    };
    let shown = || outcome.cases.iter().filter(|case| case.part == part);
    let why = shown().find_map(|case| case.skipped.as_deref());
    let heads = [
        "the paper's",
        "failed",
        "at most",
        "of all",
        "at most",
        "late, says the radio",
        "half within",
        "99.9 % within",
        "loops",
    ];
    Table {
        id: format!("{part}-failures"),
        title: "Response failure".into(),
        columns: columns("", &heads, &[]),
        rows: shown().map(row).collect(),
        note: why.map(|why| format!("Not run: {why}.")).unwrap_or_default(),
    }
}

fn microseconds(us: Option<f64>) -> String {
    us.map_or_else(|| "–".to_owned(), |us| Unit::SECONDS.show(us * 1e-6, 3))
}

/// A share's interval ends where shares do.
fn share(figure: &takt_studies::Figure) -> Cell {
    let mut shown = cell(figure, Unit::SHARE, 1.0);
    if let Some(estimate) = figure.estimate {
        shown.text = Unit::SHARE.show_reading(&Reading::share(estimate));
    }
    shown
}

fn figure_6(outcome: &Outcome) -> Vec<Figure> {
    let chart = &outcome.figure_6;
    let spot = |spot: &Spot| {
        let mut point = point(spot.x / 100.0, &spot.figure, 1.0);
        point.y = spot.figure.estimate.map(Reading::share).or(point.y);
        point
    };
    let series = chart.curves.iter().enumerate().map(|(slot, curve)| Series {
        name: timer(&curve.name),
        look: Look::Line,
        slot,
        points: curve.measured().map(spot).collect(),
    });
    let series: Vec<Series> = series.filter(|series| !series.points.is_empty()).collect();
    if series.is_empty() {
        return Vec::new();
    }
    let number = |name: &str| outcome.paper.number(name);
    let hollow = |x: f64, y: f64| Point { x, y: Some(Reading::alone(y)), rounds: Vec::new() };
    let paper = Series {
        name: "the paper's text".into(),
        look: Look::Points,
        slot: series.len(),
        points: vec![hollow(0.1, number("best")), hollow(1.0, number("priority"))],
    };
    vec![Figure {
        id: chart.id.clone(),
        finding: finding(chart),
        how_to_read: "Means over rounds with 95 % intervals; faint dots are rounds. At 100 % there is no cap.".into(),
        x: Axis::linear("cap on the disturbance", Unit::SHARE).with_ticks([0.1, 0.2, 0.4, 0.6, 0.8, 1.0]),
        y: Axis::log_and_zero("answers that failed", Unit::SHARE),
        series,
        others: vec![paper],
        references: vec![Reference::Horizontal { y: number("best"), label: "the paper's best".into() }],
        source: Source { run: outcome.of.about.run.clone(), query: format!("rounds of part {}", chart.part) },
    }]
}

fn timer(curve: &str) -> String {
    if curve == "0" { "the kernel's own timers".to_owned() } else { format!("{curve} Hz") }
}

fn finding(chart: &Chart) -> String {
    let told = chart.curves.iter().filter_map(|curve| {
        let mut spots = curve.measured();
        let tight = spots.next()?;
        let free = spots.last().unwrap_or(tight);
        let show = |spot: &Spot| Unit::SHARE.show(spot.figure.value.unwrap_or_default(), 3);
        Some(format!("{} {} without a cap, {} at {} %", timer(&curve.name), show(free), show(tight), tight.x))
    });
    format!("{}: {}", chart.title, told.collect::<Vec<_>>().join("; "))
}

fn effects(outcome: &Outcome) -> Table {
    let row = |effect: &EffectFacts| {
        let text = Unit::SHARE.show_reading(&Reading::from(effect.estimate));
        cells(vec![Cell::text(effect.measures.join(" and ")), Cell::text(text), Cell::text(effect.blocks.to_string())])
    };
    Table {
        id: "effects".into(),
        title: "Effects on the share that fails".into(),
        columns: columns("measure", &["adds", "blocks"], &[]),
        rows: outcome.effects.iter().map(row).collect(),
        note: "Below zero it helps.".into(),
    }
}

fn traces(outcome: &Outcome) -> Table {
    let row = |trace: &TraceFacts| {
        let ran = trace.ran.iter().take(4).map(turns);
        let ran = trace.hidden.clone().unwrap_or_else(|| ran.collect::<Vec<_>>().join(", "));
        let cap = if trace.cap == "none" { "none".to_owned() } else { format!("{} %", trace.cap) };
        cells(vec![
            Cell::linked(cap, anchor(trace.round_id)),
            Cell::text(format!("{:.2} ms", trace.total_ms)),
            Cell::text(format!("{:.2} ms", trace.stage_ms)),
            Cell::text(&trace.stage),
            Cell::text(&trace.waited),
            Cell::text(ran),
        ])
    };
    Table {
        id: "traces".into(),
        title: "The worst answer of each round, traced".into(),
        columns: columns(
            "cap",
            &["answer after", "longest stage"],
            &["which", "who waited", "who ran on its core meanwhile"],
        ),
        rows: outcome.traces.iter().map(row).collect(),
        note: String::new(),
    }
}

fn turns(ran: &Ran) -> String {
    match ran.times {
        1 => format!("{} {:.2} ms, of a turn of {:.2} ms", ran.name, ran.ms, ran.longest_ms),
        n => format!("{} {:.2} ms in {n} turns, the longest {:.2} ms", ran.name, ran.ms, ran.longest_ms),
    }
}

/// Of the points that say most.
fn budget(outcome: &Outcome) -> Table {
    let shown =
        |case: &&Case| matches!(case.part.as_str(), "cases" | "best" | "policies") && case.total.p50_us.is_some();
    let names = outcome.cases.first().into_iter().flat_map(|case| &case.stages).map(|stage| stage.name.as_str());
    let heads: Vec<&str> = names.chain(["total"]).collect();
    let show = |stage: &StageFacts| match (stage.p50_us, stage.p99_9_us) {
        (Some(half), Some(most)) => format!("{half:.0} / {most:.0}"),
        _ => "–".to_owned(),
    };
    let row = |case: &Case| {
        let stages = case.stages.iter().chain([&case.total]).map(|stage| Cell::text(show(stage)));
        cells(std::iter::once(Cell::text(label(case))).chain(stages).collect())
    };
    Table {
        id: "stages".into(),
        title: "Stages of an answer, µs: half within / 99.9 % within".into(),
        columns: columns("", &heads, &[]),
        rows: outcome.cases.iter().filter(shown).map(row).collect(),
        note: String::new(),
    }
}

fn blamed(outcome: &Outcome) -> Table {
    let row = |case: &Case| {
        let told: Vec<String> = case.blamed.iter().map(|(stage, times)| format!("{stage} {times}")).collect();
        cells(vec![Cell::text(format!("{}: {}", case.part, label(case))), Cell::text(told.join(", "))])
    };
    Table {
        id: "blamed".into(),
        title: "Where late answers lost most of their time".into(),
        columns: columns("", &[], &["longest stage of the worst late answers, and how often"]),
        rows: outcome.cases.iter().filter(|case| !case.blamed.is_empty()).map(row).collect(),
        note: String::new(),
    }
}
