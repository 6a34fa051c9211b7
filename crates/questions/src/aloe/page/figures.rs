//! The figures of the paper, drawn with what was measured here.

use std::collections::BTreeMap;

use crate::aloe::{AloeOutcome, InterfacePoint, LongestPoint, OverheadPoint};

use crate::study::page::{HOW_MEANS, alone, point, source, step};
use takt_page::Unit;
use takt_page::{Axis, Figure, Look, Point, Reading, Reference, Series};

fn line(name: &str, slot: usize, mut points: Vec<Point>) -> Series {
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    Series { name: name.to_owned(), look: Look::Line, slot, points }
}

/// Platform of the packets: nodes, and workers of each.
pub(super) fn platform(of: (usize, usize)) -> String {
    match of {
        (1, 1) => "one core".to_owned(),
        (1, workers) => format!("{workers} cores"),
        (nodes, _) => format!("{nodes} nodes"),
    }
}

pub(super) fn longest(outcome: &AloeOutcome) -> Vec<Figure> {
    let series = |of: &dyn Fn(&LongestPoint) -> Point| -> Vec<Series> {
        let mut by: BTreeMap<(usize, usize), Vec<Point>> = BTreeMap::new();
        for p in &outcome.longest {
            by.entry((p.nodes, p.workers)).or_default().push(of(p));
        }
        by.into_iter().enumerate().map(|(slot, (of, points))| line(&platform(of), slot, points)).collect()
    };
    if outcome.longest.is_empty() {
        return Vec::new();
    }
    let best = outcome
        .two_over_one
        .iter()
        .filter_map(|one| one.ratio.estimate.map(Reading::from).or(one.ratio.value.map(Reading::alone)));
    let best = best.max_by(|a, b| a.point.total_cmp(&b.point));
    let finding = best.map_or_else(
        || "The longest packet a slot carries".to_owned(),
        |ratio| format!("Two cores carry {} what one does; the paper: almost double", Unit::TIMES.show_reading(&ratio)),
    );
    let figure = |id: &str, finding: String, label: &str, unit: Unit, of: &dyn Fn(&LongestPoint) -> Point| Figure {
        id: id.into(),
        finding,
        how_to_read: format!("{HOW_MEANS} A round is one search for the longest packet without a missed slot."),
        x: Axis::log("length of a slot", Unit::SECONDS),
        y: Axis::log(label, unit),
        series: series(of),
        source: source(&outcome.of, "rounds of parts longest and longest-two-nodes"),
        ..Figure::default()
    };
    let bits = Unit::prefixed("bit");
    vec![
        figure("longest-packet", finding, "longest packet", bits, &|p| point(p.slot_us * 1e-6, &p.bits, 1.0)),
        figure(
            "longest-throughput",
            "The shorter the slot, the lower the throughput, if overhead and the host's lateness count".into(),
            "throughput",
            Unit::BITS_PER_S,
            &|p| point(p.slot_us * 1e-6, &p.throughput_bps, 1.0),
        ),
    ]
}

