//! Samples against rate: lost, arrived, and what they cost.

use crate::check::{CheckOutcome, Format, Mode, RatePoint, RateRound};
use takt_base::words::list;

use super::{HOW_MEANS, lines, point, source};
use crate::check::page::words;
use takt_page::Unit;
use takt_page::{Axis, Figure, Reading, Reference, Series};

/// Lost samples, delivered samples and CPU against rate, for each format that was measured at two rates or more: a lone
/// point is in the tables.
pub(in crate::check::page) fn rates(outcome: &CheckOutcome) -> Vec<Figure> {
    let mut figures = Vec::new();
    for format in [Format::Sc16, Format::Sc8] {
        let points: Vec<&RatePoint> =
            outcome.rates.iter().filter(|p| p.format == format && !p.rounds.is_empty()).collect();
        if points.iter().all(|p| p.rate_sps == points[0].rate_sps) {
            continue;
        }
        figures.extend([lost, delivered, cpu, busiest].map(|figure| figure(outcome, format, &points)));
    }
    figures
}

#[derive(Clone, Copy)]
struct Stream {
    name: &'static str,
    mode: Mode,
    receives: bool,
}

/// The four, always in the same colours.
const STREAMS: [Stream; 4] = [
    Stream { name: "receive", mode: Mode::Rx, receives: true },
    Stream { name: "transmit", mode: Mode::Tx, receives: false },
    Stream { name: "duplex, receive", mode: Mode::Duplex, receives: true },
    Stream { name: "duplex, transmit", mode: Mode::Duplex, receives: false },
];

impl Stream {
    fn lost_of_round(self, r: &RateRound) -> Option<f64> {
        if self.receives { r.rx_lost_share } else { r.tx_lost_share }
    }

    fn lost_of_point(self, p: &RatePoint) -> Option<Reading> {
        if self.receives { p.rx_lost_share } else { p.tx_lost_share }.map(Reading::share)
    }
}

/// One series a stream, of `value` of each round and `estimate` of each point.
fn stream_series(
    points: &[&RatePoint],
    value: impl Fn(Stream, &RatePoint, &RateRound) -> Option<f64>,
    estimate: impl Fn(Stream, &RatePoint) -> Option<Reading>,
) -> Vec<Series> {
    lines(STREAMS.map(|stream| {
        let at = |p: &&RatePoint| {
            let rounds = p.rounds.iter().filter_map(|r| Some((r.state, r.round_id, value(stream, p, r)?)));
            point(p.rate_sps, estimate(stream, p), rounds)
        };
        (stream.name, points.iter().filter(|p| p.mode == stream.mode).map(at).collect())
    }))
}

fn mode_series(
    points: &[&RatePoint],
    value: impl Fn(&RateRound) -> Option<f64>,
    estimate: impl Fn(&RatePoint) -> Option<Reading>,
) -> Vec<Series> {
    let at = |p: &&RatePoint| {
        point(p.rate_sps, estimate(p), p.rounds.iter().filter_map(|r| Some((r.state, r.round_id, value(r)?))))
    };
    let of = |mode: Mode| points.iter().filter(|p| p.mode == mode).map(at).collect();
    lines([Mode::Rx, Mode::Tx, Mode::Duplex].map(|mode| (words::mode(mode), of(mode))))
}

fn rate_axis() -> Axis {
    Axis::linear("rate, each direction", Unit::SAMPLES_PER_S)
}

fn lost(outcome: &CheckOutcome, format: Format, points: &[&RatePoint]) -> Figure {
    Figure {
        id: format!("lost-{}", format.name()),
        finding: lost_finding(format, points),
        how_to_read: format!("{HOW_MEANS} Zero has a place of its own, below the break."),
        x: rate_axis(),
        y: Axis::log_and_zero("share of samples lost", Unit::SHARE),
        series: stream_series(points, |s, _, r| s.lost_of_round(r), Stream::lost_of_point),
        source: source(outcome, "lost samples over all samples due, by rate round"),
        ..Figure::default()
    }
}

