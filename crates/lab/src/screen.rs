//! Screens of `takt experiment`: the points of a run with their figures, and what changed from one run to another.

use std::collections::BTreeMap;

use crate::compare::{Compared, FigureCompared};
use crate::experiment::plain;
use crate::nodes::{NodeFigures, WayFigures};
use crate::summary::{FigureSummary, PointSummary, RoundCounts, Summary};
use serde_json::Value;
use takt_base::shown::{count, percent, significant};
use takt_base::words::{list, plural, sentence};
use takt_stats::{Contrast, Estimate};
use takt_testbed::environment::Machine;

use takt_page::Reading;
use takt_page::screen::known;
use takt_page::{Cell, Column, ReportAnswer, Row, Screen, Table, Unit};

/// Measurements of a run, point by point.
pub fn screen(summary: &Summary) -> Screen {
    let warnings = summary.points.iter().flat_map(|point| {
        let of = move |f: &FigureSummary| {
            Some(format!("{}, {}: {}", title(&point.part, &point.factors), f.name, f.warning.as_ref()?))
        };
        point.figures.iter().filter_map(of)
    });
    let noise = summary.noise.iter().map(|noise| {
        let ratio = noise.ratio.map_or_else(|| "too few rounds to tell".to_owned(), times);
        format!("measured twice: {} of {}: {ratio}", noise.quantity, noise.point)
    });
    let not_counted = summary.points.iter().flat_map(|point| {
        point.not_counted.iter().map(|why| ("not counted", format!("{}: {why}", title(&point.part, &point.factors))))
    });
    let mut table = Table::new("", "", Column::row("", &["mean", "95 % interval"], &[]), Vec::new());
    table.rows = summary.points.iter().flat_map(point).collect();
    let warnings = summary.warnings.iter().cloned().chain(noise).chain(warnings);
    Screen {
        headline: format!("{}: {}", summary.run, rounds(summary.rounds)),
        tables: vec![table],
        summary: summary.machines.iter().map(machine).chain(warnings).map(|words| sentence(&words)).collect(),
        explained: not_counted.collect(),
        ..Screen::default()
    }
}

/// `node:a is rack-7, an Intel ..., Linux 6.18.2, on cores 0, 1`
fn machine(machine: &Machine) -> String {
    let Machine { node, cores, fingerprint } = machine;
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (host, processor, kernel) = (&fingerprint.hostname, &fingerprint.cpu_model, &fingerprint.kernel);
    let cores = cores.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    format!("node:{node} is {}, {}, Linux {}, on cores {cores}", known(host), known(processor), known(kernel))
}

/// `81 rounds count, 1 is disturbed.`
fn rounds(rounds: RoundCounts) -> String {
    let RoundCounts { valid, disturbed, emulator_late, failed, skipped } = rounds;
    let others =
        [(disturbed, "disturbed"), (emulator_late, "with a late emulator"), (failed, "failed"), (skipped, "skipped")];
    let others: Vec<String> = others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    let counts = format!("{} {}", plural(valid, "round"), if valid == 1 { "counts" } else { "count" });
    if others.is_empty() { format!("{counts}.") } else { format!("{counts}; {}.", list(&others)) }
}

fn title(part: &str, factors: &BTreeMap<String, Value>) -> String {
    let levels = factors.iter().map(|(name, level)| format!(" {name}={}", plain(level)));
    format!("{part}{}", levels.collect::<String>())
}

fn point(point: &PointSummary) -> Vec<Row> {
    let name = format!("{}: {}", title(&point.part, &point.factors), plural(point.rounds, "round"));
    let figure = |figure: &FigureSummary| {
        let (name, unit, factor) = unit(figure.name);
        let cells = match (figure.mean, figure.rounds.first()) {
            (Some(mean), _) => interval(unit, mean, factor),
            (None, one) => [one.map(|one| unit.show(one * factor, 3))?, "one round has none".to_owned()],
        };
        Some(Row::plain([indented(&name)].into_iter().chain(cells).map(Cell::text)))
    };
    let group = Row::Group { id: String::new(), title: name };
    let nodes = point.nodes.iter().map(|node| Row::Group { id: String::new(), title: on_the_way(node) });
    std::iter::once(group).chain(point.figures.iter().filter_map(figure)).chain(nodes).collect()
}

/// Below its point.
fn indented(name: &str) -> String {
    format!("\u{a0}\u{a0}{name}")
}

/// Mean and interval; none where all rounds were alike.
fn interval(unit: Unit, of: Estimate, factor: f64) -> [String; 2] {
    let scaled = of.scaled(factor).unwrap_or(of);
    let text = unit.show_reading(&Reading::from(scaled));
    let (mean, interval) = text.split_once(" [").or_else(|| text.split_once("\u{a0}[")).unwrap_or((&text, ""));
    let interval = if interval.is_empty() { "all alike".to_owned() } else { format!("[{interval}") };
    [mean.to_owned(), interval]
}