pub(super) fn interface(outcome: &AloeOutcome) -> Vec<Figure> {
    if outcome.interface.is_empty() {
        return Vec::new();
    }
    let paper = &outcome.paper.interface;
    let of = |reader: &'static str| outcome.interface.iter().filter(move |p| p.reader == reader);
    let readers = [("same-core", "one core"), ("other-core", "core to core")];
    let series = |value: &dyn Fn(&InterfacePoint) -> Point| -> Vec<Series> {
        let all = readers.iter().enumerate();
        let all = all.map(|(slot, (reader, name))| line(name, slot, of(reader).map(value).collect()));
        all.filter(|series| !series.points.is_empty()).collect()
    };
    let bits = || Axis::log("packet", Unit::prefixed("bit"));
    let curves = readers.iter().enumerate().filter_map(|(slot, (reader, name))| {
        let at = of(reader).find(|p| p.packet_bits == paper.packet_bits)?;
        Some(step(name, slot, &at.ecdf_ns))
    });
    let curves: Vec<Series> = curves.collect();
    let at = of("same-core").find(|p| p.packet_bits == paper.packet_bits);
    let largest = at.and_then(|p| p.largest_over_mean.value).map(|times| Unit::TIMES.show(times, 2));
    let mut figures = Vec::new();
    if !curves.is_empty() {
        figures.push(Figure {
            id: "interface-distribution".into(),
            finding: format!(
                "With packets of 100 kbit the slowest interface takes {} the mean; in the paper almost {}",
                largest.unwrap_or_default(),
                Unit::TIMES.show(paper.largest_over_mean, 2)
            ),
            how_to_read: "The share of packets that were written, handed over and read by then; each further nine takes the same \
                          room."
                .into(),
            x: Axis::log("time from the first byte written to the last read", Unit::SECONDS),
            y: Axis::nines("packets read by then"),
            series: curves,
            source: source(&outcome.of, "all packets of the rounds of part interface that count"),
            ..Figure::default()
        });
    }
    figures.push(Figure {
        id: "interface-latency".into(),
        finding: "Latency of an interface, by the length of its packets".into(),
        how_to_read: format!("{HOW_MEANS} Write, hand-over and read together."),
        x: bits(),
        y: Axis::log("latency", Unit::SECONDS),
        series: series(&|p| point(p.packet_bits as f64, &p.mean_ns, 1e-9)),
        source: source(&outcome.of, "mean_ns by round of part interface"),
        ..Figure::default()
    });
    let reference = |bps: f64, label: &str| Reference::Horizontal { y: bps, label: label.to_owned() };
    figures.push(Figure {
        id: "interface-throughput".into(),
        finding: "Throughput of an interface; the paper's was between the lines".into(),
        how_to_read: format!("{HOW_MEANS} Packet bits over latency."),
        x: bits(),
        y: Axis::log("throughput", Unit::BITS_PER_S),
        series: series(&|p| point(p.packet_bits as f64, &p.throughput_bps, 1.0)),
        references: vec![
            reference(paper.x86_bps[0], "paper, x86, from"),
            reference(paper.x86_bps[1], "paper, x86, to"),
            reference(paper.arm_bps[1], "paper, ARM, to"),
        ],
        source: source(&outcome.of, "throughput_bps by round of part interface"),
        ..Figure::default()
    });
    figures
}

