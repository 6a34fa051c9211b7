//! The report of `takt paper linux-rt`: failures beside the paper's, what each measure buys, where the time went.

use crate::linux_rt::{Case, EffectFacts, LinuxRtOutcome, Ran, StageFacts, TraceFacts, label};
use crate::sweep::{Chart, Spot};

use crate::study::page::{self as common, alone, cell, point, source};
use takt_stats::FailureBound;

use crate::check::page::words::round;
use takt_page::{Axis, Figure, Look, Reading, Reference, Series};
use takt_page::{Cell, Column, Report, Row, Section, Table, Unit};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &LinuxRtOutcome) -> Report {
    let mut report = common::report_with(&outcome.of, &outcome.paper, &outcome.warnings);
    let claims = std::mem::replace(&mut report.verdict.headline, outcome.goal.clone());
    report.verdict.summary.insert(0, claims);
    report.sections = sections(outcome);
    report
}

fn sections(outcome: &LinuxRtOutcome) -> Vec<Section> {
    let of = |part: &str| failures(outcome, part);
    let all = [
        Section::shown("cases", "The paper's cases", CASES, Vec::new(), vec![of("cases")]),
        Section::shown("figure-6", "Figure 6: cap and timer", FIGURE_6, figure_6(outcome), vec![of("figure-6")]),
        Section::shown("timers", "The timers without a load", TIMERS, Vec::new(), vec![of("timers")]),
        Section::shown(
            "measures",
            "What each measure buys",
            MEASURES,
            Vec::new(),
            vec![effects(outcome), of("measures")],
        ),
        Section::shown("policies", "Other policies", POLICIES, Vec::new(), vec![of("policies")]),
        Section::shown("best", "All measures that help, for longer", BEST, Vec::new(), vec![of("best")]),
        Section::shown(
            "why",
            "What a cap does to ordinary processes",
            WHY,
            Vec::new(),
            vec![of("why"), traces(outcome)],
        ),
        Section::shown("budget", "Where the time goes", BUDGET, Vec::new(), vec![budget(outcome), blamed(outcome)]),
    ];
    all.into_iter().flatten().collect()
}

const CASES: &str = "An answer fails if it is ready later than 3.45 ms after the first downlink slot, or was never given. takt \
                     excludes subframes whose samples the radio sent late, and those before whose limit the hypervisor stopped \
                     a core, however they ended. \"Of all\" includes them, and the rounds that do not count. \"At most\" is the \
                     upper bound of 95 %.";
const FIGURE_6: &str = "The cap is the CPU quota of a control group for all loops together, in per cent of the cores that they \
                        may use. Only the interface has a priority. It sleeps on a timer of that frequency until the samples \
                        are due.";
const TIMERS: &str = "The cost of the ticks of Figure 6 alone: the samples are in 2.7 ms after the first downlink slot, and the \
                      sleep ends at the next tick.";
const MEASURES: &str = "Every combination of three measures under four loops a core. An effect is what a measure adds to the \
                        share that fails, over all combinations of the others. An interaction is how much more, or less, it \
                        adds together with another.";
const POLICIES: &str = "The same load without other measures.";
const BEST: &str = "Priority, slot by slot, with cores that poll, under four loops for each core of the machine, on the core \
                    that answers too. The bound counts failures in a cluster of at most 50 ms as one event.";
const WHY: &str = "Two loops a core, no priority. The kernel's traces show what ran on the core where the worst answer of each \
                   round waited longest.";
const BUDGET: &str = "Each answer passes all stages, from the intended beginning of the first downlink slot. They add up to its \
                      total.";

fn failures(outcome: &LinuxRtOutcome, part: &str) -> Table {
    let row = |case: &Case| {
        let at_most = |bound: Option<FailureBound>| known(bound, |bound| Unit::SHARE.show(bound.up_to, 2));
        let within = |us| known(us, |us: f64| Unit::SECONDS.show(us * 1e-6, 3));
        Row::plain([
            Cell::text(label(case)),
            known(case.paper, |paper| Unit::SHARE.show(paper, 3)),
            share(&case.failure),
            at_most(case.bound),
            share(&case.all),
            at_most(case.bound_all),
            cell(&case.radio_late, Unit::SHARE, 1.0),
            within(case.total.p50_us),
            within(case.total.p99_9_us),
            cell(&case.disturbance_cpus, Unit::CORES, 1.0),
        ])
    };
    let shown = || outcome.cases.iter().filter(|case| case.part == part);
    let why = shown().find_map(|case| case.skipped.as_deref());
    let shares = ["the paper's", "failed", "at most", "of all", "at most", "late by the radio"];
    let heads = [&shares[..], &["half within", "99.9 % within", "loops"]].concat();
    let columns = Column::row("", &heads, &[]);
    Table::new(format!("{part}-failures"), "Response failure", columns, shown().map(row).collect())
        .with_note(why.map(|why| format!("Not run: {why}.")).unwrap_or_default())
}

/// A dash where nothing is known.
fn known<T>(value: Option<T>, show: impl Fn(T) -> String) -> Cell {
    Cell::text(value.map_or_else(|| "–".to_owned(), show))
}

/// A share's interval ends where shares do.
fn share(figure: &crate::study::Figure) -> Cell {
    let mut shown = cell(figure, Unit::SHARE, 1.0);
    if let Some(estimate) = figure.estimate {
        shown.text = Unit::SHARE.show_reading(&Reading::share(estimate));
    }
    shown
}

