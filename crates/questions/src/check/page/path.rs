//! The packet path: datagrams a second, throughput and cost, by size.

use crate::check::{CheckOutcome, RoundState, UdpPoint};

use super::{figures, rates, section_of, words};
use takt_page::Reading;
use takt_page::{Cell, Column, ReportAnswer, Row, Section, Table, Unit};

pub(super) fn section(outcome: &CheckOutcome) -> Option<Section> {
    let lead = "UDP as fast as the sender can, without a radio, shows what the path between host and radio carries. A \
                datagram is one packet on the path; nothing is aggregated.";
    section_of("path", "Datagrams on the path", lead, figures::path(outcome), [table(outcome), places(outcome)])
}

/// `to the host`, `from the host`.
pub(super) fn direction(direction: &str) -> &str {
    match direction {
        "to_host" => "to the host",
        "from_host" => "from the host",
        other => other,
    }
}

pub(super) fn anchor(p: &UdpPoint) -> String {
    format!("udp-{}-{}", p.direction, p.payload_bytes)
}

/// `64 B to the host`.
pub(super) fn name(p: &UdpPoint) -> String {
    format!("{} {}", Unit::BYTES.show(f64::from(p.payload_bytes), 4), direction(&p.direction))
}

fn places(outcome: &CheckOutcome) -> Table {
    let counted = |p: &UdpPoint| {
        let counted = p.rounds.iter().filter(|r| r.state == RoundState::Valid);
        (name(p), format!("{}-rounds", anchor(p)), counted.map(|r| r.lost_by_place).collect())
    };
    rates::places_table("udp-places", "payload", &rates::PLACES[1..], outcome.udp.iter().map(counted))
}

fn table(outcome: &CheckOutcome) -> Table {
    let row = |p: &UdpPoint| {
        let id = anchor(p);
        let reading = |unit: Unit, r: Option<Reading>| match r {
            Some(r) => Cell::linked(unit.show_reading(&r), format!("{id}-rounds")),
            None => Cell::default(),
        };
        let mut cells = vec![Cell::text(name(p))];
        if let Some(why) = &p.skipped {
            cells.push(Cell::answered(format!("not run: {why}"), ReportAnswer::Unknown));
            cells.extend((0..3).map(|_| Cell::default()));
        } else {
            cells.push(reading(Unit::DATAGRAMS_PER_S, p.datagrams_per_s.map(Reading::from)));
            cells.push(reading(Unit::BITS_PER_S, p.throughput_bps.map(Reading::from)));
            cells.push(reading(Unit::SHARE, p.lost_share.map(Reading::share)));
            cells.push(reading(Unit::SECONDS, p.cpu_ns_per_datagram.and_then(|e| e.scaled(1e-9)).map(Reading::from)));
        }
        Row::Cells { id: Some(id), cells }
    };
    let columns = Column::row("payload", &["arrived", "throughput", "lost", "CPU per datagram, both ends"], &[]);
    let title = format!("Every size, {}", words::sizes(&outcome.udp));
    Table::new("all-sizes", title, columns, outcome.udp.iter().map(row).collect())
}
