//! Table I and Figure 1: execution times, the paper's beside ours.

use crate::aloe::{AloeOutcome, ElsewherePoint, Errors, ExecutionPoint, ExecutionRow, Scatter};

use crate::study::page::{cell, source, step};
use takt_page::significant;
use takt_page::{Axis, Reference};
use takt_page::{Cell, Column, Figure, Row, Table, Unit, count};

pub(super) fn figures(outcome: &AloeOutcome) -> Vec<Figure> {
    outcome.execution.histograms.iter().map(|scatter| histogram(outcome, scatter)).collect()
}

fn histogram(outcome: &AloeOutcome, scatter: &Scatter) -> Figure {
    let paper = outcome.paper.execution.components.iter().find(|row| row.name == scatter.name);
    let component = paper.map(|row| row.component.clone()).unwrap_or_default();
    let time = |ns: Option<f64>| ns.map(|ns| Unit::SECONDS.show(ns * 1e-9, 3)).unwrap_or_default();
    let mean = |us: f64, of: &str| Reference::Vertical { x: us * 1e-6, label: of.to_owned() };
    Figure {
        id: format!("execution-{component}"),
        finding: format!(
            "{}: {} on average over {} executions, {} at most",
            scatter.name,
            time(scatter.mean_ns),
            count(scatter.measured),
            time(scatter.max_ns.map(|ns| ns as f64)),
        ),
        how_to_read: "Each step is a bin a twentieth wide, as high as the share of executions in it; the scale shows few as well as \
                      many. The paper draws its histograms without numbers, so the lines are its means, from Table I."
            .into(),
        x: Axis::log("execution time", Unit::SECONDS),
        y: Axis::log_and_zero("executions", Unit::SHARE),
        series: vec![step(&component, 0, &scatter.bins)],
        references: paper.iter().flat_map(|row| [mean(row.x86_us, "x86"), mean(row.arm_us, "ARM")]).collect(),
        source: source(&outcome.of, "executions of the longest runs of part execution that count"),
        ..Figure::default()
    }
}

pub(super) fn tables(outcome: &AloeOutcome) -> Vec<Table> {
    let execution = &outcome.execution;
    if execution.many_slots == 0 {
        return Vec::new();
    }
    let mean = |slots: u64| format!("here, mean of {}", count(slots));
    let (few, many) = (mean(execution.few_slots), mean(execution.many_slots));
    let rate = execution.mac_per_s.value.map(|rate| Unit::prefixed("MAC").show(rate, 3)).unwrap_or_default();
    let paper_rate = |rate: f64| Unit::prefixed("MAC").show(rate, 3);
    let rows = || execution.components.iter().chain(&execution.total);
    let numbers = [&few, &many, "paper, x86", "paper, ARM", "x86 over here"];
    let columns = Column::row("component", &numbers, &[]);
    let times = Table::new("execution-times", "Execution times", columns, rows().map(time_row).collect());
    let times = times.with_note(format!(
        "The paper gives means of {}. In the {} slots of the runs of {}, components missed {} slots.",
        outcome.paper.execution.mean_of,
        count(execution.slots),
        count(execution.many_slots),
        count(execution.misses),
    ));
    let numbers = ["here", "paper, x86", "paper, ARM", "error here", "paper's error, MAC", "paper's error, time"];
    let (title, columns) = ("The same in multiply-accumulates", Column::row("component, kMAC", &numbers, &[]));
    let metric = Table::new("execution-mac", title, columns, rows().map(metric_row).collect()).with_note(format!(
        "Time, in multiply-accumulates of the CPU: {rate} a second here, {} and {} in the paper. Errors are those of times that \
         are estimated from the paper's x86: this host's by multiply-accumulates, the ARM's by those and by clock frequency.",
        paper_rate(outcome.paper.execution.x86_mac_per_s),
        paper_rate(outcome.paper.execution.arm_mac_per_s),
    ));
    [vec![times, metric], elsewhere(outcome)].concat()
}

