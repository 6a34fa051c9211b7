//! The packet path: datagrams a second, throughput and cost, by size.

use takt_lab::check::{Outcome, RoundState, UdpPoint};

use super::{figures, rates, words};
use crate::figure::Reading;
use crate::{Answer, Cell, Column, Row, Section, Table, Unit};

pub(super) fn section(outcome: &Outcome) -> Option<Section> {
    let section = Section {
        id: "path".into(),
        title: "Datagrams on the path".into(),
        lead: "UDP as fast as the sender can, without a radio: what the path between host and radio carries. A \
               datagram is one packet on the path; nothing is aggregated."
            .into(),
        drawings: Vec::new(),
        figures: figures::path(outcome),
        tables: [table(outcome), places(outcome)].into_iter().flatten().collect(),
    };
    (!outcome.udp.is_empty()).then_some(section)
}

/// `to the host`, `from the host`.
pub(super) fn direction(direction: &str) -> &str {
    match direction {
        "to_host" => "to the host",
        "from_host" => "from the host",
        other => other,
    }
}

/// Anchor of a size's row.
pub(super) fn anchor(p: &UdpPoint) -> String {
    format!("udp-{}-{}", p.direction, p.payload_bytes)
}

/// `64 B to the host`.
pub(super) fn name(p: &UdpPoint) -> String {
    format!("{} {}", Unit::BYTES.show(f64::from(p.payload_bytes), 4), direction(&p.direction))
}

fn places(outcome: &Outcome) -> Option<Table> {
    let counted = |p: &UdpPoint| {
        let counted = p.rounds.iter().filter(|r| r.state == RoundState::Valid);
        (name(p), format!("{}-rounds", anchor(p)), counted.map(|r| r.lost_by_place).collect())
    };
    rates::places_table("udp-places", "payload", &rates::PLACES[1..], outcome.udp.iter().map(counted))
}

fn table(outcome: &Outcome) -> Option<Table> {
    let row = |p: &UdpPoint| {
        let id = anchor(p);
        let reading = |unit: Unit, r: Option<Reading>| match r {
            Some(r) => Cell::linked(unit.show_reading(&r), format!("{id}-rounds")),
            None => Cell::default(),
        };
        let mut cells = vec![Cell::text(name(p))];
        if let Some(why) = &p.skipped {
            cells.push(Cell { text: format!("not run: {why}"), answer: Some(Answer::Unknown), record: None });
            cells.extend((0..3).map(|_| Cell::default()));
        } else {
            cells.push(reading(Unit::DATAGRAMS_PER_S, p.datagrams_per_s.map(Reading::from)));
            cells.push(reading(Unit::BITS_PER_S, p.throughput_bps.map(Reading::from)));
            cells.push(reading(Unit::SHARE, p.lost_share.map(Reading::share)));
            cells.push(reading(Unit::SECONDS, p.cpu_ns_per_datagram.and_then(|e| e.scaled(1e-9)).map(Reading::from)));
        }
        Row::Cells { id: Some(id), cells }
    };
    let table = Table {
        id: "all-sizes".into(),
        title: format!("Every size, {}", words::sizes(&outcome.udp)),
        columns: vec![
            Column::text("payload"),
            Column::number("arrived"),
            Column::number("throughput"),
            Column::number("lost"),
            Column::number("CPU a datagram, both ends"),
        ],
        rows: outcome.udp.iter().map(row).collect(),
        note: String::new(),
    };
    (!table.rows.is_empty()).then_some(table)
}
