//! The report of a study that is a sweep: `virtual-sdr`, `routers`. A section for each figure of the paper.

mod places;

use std::collections::BTreeMap;

use takt_lab::paper::sweep::{Chart, Measure, Outcome, SiteFacts, Spot};

use super::common::{self, cell, cells, columns, point, section};
use crate::figure::{Axis, Figure, Look, Reference, Series, Source};
use crate::{Cell, Report, Section, Table, Unit};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &Outcome) -> Report {
    let mut report = common::report_with(&outcome.of, &outcome.paper, &outcome.warnings);
    report.sections = sections(outcome);
    report
}

/// One for each number of the paper: charts that show the same figure stand side by side.
fn sections(outcome: &Outcome) -> Vec<Section> {
    let mut order: Vec<&str> = Vec::new();
    let mut by: BTreeMap<&str, Vec<&Chart>> = BTreeMap::new();
    for chart in &outcome.charts {
        if !by.contains_key(chart.number.as_str()) {
            order.push(&chart.number);
        }
        by.entry(&chart.number).or_default().push(chart);
    }
    let one = |number: &str| {
        let charts: Vec<&Chart> =
            by.get(number).into_iter().flatten().copied().filter(|chart| measured(chart)).collect();
        let first = charts.first()?;
        let title = format!("Figure {number}: {}", lower(&first.title));
        let figures = charts.iter().map(|chart| figure(outcome, chart)).collect();
        let tables = charts.iter().map(|chart| table(chart)).collect();
        section(&format!("figure-{number}"), &title, &format!("The paper's shows: {}.", first.paper), figures, tables)
    };
    let mut sections: Vec<Section> = places::section(outcome).into_iter().collect();
    sections.extend(order.into_iter().filter_map(one));
    let tables = vec![sites(&outcome.sites), places::nodes(outcome), places::ceilings(outcome), noise(outcome)];
    let lead = "Whether the path or the machine set a result, what each node on the way did, and how far two measurements of \
                the same thing differ.";
    sections.extend(section("fidelity", "Where it was measured", lead, Vec::new(), tables));
    sections
}

fn measured(chart: &Chart) -> bool {
    chart.curves.iter().any(|curve| curve.measured().next().is_some())
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    let first = letters.next().map(|letter| letter.to_lowercase().to_string()).unwrap_or_default();
    first + letters.as_str()
}

fn unit(measure: Measure) -> Unit {
    match measure {
        Measure::BitsPerS => Unit::BITS_PER_S,
        Measure::DatagramsPerS => Unit::DATAGRAMS_PER_S,
        Measure::SamplesPerS => Unit::SAMPLES_PER_S,
        Measure::Share => Unit::SHARE,
        Measure::Times => Unit::TIMES,
        Measure::Cores => Unit::CORES,
        Measure::Seconds => Unit::SECONDS,
        Measure::Count => Unit::COUNT,
    }
}

fn across(factor: &str) -> (&'static str, Unit) {
    match factor {
        "rate_sps" => ("sample rate", Unit::SAMPLES_PER_S),
        _ => ("datagram", Unit::BYTES),
    }
}

fn figure(outcome: &Outcome, chart: &Chart) -> Figure {
    let (label, x_unit) = across(&chart.x);
    let mut levels: Vec<f64> = chart.curves.iter().flat_map(|curve| curve.points.iter().map(|spot| spot.x)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let x =
        if x_unit == Unit::BYTES { Axis::log(label, x_unit).with_ticks(levels) } else { Axis::linear(label, x_unit) };
    let name = if chart.measure == Measure::Times { "over the base" } else { quantity(chart) };
    let y = match chart.measure {
        Measure::Share | Measure::Count => Axis::log_and_zero(name, unit(chart.measure)),
        Measure::BitsPerS | Measure::Seconds => Axis::log(name, unit(chart.measure)),
        _ => Axis::linear(name, unit(chart.measure)),
    };
    let look = if chart.boxes { Look::Box } else { Look::Line };
    let series = chart.curves.iter().enumerate().map(|(slot, curve)| Series {
        name: curve.name.clone(),
        look,
        slot,
        points: curve.measured().map(|spot| point(spot.x, &spot.figure, 1.0)).collect(),
    });
    let how = if chart.boxes {
        "Boxes over rounds: from a quarter to three quarters, the median across, whiskers to the ends."
    } else {
        "Means over rounds with 95 % intervals; faint dots are rounds."
    };
    Figure {
        id: chart.id.clone(),
        finding: finding(chart),
        how_to_read: how.into(),
        x,
        y,
        series: series.filter(|series| !series.points.is_empty()).collect(),
        others: Vec::new(),
        references: references(chart),
        source: Source { run: outcome.of.about.run.clone(), query: format!("rounds of part {}", chart.part) },
    }
}

fn quantity(chart: &Chart) -> &'static str {
    match chart.measure {
        Measure::BitsPerS => "throughput",
        Measure::DatagramsPerS => "datagrams",
        Measure::SamplesPerS => "samples",
        Measure::Share => "share lost",
        Measure::Times => "ratio",
        Measure::Cores => "CPU",
        Measure::Seconds => "jitter",
        Measure::Count => "count",
    }
}

