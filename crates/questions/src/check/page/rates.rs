//! Rates: what was lost at each, what it cost, how far each mode goes, what limits it.

use crate::check::{CheckOutcome, Format, HighestClean, Limit, LostByPlace, Mode, RatePoint, RoundState, StopsAt};
use takt_base::words::capital;

use super::{engines, figures, section_of, stops, words};
use takt_page::Reading;
use takt_page::significant;
use takt_page::{Cell, Column, ReportAnswer, Row, Section, Table, Unit, count};

pub(super) fn section(outcome: &CheckOutcome) -> Option<Section> {
    let lead = "A round is clean if nothing went wrong in it: no lost sample, overflow, underflow, late packet, sequence \
                error or time-out.";
    let tables = [
        highest(outcome),
        limits(outcome),
        all(outcome),
        places(outcome),
        engines::table(outcome),
        stops::table(outcome),
    ];
    section_of("rates", "Samples at every rate", lead, figures::rates(outcome), tables)
}

/// How far each way goes and what that takes, a line for each format of which a rate was judged.
pub(super) fn brief(outcome: &CheckOutcome) -> Option<Table> {
    const MODES: [Mode; 3] = [Mode::Rx, Mode::Tx, Mode::Duplex];
    let highest = &outcome.verdict.highest;
    let judged = |h: &&HighestClean| h.rate_sps.is_some() || h.first_failing_sps.is_some();
    let mut formats: Vec<Format> = highest.iter().filter(judged).map(|h| h.format).collect();
    formats.dedup();
    let row = |format: Format| {
        let of = |mode: Mode| highest.iter().find(|h| (h.mode, h.format) == (mode, format));
        let cells = MODES.map(|mode| Cell::text(of(mode).map_or_else(String::new, brief_cell)));
        Row::plain(std::iter::once(Cell::text(format.name())).chain(cells))
    };
    let head = if outcome.verdict.rests_on_stops() { "clean, except for stops, up to" } else { "clean up to" };
    let heads = std::iter::once(Column::text(head)).chain(MODES.map(|mode| Column::text(words::mode(mode))));
    let table = Table { columns: heads.collect(), rows: formats.into_iter().map(row).collect(), ..Table::default() };
    (!table.rows.is_empty()).then_some(table)
}

/// `14.29 MS/s (24 % busy)`: the highest clean rate, and its busiest thread.
fn brief_cell(h: &HighestClean) -> String {
    let Some(rate) = h.rate_sps else { return "no rate".into() };
    let busy = h.headroom.map(|headroom| format!(" ({} busy)", Unit::SHARE.show(1.0 / headroom.point(), 2)));
    format!("{}{}", words::rate(rate), busy.unwrap_or_default())
}

/// Anchor of a rate's row, where all its rounds are listed.
pub(super) fn anchor(p: &RatePoint) -> String {
    format!("rate-{}-{}-{:.0}", words::mode(p.mode), p.format.name(), p.rate_sps)
}

fn highest(outcome: &CheckOutcome) -> Table {
    let row = |h: &HighestClean| {
        let at =
            |rate: f64| outcome.rates.iter().find(|p| p.mode == h.mode && p.format == h.format && p.rate_sps == rate);
        let linked = |rate: Option<f64>, none: &str| match rate {
            Some(rate) => Cell { record: at(rate).map(anchor), ..Cell::text(words::rate(rate)) },
            None => Cell::text(none),
        };
        let next = if h.open_above { "none measured" } else { "none: this is the highest rate" };
        let confidence = match h.rate_sps {
            Some(_) => format!(
                "{} clean; at most {}\u{a0}% of rounds unclean",
                words::plural(h.counted, "round"),
                significant(h.unclean_share_upper * 100.0, 2)
            ),
            None => String::new(),
        };
        let rounds = h.rate_sps.and_then(at).map(|p| format!("{}-rounds", anchor(p)));
        let headroom = Cell {
            text: h.headroom.map(|e| Unit::TIMES.show_reading(&e.into())).unwrap_or_default(),
            record: rounds.filter(|_| h.headroom.is_some()),
            answer: None,
        };
        Row::plain([
            Cell::text(format!("{}, {}", words::mode(h.mode), h.format.name())),
            linked(h.rate_sps, "none"),
            Cell::text(confidence),
            linked(h.first_failing_sps, next),
            headroom,
        ])
    };
    let columns = vec![
        Column::text("mode"),
        Column::number("highest clean"),
        Column::text("95 % confidence"),
        Column::number("first not clean"),
        Column::number("headroom there"),
    ];
    Table::new("highest", "Highest clean rate", columns, outcome.verdict.highest.iter().map(row).collect()).with_note(
        "Headroom: a whole core, divided by what the busiest thread of the host side used at the highest clean rate.",
    )
}

