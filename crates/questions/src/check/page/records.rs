//! Every round, as it was measured: where all numbers of the page lead back to.

use crate::check::{CheckOutcome, LostByPlace, RateRound, RoundTripRound, UdpRound, WaveformRound};
use takt_base::words::capital;
use takt_lab::store::RoundState;

use super::rates::{PLACES, Place, sum, total};
use super::{engines, path, rates, replies, waveforms, words};
use takt_page::significant;
use takt_page::{Cell, Column, ReportAnswer, Row, Table, Unit, count};

pub(super) fn tables(outcome: &CheckOutcome) -> Vec<Table> {
    let tables = [
        rate_rounds(outcome),
        engine_rounds(outcome),
        udp_rounds(outcome),
        reply_rounds(outcome),
        waveform_rounds(outcome),
    ];
    tables.into_iter().filter(|t| !t.rows.is_empty()).collect()
}

/// The rounds of each point under its heading. A point: the anchor of its row, its heading, its rounds; a round: its number,
/// state and remark.
fn table<'a, R: 'a>(
    (id, title): (&str, &str),
    (numbers, texts): (&[&str], &[&str]),
    points: impl Iterator<Item = (String, String, &'a [R])>,
    about: impl Fn(&'a R) -> (i64, RoundState, Option<&'a str>),
    figures: impl Fn(&'a R) -> Vec<Cell>,
) -> Table {
    let mut rows = Vec::new();
    for (anchor, title, rounds) in points.filter(|(.., rounds)| !rounds.is_empty()) {
        rows.push(Row::Group { id: format!("{anchor}-rounds"), title });
        rows.extend(rounds.iter().map(|r| {
            let (id, state, why) = about(r);
            let answer = (state != RoundState::Valid).then_some(ReportAnswer::Unknown);
            let mut cells = vec![Cell::text(id.to_string()), Cell { answer, ..Cell::text(words::state(state)) }];
            cells.extend(figures(r));
            cells.push(Cell::text(why.unwrap_or_default()));
            Row::Cells { id: Some(words::round(id)), cells }
        }));
    }
    let mut columns = Column::row("state", numbers, texts);
    columns.insert(0, Column::text("round"));
    columns.push(Column::text("remark"));
    Table::new(id, title, columns, rows)
}

fn rate_rounds(outcome: &CheckOutcome) -> Table {
    let numbers = [
        &["received", "lost", "sent", "lost", "O", "U", "L", "S", "D", "T", "host CPU, cores", "busiest thread"][..],
        &["machine busy", "longest pause, ms", "emulator's lag, µs"],
    ];
    let points = outcome.rates.iter().map(|p| {
        let title = capital(&words::stream(p.mode, p.format, p.rate_sps));
        (rates::anchor(p), title, p.rounds.as_slice())
    });
    table(
        ("rate-rounds", "Rounds of the rates"),
        (&numbers.concat(), &["datagrams lost, by place"]),
        points,
        |r| (r.round_id, r.state, r.why.as_deref()),
        rate_round,
    )
}

fn rate_round(r: &RateRound) -> Vec<Cell> {
    let counts = [Some(r.rx_samples), r.rx_lost_samples, Some(r.tx_samples), r.tx_lost_samples];
    let mut cells = Vec::from(counts.map(known));
    cells.extend(["O", "U", "L", "S", "D", "T"].map(|letter| known(r.events.get(letter).copied().unwrap_or(Some(0)))));
    cells.push(Cell::text(significant(r.cpu_host, 3)));
    let busiest = r.busiest_thread.as_ref();
    cells.push(Cell::text(
        busiest.map_or_else(dash, |(name, share)| format!("{name} {}\u{a0}%", significant(share * 100.0, 3))),
    ));
    cells.push(Cell::text(r.machine_busy_share.map_or_else(dash, |share| Unit::SHARE.show(share, 3))));
    cells.extend([r.reader_pause_max_ms, r.emulator_lag_max_us].map(optional));
    cells.push(by_place(&r.lost_by_place, &PLACES));
    cells
}

fn engine_rounds(outcome: &CheckOutcome) -> Table {
    let points = outcome.engines.iter().map(|p| (engines::anchor(p), p.engine.clone(), p.rounds.as_slice()));
    table(
        ("engine-rounds", "Rounds of the packet engines"),
        (&["block", "CPU for a million samples, ms", "samples lost"], &[]),
        points,
        |r| (r.round_id, r.state, r.why.as_deref()),
        |r| {
            let cost = r.cpu_ms_per_msample.map_or_else(dash, |ms| significant(ms, 3));
            vec![Cell::text(r.block.to_string()), Cell::text(cost), number(r.lost_samples)]
        },
    )
}

fn udp_rounds(outcome: &CheckOutcome) -> Table {
    let numbers = ["datagrams/s", "Mb/s", "sent", "lost", "ns a datagram", "jitter, µs", "50 %, µs", "99.9 %, µs"];
    table(
        ("udp-rounds", "Rounds of the packet path"),
        (&numbers, &["lost, by place"]),
        outcome.udp.iter().map(|p| (path::anchor(p), path::name(p), p.rounds.as_slice())),
        |r| (r.round_id, r.state, r.why.as_deref()),
        udp_round,
    )
}

fn udp_round(r: &UdpRound) -> Vec<Cell> {
    let rates = [significant(r.datagrams_per_s, 6), significant(r.throughput_bps * 1e-6, 4)];
    let mut cells = Vec::from(rates.map(Cell::text));
    cells.extend([r.sent_datagrams, r.lost_datagrams].map(number));
    cells.extend([r.cpu_ns_per_datagram, r.jitter_us, r.latency_p50_us, r.latency_p99_9_us].map(optional));
    cells.push(by_place(&r.lost_by_place, &PLACES[1..]));
    cells
}

fn reply_rounds(outcome: &CheckOutcome) -> Table {
    let points = outcome.round_trips.iter().map(|p| {
        let title = format!("Answers after {} at {}", words::time(p.delay_us), words::rate(p.rate_sps));
        (replies::anchor(p), title, p.rounds.as_slice())
    });
    table(
        ("answer-rounds", "Rounds of the answers"),
        (&["answers due", "late or lost", "50 %, µs", "99 %, µs", "99.9 %, µs", "slowest, µs"], &[]),
        points,
        |r| (r.round_id, r.state, r.why.as_deref()),
        reply_round,
    )
}

fn reply_round(r: &RoundTripRound) -> Vec<Cell> {
    let mut cells = Vec::from([r.answers, r.late].map(number));
    cells.extend([r.p50_us, r.p99_us, r.p99_9_us, r.max_us].map(|us| Cell::text(significant(us, 4))));
    cells
}

fn waveform_rounds(outcome: &CheckOutcome) -> Table {
    let points = outcome.waveforms.iter().map(|p| {
        let title = format!("Slots of {}, {}", words::time(p.slot_us), words::plural(p.workers, "worker"));
        (waveforms::anchor(p), title, p.rounds.as_slice())
    });
    let numbers = ["slots", "missed", "in use, %", "work, µs", "late release, µs", "latest, µs"];
    table(
        ("waveform-rounds", "Rounds of the waveform"),
        (&numbers, &["slowest", "misses caused by"]),
        points,
        |r| (r.round_id, r.state, r.why.as_deref()),
        waveform_round,
    )
}

fn waveform_round(r: &WaveformRound) -> Vec<Cell> {
    let mut cells = Vec::from([r.slots, r.misses].map(number));
    let used_percent = r.used_share.map(|share| share * 100.0);
    cells.extend([used_percent, r.busy_p99_9_us, r.lateness_p99_9_us, r.lateness_max_us].map(optional));
    cells.push(Cell::text(r.slowest.as_deref().map(waveforms::component_or_host).unwrap_or_default()));
    let blamed =
        r.blamed.iter().map(|(who, misses)| format!("{} {}", waveforms::component_or_host(who), count(*misses)));
    cells.push(Cell::text(blamed.collect::<Vec<_>>().join(", ")));
    cells
}

/// `path 0, receive buffer 36, ...`, or `0` where nothing was lost.
fn by_place(lost: &LostByPlace, places: &[Place]) -> Cell {
    if total(lost) == 0 {
        return Cell::text("0");
    }
    let parts = places.iter().map(|(name, place)| format!("{name}\u{a0}{}", sum(std::iter::once(place(lost)))));
    Cell::text(parts.collect::<Vec<_>>().join(", "))
}

/// A count, or that the radio's driver does not tell it.
fn known(n: Option<u64>) -> Cell {
    n.map_or_else(|| Cell::text("unknown"), number)
}

fn number(n: u64) -> Cell {
    Cell::text(count(n))
}

fn optional(value: Option<f64>) -> Cell {
    Cell::text(value.map_or_else(dash, |value| significant(value, 3)))
}

fn dash() -> String {
    "–".to_owned()
}
