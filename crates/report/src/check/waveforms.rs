//! A waveform on the beat: which slot is held, and what fills it.

use takt_lab::check::{HOST, Outcome, RoundState, WaveformPoint, WaveformRound};

use super::{figures, words};
use crate::quantity::significant;
use crate::{Answer, Cell, Column, Finding, Row, Section, Table, Unit, count};

pub(super) fn section(outcome: &Outcome) -> Option<Section> {
    let section = Section {
        id: "waveform".into(),
        title: "A waveform on the beat".into(),
        lead: "Components run once a slot on one core; who ends after the slot's end has missed it. A slot is used by the host, \
               which lets the worker begin late, and by the components."
            .into(),
        drawings: Vec::new(),
        figures: figures::waveforms(outcome),
        tables: table(outcome).into_iter().collect(),
    };
    (!outcome.waveforms.is_empty()).then_some(section)
}

/// Anchor of a slot's row.
pub(super) fn anchor(p: &WaveformPoint) -> String {
    format!("waveform-{:.0}us-{}", p.slot_us, p.workers)
}

/// The line under the answer: the shortest slot that was held.
pub(super) fn finding(outcome: &Outcome) -> Option<Finding> {
    let verdict = outcome.verdict.waveform.as_ref()?;
    let point = |us: f64| outcome.waveforms.iter().find(|p| p.slot_us == us);
    let (answer, at) = match (verdict.shortest_held_us, verdict.first_failing_us) {
        (Some(us), _) => (Answer::Yes, point(us)?),
        (None, Some(us)) => (Answer::No, point(us)?),
        (None, None) => return None,
    };
    let missed: u64 = at.rounds.iter().filter(|r| r.state == RoundState::Valid).map(|r| r.misses).sum();
    let left = verdict.margin.map(|margin| format!("{} of the slot left", Unit::SHARE.show_reading(&margin.into())));
    Some(Finding {
        answer,
        subject: format!("waveform {}, slots of {}", verdict.waveform, time(at.slot_us)),
        measured: format!("{} missed in {}", count(missed), words::plural(at.counted, "round")),
        margin: left.unwrap_or_default(),
        record: Some(anchor(at)),
    })
}

/// A component, or the host.
pub(super) fn taker(who: &str) -> &str {
    if who == HOST { "late release" } else { who }
}

pub(super) fn time(us: f64) -> String {
    Unit::SECONDS.show(us * 1e-6, 3)
}

fn table(outcome: &Outcome) -> Option<Table> {
    let row = |p: &WaveformPoint| {
        let (id, rounds) = (anchor(p), format!("{}-rounds", anchor(p)));
        let counted: Vec<&WaveformRound> = p.rounds.iter().filter(|r| r.state == RoundState::Valid).collect();
        let mut cells = vec![Cell::text(time(p.slot_us))];
        if let Some(why) = &p.skipped {
            cells.push(Cell { text: format!("not run: {why}"), answer: Some(Answer::Unknown), record: None });
            cells.extend((0..4).map(|_| Cell::default()));
            return Row::Cells { id: Some(id), cells };
        }
        let (misses, slots) = (counted.iter().map(|r| r.misses).sum(), counted.iter().map(|r| r.slots).sum());
        let answer = match (slots, misses) {
            (0, _) => Answer::Unknown,
            (_, 0) => Answer::Yes,
            _ => Answer::No,
        };
        let text = format!("{} in {} slots", count(misses), count(slots));
        cells.push(Cell { answer: Some(answer), ..Cell::linked(text, &rounds) });
        let mean = |unit: Unit, f: &dyn Fn(&WaveformRound) -> Option<f64>| {
            let values: Vec<f64> = counted.iter().filter_map(|r| f(r)).collect();
            match (takt_stats::mean(&values, 0.95), values.first()) {
                (Some(e), _) => Cell::linked(unit.show_reading(&e.into()), &rounds),
                (None, Some(one)) => Cell::linked(unit.show(*one, 3), &rounds),
                (None, None) => Cell::default(),
            }
        };
        cells.push(mean(Unit::SHARE, &|r| r.used_share));
        cells.push(mean(Unit::SECONDS, &|r| Some(r.busy_p99_9_us? * 1e-6)));
        cells.push(mean(Unit::SECONDS, &|r| Some(r.lateness_p99_9_us? * 1e-6)));
        let most = counted.iter().filter_map(|r| Some((r.slowest.as_deref()?, r.slowest_us?)));
        let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
        cells.push(most.map_or_else(Cell::default, |(who, us)| Cell::text(format!("{} {}", taker(who), time(us)))));
        Row::Cells { id: Some(id), cells }
    };
    let mut columns = vec![Column::text("slot")];
    columns.extend(["missed", "of the slot in use", "work", "late release"].map(Column::number));
    columns.push(Column::text("takes most"));
    let table = Table {
        id: "all-slots".into(),
        title: "Every slot duration".into(),
        columns,
        rows: outcome.waveforms.iter().map(row).collect(),
        note:
            "In use, work and late release: what 99.9 % of slots do not exceed; means over rounds with 95 % intervals."
                .into(),
    };
    (!table.rows.is_empty()).then_some(table)
}

/// All rounds.
pub(super) fn rounds(outcome: &Outcome, first: &dyn Fn(i64, RoundState) -> Vec<Cell>) -> Table {
    let mut rows = Vec::new();
    for p in outcome.waveforms.iter().filter(|p| !p.rounds.is_empty()) {
        let title = format!("Slots of {}, {}", time(p.slot_us), words::plural(p.workers, "worker"));
        rows.push(Row::Group { id: format!("{}-rounds", anchor(p)), title });
        rows.extend(p.rounds.iter().map(|r| round(r, first)));
    }
    let mut columns = vec![Column::text("round"), Column::text("state")];
    let numbers = ["slots", "missed", "in use, %", "work, µs", "late release, µs", "latest, µs"];
    columns.extend(numbers.map(Column::number));
    columns.extend(["takes most", "misses laid to", "remark"].map(Column::text));
    Table { id: "waveform-rounds".into(), title: "Rounds of the waveform".into(), columns, rows, note: String::new() }
}

fn round(r: &WaveformRound, first: &dyn Fn(i64, RoundState) -> Vec<Cell>) -> Row {
    let mut cells = first(r.round_id, r.state);
    cells.extend([r.slots, r.misses].map(|n| Cell::text(count(n))));
    let figures = [r.used_share.map(|share| share * 100.0), r.busy_p99_9_us, r.lateness_p99_9_us, r.lateness_max_us];
    cells.extend(figures.map(|v| Cell::text(v.map_or_else(|| "–".to_owned(), |v| significant(v, 3)))));
    cells.push(Cell::text(r.slowest.as_deref().map(taker).unwrap_or_default()));
    let blamed = r.blamed.iter().map(|(who, misses)| format!("{} {}", taker(who), count(*misses)));
    cells.push(Cell::text(blamed.collect::<Vec<_>>().join(", ")));
    cells.push(Cell::text(r.why.clone().unwrap_or_default()));
    Row::Cells { id: Some(words::round(r.round_id)), cells }
}