/// The ends of the sweep in words.
fn finding(chart: &Chart) -> String {
    let unit = unit(chart.measure);
    let told = chart.curves.iter().filter_map(|curve| {
        let mut spots = curve.measured();
        let first = spots.next()?;
        let last = spots.last().unwrap_or(first);
        let show = |spot: &Spot| unit.show(spot.figure.value.unwrap_or_default(), 3);
        Some(format!("{} {} to {}", curve.name, show(first), show(last)))
    });
    format!("{}: {}", chart.title, told.collect::<Vec<_>>().join("; "))
}

fn references(chart: &Chart) -> Vec<Reference> {
    match chart.measure {
        Measure::Times => vec![Reference::Horizontal { y: 1.0, label: "the base".into() }],
        Measure::SamplesPerS => vec![Reference::Proportional { slope: 1.0, label: "all samples".into() }],
        _ => Vec::new(),
    }
}

fn table(chart: &Chart) -> Table {
    let (_, x_unit) = across(&chart.x);
    let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
    let mut levels: Vec<f64> = chart.curves.iter().flat_map(|curve| curve.points.iter().map(|spot| spot.x)).collect();
    levels.sort_by(f64::total_cmp);
    levels.dedup();
    let row = |x: &f64| {
        let at = |spot: &&Spot| spot.x == *x;
        let of = chart.curves.iter().map(|curve| match curve.points.iter().find(at) {
            Some(spot) if spot.figure.value.is_none() && spot.skipped.is_some() => Cell::text("not run"),
            Some(spot) => cell(&spot.figure, unit(chart.measure), 1.0),
            None => Cell::text("–"),
        });
        cells(std::iter::once(Cell::text(x_unit.show(*x, 4))).chain(of).collect())
    };
    let mut why: Vec<&str> = chart.curves.iter().flat_map(|c| &c.points).filter_map(|s| s.skipped.as_deref()).collect();
    why.dedup();
    Table {
        id: format!("{}-table", chart.id),
        title: chart.title.clone(),
        columns: columns("", &names, &[]),
        rows: levels.iter().map(row).collect(),
        note: why.first().map(|why| format!("Not run: {why}.")).unwrap_or_default(),
    }
}

fn sites(sites: &[SiteFacts]) -> Table {
    let row = |site: &SiteFacts| {
        let text = |pointer: &str| match site.in_force.pointer(pointer) {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let set_by: Vec<String> = site.set_by.iter().map(|(who, rounds)| format!("{who} {rounds}")).collect();
        cells(vec![
            Cell::text(format!("{} over {}", site.environment, site.path)),
            Cell::text(text("/placement/how")),
            Cell::text(text("/accelerator")),
            Cell::text(places::limits(site)),
            Cell::text(set_by.join(", ")),
        ])
    };
    Table {
        id: "sites".into(),
        title: "Sites".into(),
        columns: columns("site", &[], &["cores", "accelerator", "limits in force", "result set by, rounds"]),
        rows: sites.iter().map(row).collect(),
        note: "Set by the load: all that was offered arrived. By the path: its rate was reached, or it lost. By the machine: \
               a core was full, or a socket lost."
            .into(),
    }
}

fn noise(outcome: &Outcome) -> Table {
    let row = |noise: &takt_lab::paper::sweep::Noise| {
        let ratio = noise.ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}"));
        cells(vec![Cell::text(&noise.point), Cell::text(ratio), Cell::text(&noise.quantity)])
    };
    Table {
        id: "noise".into(),
        title: "The same thing, measured twice".into(),
        columns: columns("point", &["second over first"], &["of"]),
        rows: outcome.noise.iter().map(row).collect(),
        note: "One point, measured twice in each block: an A/A pair. Differences between levels that are not larger than this \
               mean nothing."
            .into(),
    }
}