/// Name of a figure in words, its unit, and the factor to that unit: a figure's name ends with its unit.
fn unit(name: &str) -> (String, Unit, f64) {
    const UNITS: [(&str, Unit, f64); 10] = [
        ("_ns", Unit::SECONDS, 1e-9),
        ("_us", Unit::SECONDS, 1e-6),
        ("_ms", Unit::SECONDS, 1e-3),
        ("_s", Unit::SECONDS, 1.0),
        ("_bps", Unit::BITS_PER_S, 1.0),
        ("_sps", Unit::SAMPLES_PER_S, 1.0),
        ("_share", Unit::SHARE, 1.0),
        ("_ratio", Unit::SHARE, 1.0),
        ("_bytes", Unit::BYTES, 1.0),
        ("_cores", Unit::CORES, 1.0),
    ];
    let words = |name: &str| name.replace("p99_9", "p99.9").replace('_', " ");
    if let Some(what) = name.strip_suffix("_per_s") {
        return (format!("{}/s", words(what)), Unit::COUNT, 1.0);
    }
    let (head, tail) =
        name.split_once("_per_").map_or((name, String::new()), |(head, of)| (head, format!(" per {of}")));
    let found = UNITS.iter().find_map(|(end, unit, factor)| Some((head.strip_suffix(end)?, *unit, *factor)));
    let (head, unit, factor) = found.unwrap_or((head, Unit::COUNT, 1.0));
    (words(&(head.to_owned() + &tail)), unit, factor)
}

/// `hardware: lost 45.5 % of 13641 to the radio (ring 6204), 9.4 % of 481 to the host (ring 45); 0.31 cores`
fn on_the_way(node: &NodeFigures) -> String {
    let way = |way: &WayFigures, to: &str| {
        let places: Vec<String> =
            way.lost.iter().map(|(place, frames)| format!("{place} {}", count(*frames))).collect();
        let places = if places.is_empty() { String::new() } else { format!(" ({})", places.join(", ")) };
        format!("{} of {} to the {to}{places}", percent(way.lost_share()), count(way.in_frames))
    };
    let cores = node.cpu_cores.map(|cores| format!("; {} cores", significant(cores, 2))).unwrap_or_default();
    let limit = node.limit_used.map(|share| format!(", {} of its limit", percent(share))).unwrap_or_default();
    let (forth, back) = (way(&node.to_radio, "radio"), way(&node.to_host, "host"));
    format!("{}: lost {forth}, {back}{cores}{limit}", node.node)
}

/// Two runs beside each other.
pub fn compared(compared: &Compared) -> Screen {
    let figures = || compared.points.iter().flat_map(|point| &point.figures);
    let changed = figures().filter(|figure| figure.changed).count();
    let mut table = Table::new("", "", Column::row("", &["A", "B", "change", "interval"], &[""]), Vec::new());
    for point in &compared.points {
        let rows: Vec<Row> = point.figures.iter().filter_map(change).collect();
        if !rows.is_empty() {
            table.rows.push(Row::Group { id: String::new(), title: title(&point.part, &point.factors) });
            table.rows.extend(rows);
        }
    }
    let only = [("only in A", &compared.only_a), ("only in B", &compared.only_b)];
    let only = only.into_iter().flat_map(|(where_, points)| points.iter().map(move |point| (where_, point.clone())));
    let differ = compared.differ.iter().map(|what| ("differs", what.clone()));
    Screen {
        answer: Some(match changed {
            _ if compared.figures == 0 => ReportAnswer::Unknown,
            0 => ReportAnswer::Yes,
            _ => ReportAnswer::No,
        }),
        headline: match changed {
            _ if compared.figures == 0 => "the two runs have no figure in common.".to_owned(),
            0 => format!("none of {} figures changed from A to B.", compared.figures),
            changed => format!("{changed} of {} figures changed from A to B.", compared.figures),
        },
        facts: vec![format!("A is {}", compared.a), format!("B is {}", compared.b)],
        tables: vec![table],
        summary: vec![
            format!(
                "All intervals hold together with {} confidence, so each is an interval of {}.",
                percent(compared.level_together),
                percent(compared.level_each)
            ),
            "Runs are not paired, so drift of the host between them counts as a change.".to_owned(),
        ],
        lines: differ.chain(only).collect(),
        ..Screen::default()
    }
}

/// A figure that both runs have, and whether it changed.
fn change(figure: &FigureCompared) -> Option<Row> {
    let (name, unit, factor) = unit(figure.name);
    let [change, within] = match figure.change? {
        Contrast::Ratio { estimate } => split(&times(estimate)),
        // Shares differ by no more than all.
        Contrast::Difference { estimate } if unit == Unit::SHARE => {
            interval(unit, estimate.within((-1.0, 1.0)).unwrap_or(estimate), factor)
        }
        Contrast::Difference { estimate } => interval(unit, estimate, factor),
    };
    let [a, b] = figure.means.map(|mean| Cell::text(known(mean, |mean| unit.show(mean * factor, 4))));
    let changed = if figure.changed { Cell::answered("changed", ReportAnswer::No) } else { Cell::default() };
    Some(Row::plain([Cell::text(indented(&name)), a, b, Cell::text(change), Cell::text(within), changed]))
}

fn split(text: &str) -> [String; 2] {
    let (point, within) = text.split_once(" [").unwrap_or((text, ""));
    [point.to_owned(), if within.is_empty() { String::new() } else { format!("[{within}") }]
}

/// A ratio: `x 1.2 [0.8, 1.8]`. An end beyond a thousand says only that nothing is known.
fn times(ratio: Estimate) -> String {
    let show = |x: f64| match x {
        x if x > 1000.0 => "over 1000".to_owned(),
        x if x > 0.0 && x < 0.001 => "below 0.001".to_owned(),
        x => significant(x, 3),
    };
    let [point, low, high] = [ratio.point(), ratio.low(), ratio.high()].map(show);
    if low == high { format!("x {point}") } else { format!("x {point} [{low}, {high}]") }
}
