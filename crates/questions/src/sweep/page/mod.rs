//! The report of a study that is a sweep: `virtual-sdr`, `routers`, `uhd-dpdk`. A section for each figure of the paper.

mod places;

use std::collections::BTreeMap;

use crate::sweep::{Chart, Measure, Spot, SweepOutcome};

use crate::check::page::words::round;
use crate::study::page::{self as common, HOW_MEANS, point, source};
use takt_page::{Axis, Figure, Look, Point, Reading, Reference, Series};
use takt_page::{Cell, Column, Report, Row, Section, Table, Unit};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &SweepOutcome) -> Report {
    let mut report = common::report_with(&outcome.of, &outcome.paper, &outcome.warnings);
    report.sections = sections(outcome);
    report
}

/// One for each figure of the paper; its panels (`3a`, `3b`) stand side by side, as there.
fn sections(outcome: &SweepOutcome) -> Vec<Section> {
    let mut order: Vec<&str> = Vec::new();
    let mut by: BTreeMap<&str, Vec<&Chart>> = BTreeMap::new();
    for chart in outcome.charts.iter().filter(|chart| chart.is_measured()) {
        let number = chart.number.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        if !by.contains_key(number) {
            order.push(number);
        }
        by.entry(number).or_default().push(chart);
    }
    let mut sections: Vec<Section> = places::section(outcome).into_iter().collect();
    sections.extend(order.into_iter().filter_map(|number| of_paper(outcome, number, by.get(number)?)));
    sections.extend(crate::uhd_dpdk::link::page::section(outcome));
    let evidence = outcome.evidence.iter().map(table).collect();
    sections.extend(Section::shown("why", "Causes", EVIDENCE, Vec::new(), evidence));
    let tables =
        vec![places::sites(&outcome.sites), places::nodes(outcome), places::ceilings(outcome), places::noise(outcome)];
    let lead = "These tables show whether the path or the machine set a result, what each node on the way did, and how far two \
                measurements of the same point differ.";
    sections.extend(Section::shown("fidelity", "Where it was measured", lead, Vec::new(), tables));
    sections
}

const EVIDENCE: &str = "Not in the paper: causes that the same rounds show. The sentences under the answer that begin with \
                        \u{201c}why\u{201d} rest on these.";

/// `Figure 3`; of `Table 2` what it says.
fn title(number: &str) -> String {
    if number.starts_with(|first: char| first.is_ascii_digit()) {
        format!("Figure {number}")
    } else {
        number.to_owned()
    }
}

fn slug(number: &str) -> String {
    number.to_lowercase().replace(' ', "-")
}

fn of_paper(outcome: &SweepOutcome, number: &str, charts: &[&Chart]) -> Option<Section> {
    let mut shows: Vec<String> = Vec::new();
    for chart in charts {
        let panel = chart.number.trim_start_matches(number);
        let words = if panel.is_empty() { chart.paper.clone() } else { format!("({panel}) {}", chart.paper) };
        if !shows.contains(&words) {
            shows.push(words);
        }
    }
    let whose = if outcome.paper.own { "Expected" } else { "The paper's shows" };
    let lead = format!("{whose}: {}.", shows.join("; "));
    let figures = charts.iter().map(|chart| figure(outcome, chart)).collect();
    let tables = charts.iter().copied().map(table).collect();
    Section::shown(&format!("figure-{}", slug(number)), &title(number), &lead, figures, tables)
}

/// Its quantity, and the unit.
fn quantity(measure: Measure) -> (&'static str, Unit) {
    match measure {
        Measure::BitsPerS => ("throughput", Unit::BITS_PER_S),
        Measure::DatagramsPerS => ("datagrams", Unit::DATAGRAMS_PER_S),
        Measure::SamplesPerS => ("samples", Unit::SAMPLES_PER_S),
        Measure::Share => ("share lost", Unit::SHARE),
        Measure::Times => ("ratio", Unit::TIMES),
        Measure::Cores => ("CPU", Unit::CORES),
        Measure::Seconds => ("jitter", Unit::SECONDS),
        Measure::Count => ("count", Unit::COUNT),
        Measure::Decibels => ("below full scale", Unit::plain("dB")),
    }
}

fn across(factor: &str) -> (&'static str, Unit) {
    match factor {
        "rate_sps" => ("sample rate", Unit::SAMPLES_PER_S),
        "programs" => ("programs", Unit::COUNT),
        _ => ("payload of a datagram", Unit::BYTES),
    }
}