/// The ARM columns: times on the emulated aarch64, and by how much they are missed when they are estimated from those here.
fn elsewhere(outcome: &AloeOutcome) -> Vec<Table> {
    let (elsewhere, paper) = (&outcome.elsewhere, &outcome.paper.execution);
    if elsewhere.many_slots == 0 {
        return Vec::new();
    }
    let points = || elsewhere.components.iter().chain(&elsewhere.total);
    let rows = || points().zip(paper.components.iter().chain([&paper.total]));
    let mean = |slots: u64| format!("mean of {}", count(slots));
    let many = mean(elsewhere.many_slots);
    // A quick run has one number of slots.
    let both = elsewhere.few_slots != elsewhere.many_slots;
    let few = both.then(|| mean(elsewhere.few_slots));
    let numbers: Vec<&str> =
        few.iter().map(String::as_str).chain([&*many, "over here", "paper, ARM", "ARM over x86"]).collect();
    let columns = Column::row("component", &numbers, &[]);
    let times = rows().map(|(point, row)| there_row(point, row, both)).collect();
    let times = Table::new("aarch64-times", "Execution times on an emulated aarch64", columns, times).with_note(format!(
        "{}: user emulation of another instruction set, a slower and different kind of CPU, not an ARM machine's speed. Slots of \
         {}; in {} slots, components missed {} slots.",
        elsewhere.processor.as_deref().unwrap_or("emulated"),
        Unit::SECONDS.show(elsewhere.slot_us * 1e-6, 3),
        count(elsewhere.slots),
        count(elsewhere.misses),
    ));
    let numbers = ["by clock", "by MAC", "by instructions", "paper, by clock", "paper, by MAC"];
    let columns = Column::row("component", &numbers, &[]);
    let mut errors: Vec<Row> = rows().map(|(point, row)| error_row(&point.name, &point.error, Some(row))).collect();
    errors.push(error_row("mean of components", &elsewhere.mean_error, None));
    let rate =
        |figure: &crate::study::Figure| figure.value.map(|rate| Unit::prefixed("op").show(rate, 3)).unwrap_or_default();
    let [here, there] = &elsewhere.integer_per_s;
    let (mac_here, mac_there) = (&outcome.execution.mac_per_s, &elsewhere.mac_per_s);
    let errors = Table::new("aarch64-errors", "Errors of estimating these from here", columns, errors).with_note(format!(
        "Errors are shares of the time there. An emulated CPU has no clock frequency, so integer operations stand for it: {} a \
         second here, {} there. Multiply-accumulates: {} and {}. By instructions: counted on this kind of CPU, times what each \
         takes there.",
        rate(here),
        rate(there),
        rate(mac_here),
        rate(mac_there),
    ));
    vec![times, errors]
}

fn there_row(point: &ElsewherePoint, paper: &ExecutionRow, both: bool) -> Row {
    let few = both.then(|| cell(&point.few_ns, Unit::SECONDS, 1e-9));
    let rest = [
        cell(&point.many_ns, Unit::SECONDS, 1e-9),
        cell(&point.over_here, Unit::TIMES, 1.0),
        Cell::text(Unit::SECONDS.show(paper.arm_us * 1e-6, 4)),
        Cell::text(Unit::TIMES.show(paper.arm_us / paper.x86_us, 2)),
    ];
    Row::plain([Cell::text(&point.name)].into_iter().chain(few).chain(rest))
}

fn error_row(name: &str, error: &Errors, paper: Option<&ExecutionRow>) -> Row {
    let percent = |percent: f64| Cell::text(Unit::SHARE.show(percent / 100.0, 3));
    let theirs = |of: fn(&ExecutionRow) -> f64| paper.map_or_else(|| Cell::text("–"), |row| percent(of(row)));
    let [clock, mac, instructions] =
        [&error.clock_pct, &error.mac_pct, &error.instructions_pct].map(|figure| cell(figure, Unit::SHARE, 0.01));
    let (clock_paper, mac_paper) = (theirs(|row| row.time_error_pct), theirs(|row| row.mac_error_pct));
    Row::plain([Cell::text(name), clock, mac, instructions, clock_paper, mac_paper])
}

fn time_row(point: &ExecutionPoint) -> Row {
    let paper = |us: f64| Cell::text(Unit::SECONDS.show(us * 1e-6, 4));
    let ratio = point.many_ns.value.filter(|ns| *ns > 0.0).map(|ns| point.paper.x86_us * 1e3 / ns);
    Row::plain([
        Cell::text(&point.paper.name),
        cell(&point.few_ns, Unit::SECONDS, 1e-9),
        cell(&point.many_ns, Unit::SECONDS, 1e-9),
        paper(point.paper.x86_us),
        paper(point.paper.arm_us),
        Cell::text(ratio.map(|ratio| Unit::TIMES.show(ratio, 2)).unwrap_or_default()),
    ])
}

fn metric_row(point: &ExecutionPoint) -> Row {
    let kmac = |kmac: f64| Cell::text(significant(kmac, 4));
    let percent = |percent: f64| Cell::text(Unit::SHARE.show(percent / 100.0, 3));
    let none = || Cell::text("–");
    Row::plain([
        Cell::text(&point.paper.name),
        point.kmac.map_or_else(none, kmac),
        kmac(point.paper.x86_kmac),
        kmac(point.paper.arm_kmac),
        point.mac_error_pct.map_or_else(none, percent),
        percent(point.paper.mac_error_pct),
        percent(point.paper.time_error_pct),
    ])
}