fn limits(outcome: &CheckOutcome) -> Table {
    let row = |l: &Limit| {
        let same = |p: &&RatePoint| p.mode == l.mode && p.format == l.format && p.rate_sps == l.rate_sps;
        let record = outcome.rates.iter().find(same).map(anchor);
        let rate = Cell { record, ..Cell::text(words::rate(l.rate_sps)) };
        let mode = format!("{}, {}", words::mode(l.mode), l.format.name());
        Row::plain([Cell::text(mode), rate, Cell::text(words::layer(l.layer)), Cell::text(&l.evidence)])
    };
    let columns = Column::row("mode", &["seen at"], &["where", "evidence"]);
    Table::new("limits", "What limits it", columns, outcome.verdict.limits.iter().map(row).collect())
}

fn all(outcome: &CheckOutcome) -> Table {
    let fits = |p: &RatePoint| {
        let same = |at: &&StopsAt| (at.mode, at.format, at.rate_sps) == (p.mode, p.format, p.rate_sps);
        outcome.stops.iter().flat_map(|stops| &stops.at).find(same).is_none_or(StopsAt::fits)
    };
    let row = |p: &RatePoint| {
        let id = anchor(p);
        let linked =
            |text: String| Cell { record: (!text.is_empty()).then(|| format!("{id}-rounds")), ..Cell::text(text) };
        let reading = |unit: Unit, r: Option<Reading>| linked(r.map(|r| unit.show_reading(&r)).unwrap_or_default());
        let answer = match (p.counted, p.clean) {
            (0, _) => Cell { answer: Some(ReportAnswer::Unknown), ..linked("none counts".into()) },
            // Rounds that were clean since the radio stood still together with the machine are no "yes".
            (n, k) if n == k => Cell { answer: fits(p).then_some(ReportAnswer::Yes), ..linked(format!("{k} of {n}")) },
            (n, k) => Cell { answer: Some(unclean(p)), ..linked(format!("{k} of {n}")) },
        };
        let mut cells = vec![Cell::text(words::rate(p.rate_sps))];
        if let Some(why) = &p.skipped {
            cells.push(Cell::answered("not run", ReportAnswer::Unknown));
            cells.extend((0..4).map(|_| Cell::default()));
            cells.push(Cell::text(why));
        } else {
            cells.push(answer);
            cells.push(reading(Unit::SHARE, p.rx_lost_share.filter(|_| p.mode != Mode::Tx).map(Reading::share)));
            cells.push(reading(Unit::SHARE, p.tx_lost_share.filter(|_| p.mode != Mode::Rx).map(Reading::share)));
            cells.push(reading(Unit::COUNT, p.cpu_host.map(Reading::from)));
            cells.push(reading(Unit::SHARE, p.busiest_thread.map(Reading::from)));
            cells.push(linked(events(p)));
        }
        Row::Cells { id: Some(id), cells }
    };
    let mut rows = Vec::new();
    for (mode, format) in streams(outcome) {
        let title = capital(&format!("{}, {}", words::mode(mode), format.name()));
        rows.push(Row::Group { id: format!("rates-{}-{}", words::mode(mode), format.name()), title });
        let mut points: Vec<&RatePoint> =
            outcome.rates.iter().filter(|p| p.mode == mode && p.format == format).collect();
        points.sort_by(|a, b| a.rate_sps.total_cmp(&b.rate_sps));
        rows.extend(points.into_iter().map(row));
    }
    let numbers = ["lost on receive", "lost on transmit", "CPU of the host side, cores", "busiest thread"];
    let mut columns = Column::row("clean rounds", &numbers, &["events"]);
    columns.insert(0, Column::text("rate"));
    Table::new("all-rates", "Every rate", columns, rows).with_note(
        "Events of the rounds that count, by UHD's letters: O overflow, U underflow, L late, S sequence error sent, \
         D datagrams dropped, T time-out.",
    )
}

