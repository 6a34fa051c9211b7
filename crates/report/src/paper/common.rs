//! What the reports of all studies are made of.

use takt_lab::check::RoundState;
use takt_lab::paper::{Claim, Figure, RoundRecord};

use crate::figure::{Dot, Point, Reading};
use crate::quantity::significant;
use crate::{Answer, Cell, Column, Finding, Row, Section, Table, Unit};

/// A figure with its interval, leading to its first round.
pub(super) fn cell(figure: &Figure, unit: Unit, factor: f64) -> Cell {
    let figure = figure.scaled(factor);
    let text = match (figure.estimate, figure.value) {
        (Some(estimate), _) => unit.show_reading(&Reading::from(estimate)),
        (None, Some(value)) => unit.show(value, 3),
        (None, None) => return Cell::text("–"),
    };
    match figure.rounds.first() {
        Some(round) => Cell::linked(text, anchor(round.round_id)),
        None => Cell::text(text),
    }
}

pub(super) fn columns(first: &str, numbers: &[&str], text: &[&str]) -> Vec<Column> {
    let mut columns = vec![Column::text(first)];
    columns.extend(numbers.iter().map(|head| Column::number(*head)));
    columns.extend(text.iter().map(|head| Column::text(*head)));
    columns
}

pub(super) fn cells(cells: Vec<Cell>) -> Row {
    Row::Cells { id: None, cells }
}

/// Nothing where there is nothing to show.
pub(super) fn section(
    id: &str,
    title: &str,
    lead: &str,
    figures: Vec<crate::Figure>,
    tables: Vec<crate::Table>,
) -> Option<Section> {
    let empty = figures.is_empty() && tables.iter().all(|table| table.rows.is_empty());
    let section = Section { id: id.into(), title: title.into(), lead: lead.into(), figures, tables };
    (!empty).then_some(section)
}

/// A claim of the paper as a line under the answer.
pub(super) fn claim(claim: &Claim) -> Finding {
    Finding {
        answer: claim.answer.into(),
        subject: format!("({}) {}", claim.number, claim.claim),
        measured: claim.seen.clone(),
        margin: String::new(),
        record: None,
    }
}

/// A figure of the study as a point of a drawing, in another unit.
pub(super) fn point(x: f64, figure: &Figure, factor: f64) -> Point {
    let figure = figure.scaled(factor);
    Point {
        x,
        y: figure.estimate.map(Reading::from).or(figure.value.map(Reading::alone)),
        rounds: figure
            .rounds
            .iter()
            .map(|r| Dot { y: r.value, counts: r.counts, record: Some(anchor(r.round_id)) })
            .collect(),
    }
}

pub(super) fn anchor(round: i64) -> String {
    format!("round-{round}")
}

/// Every round.
pub(super) fn records(rounds: &[RoundRecord]) -> Option<Table> {
    let row = |r: &RoundRecord| {
        let word = match r.state {
            RoundState::Valid => "counts",
            RoundState::Disturbed => "disturbed",
            RoundState::EmulatorLate => "emulator late",
            RoundState::Failed => "could not be run",
            RoundState::Skipped => "not run",
        };
        let answer = (r.state != RoundState::Valid).then_some(Answer::Unknown);
        let figures: Vec<String> =
            r.figures.iter().map(|(name, value)| format!("{name}\u{a0}{}", significant(*value, 4))).collect();
        Row::Cells {
            id: Some(anchor(r.round_id)),
            cells: vec![
                Cell::text(r.round_id.to_string()),
                Cell::text(&r.point),
                Cell { text: word.to_owned(), answer, record: None },
                Cell::text(figures.join(", ")),
                Cell::text(r.why.clone().unwrap_or_default()),
            ],
        }
    };
    (!rounds.is_empty()).then(|| Table {
        id: "rounds".into(),
        title: "Rounds".into(),
        columns: ["round", "point", "state", "figures", "remark"].map(Column::text).into(),
        rows: rounds.iter().map(row).collect(),
        note: String::new(),
    })
}