/// "sc16: receive and transmit are clean up to 25 MS/s; duplex is not clean from 20 MS/s on (0.03 % lost)".
fn lost_finding(format: Format, points: &[&RatePoint]) -> String {
    let (mut clean, mut parts) = (Vec::new(), Vec::new());
    let mut top = 0.0_f64;
    for mode in [Mode::Rx, Mode::Tx, Mode::Duplex] {
        let counted = || points.iter().filter(|p| p.mode == mode && p.counted > 0);
        let unclean = counted().filter(|p| p.clean < p.counted).min_by(|a, b| a.rate_sps.total_cmp(&b.rate_sps));
        if let Some(p) = unclean {
            let lost = [p.rx_lost_share, p.tx_lost_share].into_iter().flatten().map(|e| e.point()).fold(0.0, f64::max);
            let lost = if lost > 0.0 { format!(" ({} lost)", Unit::SHARE.show(lost, 2)) } else { String::new() };
            parts.push(format!("{} is not clean from {} on{lost}", words::mode(mode), words::rate(p.rate_sps)));
        } else if counted().next().is_some() {
            clean.push(words::mode(mode).to_owned());
            top = counted().map(|p| p.rate_sps).fold(top, f64::max);
        }
    }
    if !clean.is_empty() {
        let are = if clean.len() > 1 { "are" } else { "is" };
        parts.insert(0, format!("{} {are} clean up to {}", list(&clean), words::rate(top)));
    }
    let text = if parts.is_empty() { "no round counts".to_owned() } else { parts.join("; ") };
    format!("{}: {text}", format.name())
}

fn delivered(outcome: &CheckOutcome, format: Format, points: &[&RatePoint]) -> Figure {
    Figure {
        id: format!("delivered-{}", format.name()),
        finding: top_finding(format, points, "share that arrived", arrived),
        how_to_read: format!("{HOW_MEANS} On the dashed line everything arrives."),
        x: rate_axis(),
        y: Axis::linear("samples that arrived", Unit::SAMPLES_PER_S),
        series: stream_series(
            points,
            |s, p, r| Some(p.rate_sps * (1.0 - s.lost_of_round(r)?)),
            |s, p| s.lost_of_point(p)?.map(|lost| p.rate_sps * (1.0 - lost)),
        ),
        references: vec![Reference::Proportional { slope: 1.0, label: "all that was sent".into() }],
        source: source(outcome, "rate times the share that was not lost, by rate round"),
        ..Figure::default()
    }
}

fn cpu(outcome: &CheckOutcome, format: Format, points: &[&RatePoint]) -> Figure {
    Figure {
        id: format!("cpu-{}", format.name()),
        finding: top_finding(format, points, "cores kept busy", |p| {
            Some(Unit::COUNT.show_reading(&p.cpu_host?.into()))
        }),
        how_to_read: format!(
            "{HOW_MEANS} This is the time of all threads of the host side, including their system calls."
        ),
        x: rate_axis(),
        y: Axis::linear("CPU of the host side", Unit::CORES),
        series: mode_series(points, |r| Some(r.cpu_host), |p| p.cpu_host.map(Reading::from)),
        source: source(outcome, "CPU seconds of the host side a second, by rate round"),
        ..Figure::default()
    }
}

fn busiest(outcome: &CheckOutcome, format: Format, points: &[&RatePoint]) -> Figure {
    let reading = |p: &RatePoint| p.busiest_thread.map(Reading::from);
    Figure {
        id: format!("busiest-{}", format.name()),
        finding: top_finding(format, points, "busiest thread", |p| Some(Unit::SHARE.show_reading(&reading(p)?))),
        how_to_read: format!("{HOW_MEANS} At the dashed line one thread fills its core, even if other cores are idle."),
        x: rate_axis(),
        y: Axis::linear("busiest thread, share of a core", Unit::SHARE),
        series: mode_series(points, |r| Some(r.busiest_thread.as_ref()?.1), reading),
        references: vec![Reference::Horizontal { y: 1.0, label: "a whole core".into() }],
        source: source(outcome, "busy share of the busiest thread, by rate round"),
        ..Figure::default()
    }
}

/// "sc16 at 25 MS/s, cores kept busy: receive 0.21 [0.20, 0.22], transmit 0.24 [0.23, 0.25]": at the highest rate
/// that has a value.
fn top_finding(
    format: Format,
    points: &[&RatePoint],
    what: &str,
    value: impl Fn(&RatePoint) -> Option<String>,
) -> String {
    let measured: Vec<(&RatePoint, String)> = points.iter().filter_map(|p| Some((*p, value(p)?))).collect();
    let top = measured.iter().map(|(p, _)| p.rate_sps).fold(0.0, f64::max);
    let at_top = measured.iter().filter(|(p, _)| p.rate_sps == top);
    let values: Vec<String> = at_top.map(|(p, value)| format!("{} {value}", words::mode(p.mode))).collect();
    if values.is_empty() {
        return format!("{}, {what}: no round counts", format.name());
    }
    format!("{} at {}, {what}: {}", format.name(), words::rate(top), values.join(", "))
}

/// "100 %" of what was due, or "99.7 % and 99.8 %" in duplex, receive first.
fn arrived(p: &RatePoint) -> Option<String> {
    let lost = [p.rx_lost_share, p.tx_lost_share].into_iter().flatten();
    let shares: Vec<String> = lost.map(|e| Unit::SHARE.show(1.0 - e.point().clamp(0.0, 1.0), 4)).collect();
    (!shares.is_empty()).then(|| list(&shares))
}