fn figure_6(outcome: &LinuxRtOutcome) -> Vec<Figure> {
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
    let paper = Series {
        name: "the paper's text".into(),
        look: Look::Points,
        slot: series.len(),
        points: vec![alone(0.1, number("best")), alone(1.0, number("priority"))],
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
        source: source(&outcome.of, format!("rounds of part {}", chart.part)),
    }]
}

fn timer(curve: &str) -> String {
    if curve == "0" { "the kernel's own timers".to_owned() } else { format!("{curve} Hz") }
}

fn finding(chart: &Chart) -> String {
    let curves = chart.curves.iter().filter_map(|curve| {
        let mut spots = curve.measured();
        let tight = spots.next()?;
        let free = spots.last().unwrap_or(tight);
        let show = |spot: &Spot| Unit::SHARE.show(spot.figure.value.unwrap_or_default(), 3);
        Some(format!("{} {} without a cap, {} at {} %", timer(&curve.name), show(free), show(tight), tight.x))
    });
    format!("{}: {}", chart.title, curves.collect::<Vec<_>>().join("; "))
}

fn effects(outcome: &LinuxRtOutcome) -> Table {
    let row = |effect: &EffectFacts| {
        let text = Unit::SHARE.show_reading(&Reading::from(effect.estimate));
        Row::plain([Cell::text(effect.measures.join(" and ")), Cell::text(text), Cell::text(effect.blocks.to_string())])
    };
    let columns = Column::row("measure", &["adds", "blocks"], &[]);
    let rows = outcome.effects.iter().map(row).collect();
    Table::new("effects", "Effects on the share that fails", columns, rows).with_note("A measure below zero helps.")
}

fn traces(outcome: &LinuxRtOutcome) -> Table {
    let row = |trace: &TraceFacts| {
        let ran = trace.ran.iter().take(4).map(turns);
        let ran = trace.hidden.clone().unwrap_or_else(|| ran.collect::<Vec<_>>().join(", "));
        let cap = if trace.cap == "none" { "none".to_owned() } else { format!("{} %", trace.cap) };
        Row::plain([
            Cell::linked(cap, round(trace.round_id)),
            Cell::text(format!("{:.2} ms", trace.total_ms)),
            Cell::text(format!("{:.2} ms", trace.stage_ms)),
            Cell::text(&trace.stage),
            Cell::text(&trace.waited),
            Cell::text(ran),
        ])
    };
    let texts = ["stage", "what waited", "what ran on its core"];
    let columns = Column::row("cap", &["answer after", "longest stage"], &texts);
    let title = "The worst answer of each round, traced";
    Table::new("traces", title, columns, outcome.traces.iter().map(row).collect())
}

fn turns(ran: &Ran) -> String {
    match ran.times {
        1 => format!("{} {:.2} ms, of a turn of {:.2} ms", ran.name, ran.ms, ran.longest_ms),
        n => format!("{} {:.2} ms in {n} turns, the longest {:.2} ms", ran.name, ran.ms, ran.longest_ms),
    }
}

/// Budget of the points that say most.
fn budget(outcome: &LinuxRtOutcome) -> Table {
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
        Row::plain(std::iter::once(Cell::text(label(case))).chain(stages))
    };
    let title = "Stages of an answer, µs: half within / 99.9 % within";
    Table::new("stages", title, Column::row("", &heads, &[]), outcome.cases.iter().filter(shown).map(row).collect())
}

fn blamed(outcome: &LinuxRtOutcome) -> Table {
    let row = |case: &Case| {
        let stages: Vec<String> = case.blamed.iter().map(|(stage, times)| format!("{stage} {times}")).collect();
        Row::plain([Cell::text(format!("{}: {}", case.part, label(case))), Cell::text(stages.join(", "))])
    };
    let columns = Column::row("", &[], &["longest stage of the worst late answers, and how often it was"]);
    let rows = outcome.cases.iter().filter(|case| !case.blamed.is_empty()).map(row).collect();
    Table::new("blamed", "Where late answers lost most of their time", columns, rows)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use takt_page::{Depth, TextStyle};

    #[test]
    fn the_first_line_says_whether_the_papers_figure_is_reached() {
        let goal = "The paper's 0.00056 is not reached here: there is no bound.";
        let host = json!({ "hostname": "", "kernel": "", "cpu_model": "", "cores": 4, "memory_bytes": 0, "more": {} });
        let rounds = ["planned", "valid", "disturbed", "emulator_late", "failed", "skipped", "repeated"];
        let rounds: Value = rounds.iter().map(|name| ((*name).to_owned(), json!(0))).collect();
        let chart = json!({ "id": "", "number": "6", "title": "", "paper": "", "part": "", "x": "", "measure": "share",
            "boxes": false, "curves": [] });
        let paper = json!({ "cite": "", "setup": [], "numbers": {}, "figure": [], "claim": [] });
        let document = json!({
            "schema": 2, "study": "linux-rt", "run": "", "question": "", "started": "", "duration_s": 0.0, "depth": "quick",
            "complete": true, "takt_version": "", "host": host, "claims": [], "answer": "unknown", "rounds": rounds,
            "says": ["It says more."], "does_not_say": [], "left_out": [], "records": [], "sites": [], "paper": paper,
            "cases": [], "figure_6": chart, "effects": [], "traces": [], "goal": goal, "warnings": [],
        });
        let style = TextStyle { width: 120, colour: false, unicode: true, depth: Depth::Answer };
        let outcome: LinuxRtOutcome = serde_json::from_value(document).expect("the keys of the document are stable");
        let text = report(&outcome).to_text(&style);
        assert_eq!(text.lines().next(), Some(format!("Not known: {goal}").as_str()));
        assert!(text.contains("0 of the 0 parts of the paper's claims hold"), "{text}");
    }
}
