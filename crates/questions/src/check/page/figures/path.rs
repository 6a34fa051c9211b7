//! The packet path against the size of a datagram.

use crate::check::{CheckOutcome, UdpPoint, UdpRound};

use super::{HOW_MEANS, lines, point, source};
use crate::check::page::path;
use takt_page::Unit;
use takt_page::{Axis, Figure, Reading, Series};

pub(in crate::check::page) fn path(outcome: &CheckOutcome) -> Vec<Figure> {
    let points: Vec<&UdpPoint> = outcome.udp.iter().filter(|p| !p.rounds.is_empty()).collect();
    if points.is_empty() {
        return Vec::new();
    }
    vec![datagrams(outcome, &points), cost(outcome, &points)]
}

fn series(
    points: &[&UdpPoint],
    value: impl Fn(&UdpRound) -> Option<f64>,
    estimate: impl Fn(&UdpPoint) -> Option<Reading>,
) -> Vec<Series> {
    let at = |p: &&UdpPoint| {
        let rounds = p.rounds.iter().filter_map(|r| Some((r.state, r.round_id, value(r)?)));
        point(f64::from(p.payload_bytes), estimate(p), rounds)
    };
    let of = |direction: &str| points.iter().filter(|p| p.direction == direction).map(at).collect();
    lines(["to_host", "from_host"].map(|direction| (path::direction(direction), of(direction))))
}

fn size_axis(points: &[&UdpPoint]) -> Axis {
    let mut sizes: Vec<f64> = points.iter().map(|p| f64::from(p.payload_bytes)).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    Axis::log("payload of a datagram", Unit::BYTES).with_ticks(sizes)
}

fn datagrams(outcome: &CheckOutcome, points: &[&UdpPoint]) -> Figure {
    let reading = |p: &UdpPoint| p.datagrams_per_s.map(Reading::from);
    Figure {
        id: "datagrams".into(),
        finding: size_finding("Datagrams per second", points, reading, Unit::prefixed("")),
        how_to_read: format!("{HOW_MEANS} Where the line is level, the cost depends on packets, not on bytes."),
        x: size_axis(points),
        y: Axis::linear("datagrams that arrived", Unit::prefixed("/s")),
        series: series(points, |r| Some(r.datagrams_per_s), reading),
        source: source(outcome, "datagrams that arrived a second, by round of the packet path"),
        ..Figure::default()
    }
}

fn cost(outcome: &CheckOutcome, points: &[&UdpPoint]) -> Figure {
    let reading = |p: &UdpPoint| p.cpu_ns_per_datagram.and_then(|e| e.scaled(1e-9)).map(Reading::from);
    Figure {
        id: "datagram-cost".into(),
        finding: size_finding("CPU time per datagram", points, reading, Unit::SECONDS),
        how_to_read: format!("{HOW_MEANS} This is the CPU time of both ends, including the kernel's part."),
        x: size_axis(points),
        y: Axis::linear("CPU time per datagram", Unit::SECONDS),
        series: series(points, |r| r.cpu_ns_per_datagram.map(|ns| ns * 1e-9), reading),
        source: source(outcome, "CPU time of both ends over datagrams that arrived, by round of the packet path"),
        ..Figure::default()
    }
}

/// "Datagrams per second to the host: 290 k [281, 297] at 16 B, 285 k [280, 290] at 1472 B; from the host: ...".
fn size_finding(
    what: &str,
    points: &[&UdpPoint],
    reading: impl Fn(&UdpPoint) -> Option<Reading>,
    unit: Unit,
) -> String {
    let mut parts = Vec::new();
    for direction in ["to_host", "from_host"] {
        let mine = points.iter().filter(|p| p.direction == direction);
        let mut measured: Vec<(u32, Reading)> = mine.filter_map(|p| Some((p.payload_bytes, reading(p)?))).collect();
        measured.sort_by_key(|(bytes, _)| *bytes);
        let ends = measured.first().into_iter().chain(measured.last().filter(|_| measured.len() > 1));
        let ends: Vec<String> = ends.map(|(bytes, r)| format!("{} at {bytes}\u{a0}B", unit.show_reading(r))).collect();
        if !ends.is_empty() {
            parts.push(format!("{}: {}", path::direction(direction), ends.join(", ")));
        }
    }
    if parts.is_empty() { format!("{what}, by size: no round counts") } else { format!("{what} {}", parts.join("; ")) }
}