/// The modes and formats that were requested, in order.
fn streams(outcome: &CheckOutcome) -> Vec<(Mode, Format)> {
    let mut streams: Vec<(Format, Mode)> = outcome.rates.iter().map(|p| (p.format, p.mode)).collect();
    streams.sort_unstable();
    streams.dedup();
    streams.into_iter().map(|(format, mode)| (mode, format)).collect()
}

/// The answer of a rate of which not all rounds were clean: no, unless nothing was seen to go wrong.
fn unclean(p: &RatePoint) -> ReportAnswer {
    let mut unclean = p.rounds.iter().filter(|r| r.state == RoundState::Valid && !r.clean);
    if unclean.all(|r| r.not_shown.is_some()) { ReportAnswer::Unknown } else { ReportAnswer::No }
}

/// `D 260 · U 3`: letters that occurred; `none` if none did.
fn events(p: &RatePoint) -> String {
    let counted = || p.rounds.iter().filter(|r| r.state == RoundState::Valid);
    if counted().next().is_none() {
        return String::new();
    }
    let mut totals: std::collections::BTreeMap<&str, Option<u64>> = std::collections::BTreeMap::new();
    for (letter, n) in counted().flat_map(|r| &r.events) {
        let total = totals.entry(letter).or_insert(Some(0));
        *total = total.zip(*n).map(|(total, n)| total + n);
    }
    let shown = |n: &Option<u64>| n.map_or_else(|| "unknown".to_owned(), count);
    let occurred = totals.iter().filter(|(_, n)| **n != Some(0));
    let occurred: Vec<String> = occurred.map(|(letter, n)| format!("{letter}\u{a0}{}", shown(n))).collect();
    if occurred.is_empty() { "none".to_owned() } else { occurred.join(" · ") }
}

/// Places where datagrams were lost, at each rate that lost any.
fn places(outcome: &CheckOutcome) -> Table {
    let counted = |p: &RatePoint| {
        let counted = p.rounds.iter().filter(|r| r.state == RoundState::Valid);
        let name = words::stream(p.mode, p.format, p.rate_sps);
        (name, format!("{}-rounds", anchor(p)), counted.map(|r| r.lost_by_place).collect())
    };
    places_table("places", "stream", &PLACES, outcome.rates.iter().map(counted))
}

/// Losses by place: a row for each name, record and rounds that lost anything.
pub(super) fn places_table(
    id: &str,
    head: &str,
    places: &[Place],
    points: impl Iterator<Item = (String, String, Vec<LostByPlace>)>,
) -> Table {
    let row = |(name, record, rounds): (String, String, Vec<LostByPlace>)| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(places.iter().map(|(_, place)| Cell::linked(sum(rounds.iter().map(place)), &record)));
        Row::plain(cells)
    };
    let heads: Vec<&str> = places.iter().map(|(head, _)| *head).collect();
    let rows = points.filter(|(_, _, rounds)| rounds.iter().any(|l| total(l) > 0)).map(row).collect();
    Table::new(id, "Where datagrams were lost", Column::row(head, &heads, &[]), rows).with_note(
        "takt reads the counters of each place before and after each round. A dash means that takt could not read \
         them, not 0.",
    )
}

pub(super) type Place = (&'static str, fn(&LostByPlace) -> Option<u64>);

/// The places in the order a datagram passes them; the first is for traffic from a radio only.
pub(super) const PLACES: [Place; 6] = [
    ("radio", |l| l.radio),
    ("sender", |l| l.sender),
    ("path", |l| l.path),
    ("receive buffer", |l| l.receive_buffer),
    ("application", |l| l.application),
    ("not placed", |l| Some(l.unplaced)),
];

pub(super) fn total(l: &LostByPlace) -> u64 {
    PLACES.iter().filter_map(|(_, place)| place(l)).sum()
}

/// A sum with a dash where nothing could be looked at.
pub(super) fn sum(values: impl Iterator<Item = Option<u64>>) -> String {
    let known: Vec<u64> = values.flatten().collect();
    if known.is_empty() { "–".to_owned() } else { count(known.iter().sum()) }
}
