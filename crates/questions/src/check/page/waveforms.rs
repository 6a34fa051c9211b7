//! A waveform, slot by slot: which slot is held, and what fills it.

use crate::check::{CheckOutcome, HOST, RoundState, WaveformPoint, WaveformRound};

use super::words::time;
use super::{figures, mean, section_of, words};
use takt_page::Reading;
use takt_page::{Cell, Column, Finding, ReportAnswer, Row, Section, Table, Unit, count};

pub(super) fn section(outcome: &CheckOutcome) -> Option<Section> {
    let lead = "Components run once a slot on one core; one that ends after the slot's end has missed it. Both the host, which \
                starts the worker late, and the components use up the slot.";
    section_of("waveform", "A waveform, slot by slot", lead, figures::waveforms(outcome), [table(outcome)])
}

pub(super) fn anchor(p: &WaveformPoint) -> String {
    format!("waveform-{:.0}us-{}", p.slot_us, p.workers)
}

/// The line under the answer: the shortest slot that was held.
pub(super) fn finding(outcome: &CheckOutcome) -> Option<Finding> {
    let verdict = outcome.verdict.waveform.as_ref()?;
    let point = |us: f64| outcome.waveforms.iter().find(|p| p.slot_us == us);
    let (answer, at) = match (verdict.shortest_held_us, verdict.first_failing_us) {
        (Some(us), _) => (ReportAnswer::Yes, point(us)?),
        (None, Some(us)) => (ReportAnswer::No, point(us)?),
        (None, None) => return None,
    };
    let missed: u64 = at.rounds.iter().filter(|r| r.state == RoundState::Valid).map(|r| r.misses).sum();
    let left =
        verdict.margin.map(|margin| format!("{} of the slot left", Unit::SHARE.show_reading(&Reading::share(margin))));
    Some(Finding {
        answer,
        subject: format!("waveform {}, slots of {}", verdict.waveform, time(at.slot_us)),
        measured: format!("{} missed in {}", count(missed), words::plural(at.counted, "round")),
        margin: left.unwrap_or_default(),
        record: Some(anchor(at)),
    })
}

/// A component, or the host.
pub(crate) fn component_or_host(who: &str) -> &str {
    if who == HOST { "late release" } else { who }
}

fn table(outcome: &CheckOutcome) -> Table {
    let row = |p: &WaveformPoint| {
        let (id, rounds) = (anchor(p), format!("{}-rounds", anchor(p)));
        let counted: Vec<&WaveformRound> = p.rounds.iter().filter(|r| r.state == RoundState::Valid).collect();
        let mut cells = vec![Cell::text(time(p.slot_us))];
        if let Some(why) = &p.skipped {
            cells.push(Cell::answered(format!("not run: {why}"), ReportAnswer::Unknown));
            cells.extend((0..4).map(|_| Cell::default()));
            return Row::Cells { id: Some(id), cells };
        }
        let (misses, slots) = (counted.iter().map(|r| r.misses).sum(), counted.iter().map(|r| r.slots).sum());
        let answer = match (slots, misses) {
            (0, _) => ReportAnswer::Unknown,
            (_, 0) => ReportAnswer::Yes,
            _ => ReportAnswer::No,
        };
        let text = format!("{} in {} slots", count(misses), count(slots));
        cells.push(Cell { answer: Some(answer), ..Cell::linked(text, &rounds) });
        let mean = |unit: Unit, f: &dyn Fn(&WaveformRound) -> Option<f64>| {
            mean(unit, counted.iter().filter_map(|r| f(r)), &rounds)
        };
        cells.push(mean(Unit::SHARE, &|r| r.used_share));
        cells.push(mean(Unit::SECONDS, &|r| Some(r.busy_p99_9_us? * 1e-6)));
        cells.push(mean(Unit::SECONDS, &|r| Some(r.lateness_p99_9_us? * 1e-6)));
        let most = counted.iter().filter_map(|r| Some((r.slowest.as_deref()?, r.slowest_us?)));
        let most = most.max_by(|a, b| a.1.total_cmp(&b.1));
        cells.push(
            most.map_or_else(Cell::default, |(who, us)| Cell::text(format!("{} {}", component_or_host(who), time(us)))),
        );
        Row::Cells { id: Some(id), cells }
    };
    let columns = Column::row("slot", &["missed", "of the slot in use", "work", "late release"], &["slowest"]);
    Table::new("all-slots", "Every slot duration", columns, outcome.waveforms.iter().map(row).collect()).with_note(
        "99.9 % of slots do not exceed the values of in use, work and late release. They are means over rounds with 95 % \
         intervals.",
    )
}