pub(super) fn overhead(outcome: &AloeOutcome) -> Vec<Figure> {
    let costs = &outcome.overhead;
    let paper = &outcome.paper.overhead;
    let mut figures = Vec::new();
    if let (Some(base), Some(module)) = (costs.base_ns.value, costs.module_ns.value) {
        let measured = |p: &OverheadPoint| point(p.components as f64, &p.overhead_ns, 1e-9);
        let largest = costs.points.iter().map(|p| p.components as f64).fold(1.0, f64::max);
        let places = [1.0, largest / 4.0, largest];
        let ours = |n: f64| (base + n * module) * 1e-9;
        figures.push(Figure {
            id: "overhead".into(),
            finding: format!(
                "A slot costs {} and {} for each component; the paper: {} and {}",
                Unit::SECONDS.show(base * 1e-9, 3),
                Unit::SECONDS.show(module * 1e-9, 3),
                Unit::SECONDS.show(paper.x86_base_us * 1e-6, 4),
                Unit::SECONDS.show(paper.x86_module_us * 1e-6, 3),
            ),
            how_to_read: format!("{HOW_MEANS} Hollow: the paper's model and the line fitted here."),
            x: Axis::log("components", Unit::COUNT),
            y: Axis::log("overhead of a slot", Unit::SECONDS),
            series: vec![line("measured", 0, costs.points.iter().map(measured).collect())],
            others: vec![
                line("line fitted", 1, places.map(|n| alone(n.max(1.0), ours(n.max(1.0)))).into()),
                line("paper, x86", 2, places.map(|n| alone(n, paper.x86_us(n) * 1e-6)).into()),
            ],
            source: source(&outcome.of, "overhead_ns_per_slot by round of part overhead"),
            ..Figure::default()
        });
    }
    if !costs.between.ecdf_ns.is_empty() {
        let points_ns: Vec<_> = costs.between.ecdf_ns.iter().map(|&(ns, share)| (ns.max(1.0), share)).collect();
        let mean = costs.between.mean_ns.map(|ns| Unit::SECONDS.show(ns * 1e-9, 3)).unwrap_or_default();
        figures.push(Figure {
            id: "module".into(),
            finding: format!(
                "From one component to the next it takes {mean} in the mean; the paper: {}",
                Unit::SECONDS.show(paper.x86_module_us * 1e-6, 3)
            ),
            how_to_read: "The share of all times between two components of a slot that were no longer; each further nine takes the \
                          same room."
                .into(),
            x: Axis::log("time between two components", Unit::SECONDS),
            y: Axis::nines("times no longer"),
            series: vec![step("between two components", 0, &points_ns)],
            references: vec![Reference::Vertical { x: paper.x86_module_us * 1e-6, label: "paper's mean, x86".into() }],
            source: source(&outcome.of, "traces of the rounds of part overhead that count"),
            ..Figure::default()
        });
    }
    figures.extend(relative(outcome));
    figures
}

fn relative(outcome: &AloeOutcome) -> Option<Figure> {
    let costs = &outcome.overhead;
    let mut by: BTreeMap<usize, [Vec<Point>; 2]> = BTreeMap::new();
    for one in &costs.relative {
        let [ours, theirs] = by.entry(one.components).or_default();
        ours.push(alone(one.slot_us * 1e-6, one.share));
        theirs.push(alone(one.slot_us * 1e-6, one.paper_share));
    }
    let (_, [first, _]) = by.first_key_value()?;
    let mut measured: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
    for one in &costs.beat {
        measured.entry(one.components).or_default().push(point(one.slot_us * 1e-6, &one.share, 1.0));
    }
    let shortest = first.iter().map(|p| p.x).fold(f64::INFINITY, f64::min);
    let at = |paper: bool| {
        let all = costs.relative.iter().filter(|one| one.slot_us * 1e-6 <= shortest * 1.001);
        all.map(|one| if paper { one.paper_share } else { one.share }).fold(0.0, f64::max)
    };
    Some(Figure {
        id: "relative-overhead".into(),
        finding: format!(
            "At slots of {} the overhead is at most {} here; by the paper's model {}",
            Unit::SECONDS.show(shortest, 2),
            Unit::SHARE.show(at(false), 2),
            Unit::SHARE.show(at(true), 2)
        ),
        how_to_read:
            "Overhead over the slot. Filled: measured slot by slot. Hollow: by the line fitted here, and by the paper's \
                      model; above 100 % nothing is left for the waveform."
                .into(),
        x: Axis::log("length of a slot", Unit::SECONDS),
        y: Axis::log("share of the slot", Unit::SHARE),
        series: measured
            .into_iter()
            .enumerate()
            .map(|(slot, (n, points))| line(&format!("measured, {n} components"), slot, points))
            .collect(),
        others: by
            .into_iter()
            .filter(|(n, _)| matches!(n, 1 | 50))
            .flat_map(|(n, [ours, theirs])| {
                let slot = if n == 1 { 3 } else { 4 };
                [line(&format!("line, {n}"), slot, ours), line(&format!("paper's model, {n}"), slot + 1, theirs)]
            })
            .collect(),
        references: vec![Reference::Horizontal { y: 1.0, label: "the whole slot".into() }],
        source: source(&outcome.of, "overhead_ns_per_slot over slot_ns by round of part beat"),
    })
}