fn figure(outcome: &SweepOutcome, chart: &Chart) -> Figure {
    let (label, x_unit) = across(&chart.x);
    let x = match x_unit {
        Unit::BYTES => Axis::log(label, x_unit).with_ticks(levels(chart)),
        Unit::COUNT => Axis::linear(label, x_unit).with_ticks(levels(chart)),
        _ => Axis::linear(label, x_unit),
    };
    let (name, unit) = quantity(chart.measure);
    let name = chart.over.as_ref().map_or_else(|| name.to_owned(), |base| format!("over {base}"));
    let y = match chart.measure {
        Measure::Share | Measure::Count => Axis::log_and_zero(name, unit),
        Measure::BitsPerS | Measure::Seconds => Axis::log(name, unit),
        _ => Axis::linear(name, unit),
    };
    let look = if chart.boxes { Look::Box } else { Look::Line };
    let series = chart.curves.iter().map(|curve| Series {
        name: curve.name.clone(),
        look,
        slot: slot(outcome, &curve.name),
        points: curve.measured().map(|spot| spot_point(chart.measure, spot)).collect(),
    });
    let how = if chart.boxes {
        "Boxes over rounds: from the first to the third quartile, with the median across and whiskers to the ends."
    } else {
        HOW_MEANS
    };
    Figure {
        id: chart.id.clone(),
        finding: finding(chart),
        how_to_read: how.into(),
        x,
        y,
        series: series.filter(|series| !series.points.is_empty()).collect(),
        references: references(chart),
        source: source(&outcome.of, format!("rounds of part {}", chart.part)),
        ..Figure::default()
    }
}

/// Values of the factor that are on the x axis, ascending.
fn levels(chart: &Chart) -> Vec<f64> {
    let mut levels: Vec<f64> = chart.curves.iter().flat_map(|curve| curve.points.iter().map(|spot| spot.x)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    levels
}

/// The same environment or path has the same colour in every figure.
fn slot(outcome: &SweepOutcome, name: &str) -> usize {
    let mut names: Vec<&str> = Vec::new();
    for curve in outcome.charts.iter().flat_map(|chart| &chart.curves) {
        if !names.contains(&curve.name.as_str()) {
            names.push(&curve.name);
        }
    }
    names.iter().position(|other| *other == name).unwrap_or_default()
}

/// With an interval that ends where the quantity does: nothing here is less than nothing, nor a share more than all.
fn spot_point(measure: Measure, spot: &Spot) -> Point {
    let point = point(spot.x, &spot.figure, 1.0);
    let most = |reading: &Reading| match measure {
        Measure::Share => 1.0,
        // No more samples arrive than the radio sends, but for where their counting begins and ends.
        Measure::SamplesPerS => reading.point.max(1.05 * spot.x),
        _ => f64::INFINITY,
    };
    let within = |reading: Reading| reading.map(|value| value.clamp(0.0, most(&reading)));
    Point { y: point.y.and_then(within), ..point }
}

/// Its value and interval, leading to its first round.
pub(crate) fn cell(measure: Measure, spot: &Spot) -> Cell {
    let reading = spot_point(measure, spot).y;
    let text = reading.map_or_else(|| "–".to_owned(), |reading| in_table(measure).show_reading(&reading));
    match spot.figure.rounds.first() {
        Some(first) => Cell::linked(text, round(first.round_id)),
        None => Cell::text(text),
    }
}

/// Units that are too long for every cell of a wide table stand in its title.
pub(crate) fn in_table(measure: Measure) -> Unit {
    match measure {
        Measure::DatagramsPerS => Unit::COUNT,
        _ => quantity(measure).1,
    }
}

/// With the letter of its panel, where the paper's figure has several.
fn titled(chart: &Chart) -> String {
    let is_panel = chart.number.ends_with(|c: char| c.is_ascii_alphabetic());
    if is_panel { format!("{}. {}", chart.number, chart.title) } else { chart.title.clone() }
}

/// The ends of the sweep in words.
fn finding(chart: &Chart) -> String {
    let (_, unit) = quantity(chart.measure);
    let curves = chart.curves.iter().filter_map(|curve| {
        let mut spots = curve.measured();
        let first = spots.next()?;
        let last = spots.last().unwrap_or(first);
        let show = |spot: &Spot| unit.show(spot.figure.value.unwrap_or_default(), 3);
        Some(format!("{} {} to {}", curve.name, show(first), show(last)))
    });
    format!("{}: {}", titled(chart), curves.collect::<Vec<_>>().join("; "))
}

fn references(chart: &Chart) -> Vec<Reference> {
    match chart.measure {
        Measure::Times => chart.over.iter().map(|base| Reference::Horizontal { y: 1.0, label: base.clone() }).collect(),
        Measure::SamplesPerS if chart.x == "rate_sps" => {
            vec![Reference::Proportional { slope: 1.0, label: "all samples".into() }]
        }
        _ => Vec::new(),
    }
}

fn table(chart: &Chart) -> Table {
    let (label, x_unit) = across(&chart.x);
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    let row = |x: &f64| {
        let at = |spot: &&Spot| spot.x == *x;
        let of = chart.curves.iter().map(|curve| match curve.points.iter().find(at) {
            Some(spot) if spot.figure.value.is_none() && spot.skipped.is_some() => Cell::text("not run"),
            Some(spot) => cell(chart.measure, spot),
            None => Cell::text("–"),
        });
        Row::plain(std::iter::once(Cell::text(x_unit.show(*x, 4))).chain(of))
    };
    let mut why: Vec<&str> = chart.curves.iter().flat_map(|c| &c.points).filter_map(|s| s.skipped.as_deref()).collect();
    why.dedup();
    let rows = levels(chart).iter().map(row).collect();
    Table::new(format!("{}-table", chart.id), titled(chart), Column::row(label, &names, &[]), rows)
        .with_note(why.first().map(|why| format!("Not run: {why}.")).unwrap_or_default())
}
