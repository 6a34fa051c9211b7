//! Every round, as it was measured: where all numbers of the page lead back to.

use takt_base::words::capital;
use takt_lab::check::{LostByPlace, Outcome, RateRound, RoundTripRound, UdpRound};
use takt_lab::store::RoundState;

use super::rates::{PLACES, Place, sum, total};
use super::{path, rates, replies, waveforms, words};
use crate::quantity::significant;
use crate::{Answer, Cell, Column, Row, Table, Unit, count};

pub(super) fn tables(outcome: &Outcome) -> Vec<Table> {
    let tables = [rate_rounds(outcome), udp_rounds(outcome), reply_rounds(outcome), waveforms::rounds(outcome, &first)];
    tables.into_iter().filter(|t| !t.rows.is_empty()).collect()
}

fn rate_rounds(outcome: &Outcome) -> Table {
    let mut rows = Vec::new();
    for p in outcome.rates.iter().filter(|p| !p.rounds.is_empty()) {
        let title = capital(&words::stream(p.mode, p.format, p.rate_sps));
        rows.push(Row::Group { id: format!("{}-rounds", rates::anchor(p)), title });
        rows.extend(p.rounds.iter().map(rate_round));
    }
    let mut columns = vec![Column::text("round"), Column::text("state")];
    let numbers =
        ["received", "lost", "sent", "lost", "O", "U", "L", "S", "D", "T", "host CPU, cores", "busiest thread"];
    columns.extend(numbers.map(Column::number));
    columns.extend(["machine busy", "longest pause, ms", "emulator's lag, µs"].map(Column::number));
    columns.extend([Column::text("datagrams lost, by place"), Column::text("remark")]);
    Table { id: "rate-rounds".into(), title: "Rounds of the rates".into(), columns, rows, note: String::new() }
}

fn rate_round(r: &RateRound) -> Row {
    let mut cells = first(r.round_id, r.state);
    cells.extend([r.rx_samples, r.rx_lost_samples, r.tx_samples, r.tx_lost_samples].map(|n| Cell::text(count(n))));
    cells.extend(["O", "U", "L", "S", "D", "T"].map(|l| Cell::text(count(r.events.get(l).copied().unwrap_or(0)))));
    cells.push(Cell::text(significant(r.cpu_host, 3)));
    let busiest = r.busiest_thread.as_ref();
    cells.push(Cell::text(
        busiest.map_or_else(dash, |(name, share)| format!("{name} {}\u{a0}%", significant(share * 100.0, 3))),
    ));
    cells.push(Cell::text(r.machine_busy_share.map_or_else(dash, |share| Unit::SHARE.show(share, 3))));
    let times = [r.reader_pause_max_ms, r.emulator_lag_max_us];
    cells.extend(times.map(|v| Cell::text(v.map_or_else(dash, |v| significant(v, 3)))));
    cells.push(by_place(&r.lost_by_place, &PLACES));
    cells.push(Cell::text(r.why.clone().unwrap_or_default()));
    Row::Cells { id: Some(words::round(r.round_id)), cells }
}

fn udp_rounds(outcome: &Outcome) -> Table {
    let mut rows = Vec::new();
    for p in outcome.udp.iter().filter(|p| !p.rounds.is_empty()) {
        rows.push(Row::Group { id: format!("{}-rounds", path::anchor(p)), title: path::name(p) });
        rows.extend(p.rounds.iter().map(udp_round));
    }
    let mut columns = vec![Column::text("round"), Column::text("state")];
    let numbers = ["datagrams/s", "Mb/s", "sent", "lost", "ns a datagram", "jitter, µs", "50 %, µs", "99.9 %, µs"];
    columns.extend(numbers.map(Column::number));
    columns.extend([Column::text("lost, by place"), Column::text("remark")]);
    Table { id: "udp-rounds".into(), title: "Rounds of the packet path".into(), columns, rows, note: String::new() }
}

fn udp_round(r: &UdpRound) -> Row {
    let mut cells = first(r.round_id, r.state);
    cells.push(Cell::text(significant(r.datagrams_per_s, 6)));
    cells.push(Cell::text(significant(r.throughput_bps * 1e-6, 4)));
    cells.extend([r.sent_datagrams, r.lost_datagrams].map(|n| Cell::text(count(n))));
    let optional = [r.cpu_ns_per_datagram, r.jitter_us, r.latency_p50_us, r.latency_p99_9_us];
    cells.extend(optional.map(|v| Cell::text(v.map_or_else(dash, |v| significant(v, 3)))));
    cells.push(by_place(&r.lost_by_place, &PLACES[1..]));
    cells.push(Cell::text(r.why.clone().unwrap_or_default()));
    Row::Cells { id: Some(words::round(r.round_id)), cells }
}

fn reply_rounds(outcome: &Outcome) -> Table {
    let mut rows = Vec::new();
    for p in outcome.round_trips.iter().filter(|p| !p.rounds.is_empty()) {
        let title = format!("Answers after {} at {}", replies::time(p.delay_us), words::rate(p.rate_sps));
        rows.push(Row::Group { id: format!("{}-rounds", replies::anchor(p)), title });
        rows.extend(p.rounds.iter().map(reply_round));
    }
    let mut columns = vec![Column::text("round"), Column::text("state")];
    columns.extend(
        ["answers due", "late or lost", "50 %, µs", "99 %, µs", "99.9 %, µs", "slowest, µs"].map(Column::number),
    );
    columns.push(Column::text("remark"));
    Table { id: "answer-rounds".into(), title: "Rounds of the answers".into(), columns, rows, note: String::new() }
}

fn reply_round(r: &RoundTripRound) -> Row {
    let mut cells = first(r.round_id, r.state);
    cells.extend([r.answers, r.late].map(|n| Cell::text(count(n))));
    cells.extend([r.p50_us, r.p99_us, r.p99_9_us, r.max_us].map(|us| Cell::text(significant(us, 4))));
    cells.push(Cell::text(r.why.clone().unwrap_or_default()));
    Row::Cells { id: Some(words::round(r.round_id)), cells }
}

/// Number and state.
fn first(id: i64, state: RoundState) -> Vec<Cell> {
    let answer = if state == RoundState::Valid { None } else { Some(Answer::Unknown) };
    vec![Cell::text(id.to_string()), Cell { text: words::state(state).to_owned(), answer, record: None }]
}

/// `path 0, receive buffer 36, ...`, or `0` where nothing was lost.
fn by_place(lost: &LostByPlace, places: &[Place]) -> Cell {
    if total(lost) == 0 {
        return Cell::text("0");
    }
    let parts = places.iter().map(|(name, place)| format!("{name}\u{a0}{}", sum(std::iter::once(place(lost)))));
    Cell::text(parts.collect::<Vec<_>>().join(", "))
}

fn dash() -> String {
    "–".to_owned()
}
